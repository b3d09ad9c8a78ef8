1. Get the URL:
{{- if .Values.ingress.enabled }}
{{- range $host := .Values.ingress.hosts }}
  {{- range .paths }}
  http{{ if $.Values.ingress.tls }}s{{ end }}://{{ $host.host }}{{ .path }}
  {{- end }}
{{- end }}
{{- else if contains "NodePort" .Values.service.type }}
  export NODE_PORT=$(kubectl get --namespace {{ .Release.Namespace }} -o jsonpath="{.spec.ports[0].nodePort}" services {{ include "app.fullname" . }})
{{- else if contains "LoadBalancer" .Values.service.type }}
     NOTE: It may take a few minutes.
  export SERVICE_IP=$(kubectl get svc {{ include "app.fullname" . }} --template "{{"{{ range (index .status.loadBalancer.ingress 0) }}{{.}}{{ end }}"}}")
{{- else if contains "ClusterIP" .Values.service.type }}
  kubectl port-forward svc/{{ include "app.fullname" . }} 8080:{{ (index .Values.service.ports 0).port }}
{{- end }}
{{ repeat 40 "=" }}
{{ .Chart.Name | title | printf "%-20s|" }}
{{ cat "Released" .Release.Name "revision" .Release.Revision | wrap 20 }}
{{ printf "%v %v %s" .Values.replicaCount .Values.immutable .Values.nothing }}
{{ .Values.nothing }} {{ (.Values.missing | default dict).deep | default "deep" }}
{{- /* comment */ -}}
{{- $warn := list "" }}
{{- if eq .Values.image.tag "latest" }}{{ $warn = append $warn "a rolling tag" }}{{ end }}
{{- if not .Values.auth.password }}{{ $warn = append $warn "no password" }}{{ end }}
WARNINGS: {{ without $warn "" | join "; " | default "none" }}
{{ with $x := .Values.config }}{{ len $x.list }}{{ with .nested.a }}{{ .b.c }}{{ else }}none{{ end }}{{ end }}
