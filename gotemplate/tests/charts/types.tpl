{{ define "show" }}{{ printf "%v|%T|%s|%q" . . (toString .) (toString .) }}{{ end -}}
{{ range list 1 1.0 1.5 "s" true nil (list 1 "a") (dict "b" 1 "a" (list)) 1000000 1e6 1e21 -0.0 }}{{ include "show" . }}
{{ end }}
{{ range $k, $v := .Values.resources.limits }}{{ $k }} {{ $v | quote }} {{ $v }}
{{ end }}
{{ .Values.replicaCount }} {{ .Values.replicaCount | quote }} {{ .Values.replicaCount | int }} {{ printf "%d" (int .Values.replicaCount) }} {{ add .Values.replicaCount 1 }} {{ sub 1 .Values.replicaCount }} {{ div 7 2 }} {{ mod 7 3 }} {{ round 3.14159 2 }} {{ ceil 1.2 }} {{ floor 1.8 }}
{{ eq (int .Values.replicaCount) 3 }} {{ eq "a" "b" "a" }} {{ lt 1 2 }} {{ and 1 0 }} {{ or 0 "x" }} {{ not nil }}
{{ .Values.env.big }} {{ .Values.env.big | int64 }} {{ .Values.env.ratio }} {{ toJson .Values.env }} {{ toYaml .Values.env.big }} {{ printf "%.0f" (float64 .Values.env.big) }} {{ .Values.env.big | toString }}
{{ kindOf .Values.env.big }} {{ typeOf .Values.replicaCount }} {{ kindIs "float64" .Values.replicaCount }} {{ typeOf (list 1) }} {{ typeOf (splitList "," "a,b") }} {{ typeOf (toStrings (list 1)) }}
{{ default 5 0 }} {{ default "x" "" }} {{ default 1 false }} {{ coalesce nil "" 0 "z" }} {{ empty (dict) }} {{ ternary 1 2 (empty .Values.nothing) }} {{ any 0 1 }} {{ all 1 0 }}
{{ quote 1 "a" nil true }} {{ squote "it's" }} {{ cat 1 "x" nil }} {{ print 1 2 "a" "b" 3 }} {{ println "a" 1 }}
{{ "abc" | substr 1 2 }} {{ trunc -2 "abc" }} {{ trimAll "-" "--a--" }} {{ title "hello world" }} {{ initials "John Smith" }} {{ plural "one" "many" 2 }} {{ swapcase "aBc" }} {{ wrapWith 5 "|" "hello big world" }} {{ nospace "a b" }} {{ abbrevboth 5 12 "a long sentence here" }}
{{ b64enc "x" }} {{ b64dec "eA==" }} {{ b64dec "!" }} {{ b32enc "x" }} {{ sha256sum "x" }} {{ adler32sum "x" }}
{{ dict "a" (dict "b" (list 1 2 (dict "c" nil))) | toYaml }}
{{ list 3 1 2 | sortAlpha }} {{ list "b" "a" | sortAlpha | toJson }} {{ list 1 2 2 | uniq }} {{ list 1 2 3 | reverse }} {{ without (list 1 2 3) 2 }} {{ has 2 (list 1 2) }} {{ compact (list 0 1 "" "a") }} {{ slice (list 1 2 3 4) 1 3 }} {{ initial (list 1 2) }} {{ rest (list 1 2) }} {{ last (list 1 2) }} {{ prepend (list 1) 0 }} {{ concat (list 1) (list 2) }}
{{ pick (dict "a" 1 "b" 2) "a" }} {{ omit (dict "a" 1 "b" 2) "a" }} {{ hasKey (dict "a" nil) "a" }} {{ pluck "a" (dict "a" 1) (dict "a" 2) }} {{ values (dict "a" 1) }} {{ unset (dict "a" 1 "b" 2) "a" }} {{ deepEqual (list 1) (list 1) }}
{{ index .Values.service.ports 0 "name" }} {{ (index .Values.service.ports 0).port }} {{ .Values.service.ports | len }} {{ .Values.service.ports }}
{{ .Values.commonLabels }} {{ .Values.tolerations }} {{ .Values.nothing }} {{ .Values.strings }}
{{ toToml (dict "a" 1.0 "b" (list "x") "c" (dict "d" true "e" (dict "f" 1.5)) "g" (list (dict "h" 1))) }}
{{ toRawJson (dict "a" "<>&") }} {{ mustToJson "<" }} {{ html "<a>" }} {{ js "'x'" }} {{ urlquery "a b" }} {{ regexQuoteMeta "a.b" }} {{ snakecase "HelloWorldAPI" }} {{ camelcase "hello_world" }} {{ kebabcase "HelloWorld" }}
