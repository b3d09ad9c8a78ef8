{{ fail (toYaml .Values.service | nindent 2) }}
