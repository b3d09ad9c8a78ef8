{{- range $ns := concat (list .Release.Namespace) .Values.rbac.namespaces | uniq | sortAlpha }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ include "app.fullname" $ }}
  namespace: {{ $ns }}
rules:
{{- range $.Values.rbac.rules }}
  - apiGroups: {{ .groups | default (list "") | toJson }}
    resources: [{{ range $i, $r := .resources }}{{ if $i }}, {{ end }}{{ $r | quote }}{{ end }}]
    verbs:
    {{- range .verbs }}
      - {{ . }}
    {{- end }}
{{- end }}
{{- end }}
{{- if not (regexMatch "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" .Release.Name) }}
{{- fail (printf "release name %q is no DNS label" .Release.Name) }}
{{- end }}
