{{- define "state" }}{{ if eq .phase "Running" }}succeeded{{ else }}in progress{{ end }}{{ end -}}
provision:
  state: {{ template "state" .status }}
  replicas: {{ .status.replicas | default 1 | int }}
