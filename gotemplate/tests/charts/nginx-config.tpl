{{- define "toCamelCase" -}}{{ . | camelcase | untitle }}{{- end -}}
{{- $proxySetHeaders := dict "X-A" "1" "X-B" "" -}}
{{- $setHeaders := dict -}}
{{- range $k, $v := $proxySetHeaders -}}{{- $setHeaders = merge $setHeaders (dict (lower $k) ($v | default "none")) -}}{{- end -}}
data:
{{- range $key, $value := merge (dict "use-gzip" true "workers" 4 "ratio" 0.5) .Values.commonLabels }}
  {{ $key }}: {{ $value | quote }}
{{- end }}
{{ toYaml $setHeaders | indent 2 }}
tcp: {{ range $k, $v := dict "8080" "ns/svc:80" "9000" "x/y:1" }}{{ $k }}={{ $v }};{{ end }}
args:
{{- define "params" -}}
- /nginx
{{- if .Values.ingress.className }}
- --ingress-class={{ .Values.ingress.className }}
{{- end }}
{{- range $key, $value := .Values.args }}
{{- /* Accept keys without values or with false as value */}}
{{- if eq ($value | quote | len) 2 }}
- --{{ $key }}
{{- else }}
- --{{ $key }}={{ $value }}
{{- end }}
{{- end }}
{{- end }}
{{ include "params" . | indent 2 }}
mem: {{ $m := "512Mi" }}{{ if hasSuffix "Gi" $m }}{{ mul (trimSuffix "Gi" $m | atoi) 1024 }}{{ else if hasSuffix "Mi" $m }}{{ trimSuffix "Mi" $m | atoi }}{{ end }}
isControllerTagValid: {{ if not (semverCompare ">=0.27.0-0" (trimPrefix "v" "v1.8.1")) }}no{{ else }}yes{{ end }}
maxmem: {{ if le (.Values.replicaCount | int) 3 }}small{{ end }} {{ ge (len .Values.service.ports) 2 }}
pdb: {{ if or (and .Values.autoscaling.enabled (gt (.Values.autoscaling.minReplicas | int) 1)) (and (not .Values.autoscaling.enabled) (gt (.Values.replicaCount | int) 1)) }}yes{{ else }}no{{ end }}
digest: {{ with .Values.image }}{{ if .digest }}{{ (printf "@%s" .digest) }}{{ end }}{{ .repository }}:{{ .tag }}{{ end }}
