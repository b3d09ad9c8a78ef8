apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "app.fullname" . }}-config
data:
  config.yaml: |-
{{ toYaml .Values.config | indent 4 }}
  config.json: {{ toPrettyJson .Values.config | quote }}
  config.toml: |
    {{- toToml .Values.config | nindent 4 }}
  app.properties: |
    {{- range $k := keys .Values.config.properties | sortAlpha }}
    {{ $k }}={{ get $.Values.config.properties $k }}
    {{- end }}
  nginx.conf: |-
    {{- tpl .Values.nginxConf . | nindent 4 }}
  escaped: {{ .Values.nginxConf | squote }}
  list: {{ join "," .Values.config.list }}
  nested: {{ dig "a" "b" "c" "none" .Values.config.nested }} {{ dig "a" "x" "c" "none" .Values.config.nested }}
  lines: |-
    {{- range $i, $line := splitList "\n" .Values.nginxConf }}
    {{ printf "%03d" (add1 $i) }} {{ $line | trim | abbrev 20 }}
    {{- end }}
binaryData:
  blob: {{ .Values.nginxConf | b64enc }}
  decoded: {{ .Values.nginxConf | b64enc | b64dec | len }}
immutable: {{ .Values.immutable | default false }}
