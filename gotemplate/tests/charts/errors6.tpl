{{ include "no.such" . }}
