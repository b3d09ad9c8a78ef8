groups:
{{- range $group, $rules := .Values.rules }}
- name: {{ $group }}
  rules:
  {{- range $rules }}
  - alert: {{ .alert | camelcase | untitle | title }}
    expr: |
      {{- .expr | nindent 6 }}
    for: {{ .for | default "5m" }}
    labels: {{- merge (dict "severity" (.severity | default "warning")) ($.Values.ruleLabels | default dict) | toYaml | nindent 6 }}
    annotations:
      summary: {{ .summary | default (printf "%s on {{ $labels.instance }} is {{ $value }}" (.alert | snakecase)) | quote }}
      {{`runbook: "https://runbooks/{{ $labels.alertname }}"`}}
      long: {{ printf "%s %s" (.expr | nospace) "An annotation that is long enough to be folded at column eighty when it goes through toYaml as a value" | dict "k" | toYaml }}
  {{- end }}
{{- end }}
relabel: {{ regexReplaceAll "([a-z]+)_([a-z]+)" "node_cpu_seconds" "${2}-${1}" }} {{ regexFind "[0-9]+" "v1.22.3" }} {{ regexSplit "[,;]" "a,b;c" -1 }}
time: {{ .Values.interval | duration }} {{ durationRound "1h35m" }}
