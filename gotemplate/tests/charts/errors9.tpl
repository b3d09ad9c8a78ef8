{{- if .Values.a }}
x
{{- range }}
