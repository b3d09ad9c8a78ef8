{{- with .Values.networkPolicy }}
{{- if .enabled }}
kind: NetworkPolicy
apiVersion: networking.k8s.io/v1
metadata:
  name: {{ include "app.fullname" $ }}
  labels: {{ include "app.labels" $ | nindent 4 }}
spec:
  podSelector:
    matchLabels: {{ include "app.selectorLabels" $ | nindent 6 }}
  policyTypes: [Ingress{{ if .egress }}, Egress{{ end }}]
  ingress:
    - ports:
      {{- range $.Values.service.ports }}
        - port: {{ .targetPort | default .port }}
      {{- end }}
      {{- if not .allowExternal }}
      from:
        - podSelector:
            matchLabels:
              {{ template "app.fullname" $ }}-client: "true"
        {{- range pluck "namespaceSelectors" . | first }}
        - namespaceSelector: {{ toJson . }}
        {{- end }}
      {{- end }}
{{- end }}
{{- end }}
