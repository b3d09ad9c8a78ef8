{{- if .Values.autoscaling.enabled }}
apiVersion: {{ ternary "autoscaling/v2" "autoscaling/v2beta1" (.Capabilities.APIVersions | has "autoscaling/v2") }}
kind: HorizontalPodAutoscaler
metadata:
  name: {{ template "app.fullname" . }}
spec:
  minReplicas: {{ .Values.autoscaling.minReplicas }}
  maxReplicas: {{ max .Values.autoscaling.minReplicas .Values.autoscaling.maxReplicas 2 }}
  metrics:
    {{- range $metric, $target := .Values.autoscaling.targets }}
    - type: Resource
      resource:
        name: {{ $metric }}
        target:
          type: {{ if gt (int $target) 100 }}AverageValue{{ else }}Utilization{{ end }}
          averageUtilization: {{ $target }}
    {{- end }}
  behavior:
    scaleDown:
      stabilizationWindowSeconds: {{ mul 60 (.Values.autoscaling.minutes | default 5) }}
{{- else }}
# autoscaling is off: {{ .Values.replicaCount }} replicas
{{- end }}
