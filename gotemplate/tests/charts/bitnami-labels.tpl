{{- define "common.labels.standard" -}}
{{- if and (hasKey . "customLabels") (hasKey . "context") -}}
{{- $default := dict "app.kubernetes.io/name" (include "app.name" .context) "helm.sh/chart" (include "app.chart" .context) "app.kubernetes.io/instance" .context.Release.Name -}}
{{- with .context.Chart.AppVersion -}}
{{- $_ := set $default "app.kubernetes.io/version" . -}}
{{- end -}}
{{ template "common.tplvalues.merge" (dict "values" (list .customLabels $default) "context" .context) }}
{{- else -}}
app.kubernetes.io/name: {{ include "app.name" . }}
{{- end -}}
{{- end -}}
{{- define "common.tplvalues.merge" -}}
{{- $dst := dict -}}
{{- range .values -}}
{{- $dst = include "common.tplvalues.render" (dict "value" . "context" $.context) | fromYaml | merge $dst -}}
{{- end -}}
{{ $dst | toYaml }}
{{- end -}}
{{- define "common.tplvalues.render2" -}}
{{- $value := typeIs "string" .value | ternary .value (.value | toYaml) }}
{{- if contains "{{" (toJson .value) }}
  {{- if .scope }}
      {{- tpl (cat "{{- with $.RelativeScope -}}" $value "{{- end }}") (merge (dict "RelativeScope" .scope) .context) }}
  {{- else }}
    {{- tpl $value .context }}
  {{- end }}
{{- else }}
    {{- $value }}
{{- end }}
{{- end -}}
labels: {{- include "common.labels.standard" (dict "customLabels" .Values.commonLabels "context" $) | nindent 2 }}
scoped: {{ include "common.tplvalues.render2" (dict "value" "{{ .inner }}-{{ $.Release.Name }}" "scope" (dict "inner" "i") "context" $) }}
plain: {{ include "common.tplvalues.render2" (dict "value" (dict "a" 1) "context" $) }}
{{- define "common.resources.preset" -}}
{{- $presets := dict
  "nano" (dict
      "requests" (dict "cpu" "100m" "memory" "128Mi" "ephemeral-storage" "50Mi")
      "limits" (dict "cpu" "150m" "memory" "192Mi" "ephemeral-storage" "2Gi")
   )
  "micro" (dict
      "requests" (dict "cpu" "250m" "memory" "256Mi")
      "limits" (dict "cpu" "375m" "memory" "384Mi")
   )
 }}
{{- if hasKey $presets .type -}}
{{- index $presets .type | toYaml -}}
{{- else -}}
{{- printf "ERROR: Preset key '%s' invalid. Allowed values are %s" .type (join "," (keys $presets | sortAlpha)) | fail -}}
{{- end -}}
{{- end -}}
resources: {{ include "common.resources.preset" (dict "type" "nano") | nindent 2 }}
{{- define "common.names.namespace" -}}{{- default .Release.Namespace .Values.namespaceOverride | trunc 63 | trimSuffix "-" -}}{{- end }}
namespace: {{ include "common.names.namespace" . | quote }}
{{- $msgs := list }}{{ range $v := list "a" "" "b" }}{{ if $v }}{{ $msgs = append $msgs (printf "\n    %s" $v) }}{{ end }}{{ end }}
message: |{{ join "" $msgs }}
{{- /* validations */ -}}
{{- define "common.validations.values.single.empty" -}}
  {{- $value := include "common.utils.getValueFromKey" (dict "key" .valueKey "context" .context) }}
  {{- if not $value -}}
    {{- printf "\n    '%s' must not be empty" .valueKey -}}
  {{- end -}}
{{- end -}}
{{- define "common.utils.getValueFromKey" -}}
{{- $splitKey := splitList "." .key -}}
{{- $value := "" -}}
{{- $latestObj := $.context.Values -}}
{{- range $splitKey -}}
  {{- if not $latestObj -}}
    {{- printf "please review the entire path of '%s' exists in values" $.key | fail -}}
  {{- end -}}
  {{- $value = ( index $latestObj . ) -}}
  {{- $latestObj = $value -}}
{{- end -}}
{{- printf "%v" (default "" $value) -}}
{{- end }}
validate: {{ include "common.validations.values.single.empty" (dict "valueKey" "auth.password" "context" $) | default "ok" | quote }} {{ include "common.utils.getValueFromKey" (dict "key" "service.type" "context" $) }}
