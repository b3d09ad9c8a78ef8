{{- define "lib.util.merge" -}}
{{- $top := first . -}}
{{- $overrides := fromYaml (include (index . 1) $top) | default (dict ) -}}
{{- $tpl := fromYaml (include (index . 2) $top) | default (dict ) -}}
{{- toYaml (merge $overrides $tpl) -}}
{{- end -}}
{{- define "lib.service.tpl" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "app.fullname" . }}
spec:
  type: ClusterIP
  ports:
  - port: 80
    name: http
{{- end -}}
{{- define "my.service" -}}
metadata:
  labels: {{ include "app.labels" . | nindent 4 }}
spec:
  type: {{ .Values.service.type }}
  sessionAffinity: ClientIP
{{- end -}}
{{ include "lib.util.merge" (list . "my.service" "lib.service.tpl") }}
---
{{- define "rec" }}{{ range $k, $v := . }}{{ if kindIs "map" $v }}{{ $k }}({{ include "rec" $v }}){{ else }}{{ $k }}:{{ $v }},{{ end }}{{ end }}{{ end }}
flat: {{ include "rec" .Values.config }}
{{- block "footer" . }}
footer: {{ .Release.Name }}
{{- end }}
{{ template "footer" (dict "Release" (dict "Name" "other")) }}
{{ $ctx := dict "Values" (deepCopy .Values) "Release" .Release "Chart" .Chart }}{{ $_ := set $ctx.Values "nameOverride" "changed" }}{{ include "app.name" $ctx }} {{ include "app.name" . }}
{{ include "app.fullname" (merge (dict "Values" (dict "fullnameOverride" "x-")) .) }}
