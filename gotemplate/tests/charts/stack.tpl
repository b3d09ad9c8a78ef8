{{- /* in the manner of large monitoring stacks */ -}}
{{- define "stack.namespace" }}{{ if .Values.namespaceOverride }}{{ .Values.namespaceOverride }}{{ else }}{{ .Release.Namespace }}{{ end }}{{ end }}
{{- $all := dict "alertmanager" (dict "enabled" true "port" 9093.0) "grafana" (dict "enabled" false) "prometheus" (dict "enabled" true "port" 9090 "extra" (list (dict "url" "http://x" "n" 1))) }}
{{- range $name := keys $all | sortAlpha }}
{{- $c := get $all $name }}
{{- if $c.enabled }}
---
kind: ServiceMonitor
metadata: {name: {{ printf "%s-%s" $.Release.Name $name | trunc 26 | trimSuffix "-" }}, namespace: {{ template "stack.namespace" $ }}}
spec:
  endpoints:
  - port: {{ $c.port }}
    {{- with $c.extra }}
    metricRelabelings:
    {{- tpl (toYaml . | nindent 4) $ }}
    {{- end }}
    {{- if not (empty (dig "tls" "ca" "" $c)) }}
    tlsConfig: {}
    {{- end }}
{{- end }}
{{- end }}
{{- $kubeTargetVersion := default .Capabilities.KubeVersion.GitVersion .Values.kubeTargetVersionOverride }}
{{- if and (semverCompare ">=1.14.0-0" $kubeTargetVersion) (semverCompare "<9.9.9-9" $kubeTargetVersion) }}
new: {{ $kubeTargetVersion | replace "v" "" | splitList "." | first }}
{{- end }}
{{- $v := semver $kubeTargetVersion }}
version: {{ $v.Major }}.{{ $v.Minor }} {{ if $v.Prerelease }}pre{{ end }} {{ (semver "1.2.3").Compare $v }}
{{- $files := dict "a.json" "{\"x\": 1}" "b.yaml" "y: 2\n" }}
{{- range $path, $content := $files }}
{{ base $path | trimSuffix (ext $path) }}-dashboard: {{ if eq (ext $path) ".json" }}{{ $content | fromJson | toJson }}{{ else }}{{ $content | fromYaml | toJson }}{{ end }}
{{- end }}
externalUrl: {{ urlParse "https://u:p@host:8443/path?q=1#f" | toJson }} {{ (urlParse "http://h/p").host }} {{ urlJoin (dict "scheme" "https" "host" "h" "path" "/x") }}
rand: {{ randAlphaNum 8 | len }} {{ uuidv4 | len }} {{ now | date "2006" | len }} {{ genPrivateKey "ecdsa" | splitList "\n" | first }}
{{- $chunks := chunk 2 (list 1 2 3 4 5) }}
chunks: {{ $chunks | toJson }} {{ len $chunks }} {{ index $chunks 1 0 }}
sum: {{ $sum := 0 }}{{ range .Values.service.ports }}{{ $sum = add $sum .port }}{{ end }}{{ $sum }}
seq: {{ range $i, $e := untilStep 0 10 3 }}{{ if $i }},{{ end }}{{ $e }}{{ end }} {{ seq 1 2 7 }}
while: {{ range $i := until 10 }}{{ if eq $i 3 }}{{ continue }}{{ end }}{{ if gt $i 5 }}{{ break }}{{ end }}{{ $i }}{{ end }}
{{ with .Values.nothing }}x{{ else with .Values.config.nested }}{{ .a.b.c }}{{ end }}
ranges: {{ range 3 }}{{ . }}{{ end }} {{ range $i := 2 }}{{ $i }}{{ end }}
