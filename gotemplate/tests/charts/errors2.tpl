x: {{ .Values.config.list.first }}
