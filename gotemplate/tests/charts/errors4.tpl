{{ tpl "line\n{{ .Values.nothing.x }}" . }}
