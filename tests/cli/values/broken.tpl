fine
{{ .a | nosuch }}
