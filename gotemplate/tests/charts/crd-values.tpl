{{- $defaults := fromYaml (printf "a: 1\nb:\n  c: [1, 2, x]\n  d: %s\ne: null\nf: 1.5\ng: 0x1F\nh: yes\ni: '012'\nj: 012\nk: 1e3\nl: 2024-01-02\nm: ~\nn: 12:30:45\no: 1_000\n" (quote .Release.Name)) -}}
{{ toYaml $defaults }}
{{ range $k, $v := $defaults }}{{ $k }}={{ kindOf $v }}/{{ typeOf $v }}/{{ $v }} {{ end }}
merged: {{ merge (dict "b" (dict "c" "mine")) $defaults | toJson }}
over: {{ mergeOverwrite (dict "b" (dict "c" "mine" "z" 0)) $defaults | toJson }}
numbers: {{ .Values.numbers | toJson }} {{ range .Values.numbers }}{{ . }} {{ int64 . }} {{ printf "%v|%d|%.2f|%g" . (int64 .) (float64 .) (float64 .) }};{{ end }}
strings:
{{ toYaml .Values.strings | indent 2 }}
quoted: {{ range .Values.strings }}{{ . | quote }} {{ . | squote }} {{ . | toJson }} {{ end }}
types: {{ typeOf .Values }} {{ kindOf .Values.strings }} {{ typeOf .Values.strings }} {{ kindIs "slice" .Values.strings }} {{ typeIsLike "[]interface {}" .Values.strings }}
yamls: {{ fromYamlArray (toYaml .Values.strings) | len }} {{ (fromJson (toJson .Values.config)).list }} {{ fromJsonArray "[1,[2]]" }}
bad: {{ fromYaml "a: [1" }} {{ fromJson "{" }} {{ (fromYaml "\t").Error }}
