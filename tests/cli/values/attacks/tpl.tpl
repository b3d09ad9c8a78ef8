{{ $d := dict }}{{ $_ := set $d "t" "{{ tpl .t . }}" }}
{{ tpl $d.t $d }}
