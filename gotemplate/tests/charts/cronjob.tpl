{{- range $name, $job := .Values.jobs }}
{{- if $job.enabled | default true }}
{{- $merged := mergeOverwrite (deepCopy $.Values.jobDefaults) $job }}
---
apiVersion: batch/v1
kind: CronJob
metadata:
  name: {{ printf "%s-%s" (include "app.fullname" $) $name | trunc 52 | trimSuffix "-" }}
  annotations: {{ dict "description" ($merged.description | default "none") "hash" (toJson $merged | sha1sum | substr 0 8) | toYaml | nindent 4 }}
spec:
  schedule: {{ $merged.schedule | quote }}
  concurrencyPolicy: {{ $merged.concurrencyPolicy }}
  successfulJobsHistoryLimit: {{ $merged.history.success }}
  failedJobsHistoryLimit: {{ $merged.history.failed }}
  jobTemplate:
    spec:
      backoffLimit: {{ $merged.backoffLimit | int64 }}
      template:
        spec:
          restartPolicy: {{ $merged.restartPolicy }}
          containers:
            - name: {{ $name | lower | replace "_" "-" }}
              command: {{ $merged.command | toJson }}
              {{- with $merged.resources }}
              resources: {{ toYaml . | nindent 16 }}
              {{- end }}
{{- end }}
{{- end }}
{{/* what is left as it was */}}
{{ toYaml .Values.jobDefaults }}
