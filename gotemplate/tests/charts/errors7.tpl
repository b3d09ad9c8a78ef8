{{ .Values.config | b64enc }}
