{{ $text := "{{ upper }}" }}
first
{{ tpl $text . }}
