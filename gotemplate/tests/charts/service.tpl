{{- $fullName := include "app.fullname" . -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ $fullName }}
  labels: {{- include "app.labels" . | nindent 4 }}
spec:
  type: {{ .Values.service.type }}
  {{- if and (eq .Values.service.type "LoadBalancer") (not (empty .Values.service.loadBalancerIP)) }}
  loadBalancerIP: {{ .Values.service.loadBalancerIP }}
  {{- end }}
  {{- if .Values.service.sourceRanges }}
  loadBalancerSourceRanges: {{ toJson .Values.service.sourceRanges }}
  {{- end }}
  ports:
  {{- range $index, $port := .Values.service.ports }}
    - port: {{ $port.port }}
      targetPort: {{ $port.name | quote }}
      name: {{ $port.name | default (printf "port-%d" $index) }}
      {{- if and (or (eq $.Values.service.type "NodePort") (eq $.Values.service.type "LoadBalancer")) (not (empty $port.nodePort)) }}
      nodePort: {{ $port.nodePort }}
      {{- else if eq $.Values.service.type "ClusterIP" }}
      nodePort: null
      {{- end }}
  {{- end }}
  selector: {{ include "app.selectorLabels" . | fromYaml | toJson }}
