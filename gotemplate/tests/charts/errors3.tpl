{{ define "deep" }}
  {{ index .Values.service.ports 7 }}{{ end }}
{{ include "deep" . }}
