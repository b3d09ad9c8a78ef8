a: {{ include "app.fullname" . }}
{{ required "the host is needed" .Values.nothing }}
