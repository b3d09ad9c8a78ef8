{{- $secret := lookup "v1" "Secret" .Release.Namespace (include "app.fullname" .) -}}
apiVersion: v1
kind: Secret
metadata:
  name: {{ include "app.fullname" . }}
type: Opaque
data:
  {{- if $secret.data }}
  password: {{ index $secret.data "password" }}
  {{- else if .Values.auth.password }}
  password: {{ .Values.auth.password | b64enc | quote }}
  {{- else }}
  password: {{ required "auth.password is needed" .Values.auth.password }}
  {{- end }}
  {{- range $name, $value := .Values.auth.extra }}
  {{- if not (empty $value) }}
  {{ $name | kebabcase }}: {{ $value | toString | b64enc }}
  {{- end }}
  {{- end }}
  {{- $dockerconfig := dict "auths" (dict .Values.registry.host (dict "username" .Values.registry.user "password" .Values.registry.password "auth" (printf "%s:%s" .Values.registry.user .Values.registry.password | b64enc))) }}
  .dockerconfigjson: {{ $dockerconfig | toJson | b64enc }}
stringData:
  url: {{ printf "postgresql://%s:%s@%s:%v/%s?sslmode=%s" (.Values.auth.user | urlquery) (.Values.auth.password | urlquery) .Values.db.host .Values.db.port .Values.db.name (.Values.db.ssl | ternary "require" "disable") | quote }}
  key: {{ include "common.secrets.key" (dict "existingSecret" .Values.existingSecret "key" "password") }}
