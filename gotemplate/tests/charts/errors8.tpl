{{ range $i, $x := .Values.service.ports }}
{{ fail (printf "port %d of %d is %v" $i (len $.Values.service.ports) $x.port) }}
{{ end }}
