  {{- "a" -}}  
x {{- /* c */ -}} y
{{ if true -}}
   trimmed
{{- end }}
 {{- range list 1 2 }}
- {{ . }}
 {{- end }}
{{ "{{" }} {{ `raw {{ }}` }} {{ "\u00e9\n\t\x41" }} {{ 'x' }} {{ print "\"q\"" }}
{{ with "v" }}{{ . }}{{ end }}	tab
{{- with dict "a" 1 }}
{{- range $k, $v := . }} {{ $k }}{{ $v }} {{- end }}
{{- end }}
{{- $a := 1 }}{{ if true }}{{ $a = 2 }}{{ $a := 3 }}{{ $a }}{{ end }}{{ $a }}
{{ nindent 2 "a\n\nb" }}{{ indent 3 "x\ny" }}|{{ "" | nindent 2 }}|{{ "\n" | indent 2 }}|
{{ (dict "a" (dict "b" "c")).a.b }} {{ (list 1 2 3) | len | printf "%d items" }}
{{- /*
multi
line */}}
{{ . | typeOf }} {{ $ | kindOf }} {{ .Values | len | lt 3 }}
{{ template "t2" . }}{{ define "t2" }}[{{ .Release.Name }}]{{ end }}
{{ define "empty" }}{{ end }}<{{ include "empty" . }}><{{ include "empty" . | trim | default "d" }}>
{{ block "blk" .Release }}{{ .Name }}{{ end }}
{{if and (ne .Release.Name "x") (or (eq 1 1) (fail "short circuit"))}}ok{{end}}
é日本{{ "😀" | trunc 4 }}{{ "日本語" | substr 0 3 }}{{ len "日本" }}{{ "日本" | upper | quote }}
