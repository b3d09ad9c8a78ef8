{{- $replicas := int .Values.replicaCount }}
{{- $fullname := include "app.fullname" . }}
{{- $nodes := list }}
{{- range $i := until $replicas }}
{{- $nodes = append $nodes (printf "%s-%d.%s-headless.%s.svc.%s:%d" $fullname $i $fullname $.Release.Namespace ($.Values.clusterDomain | default "cluster.local") (int (first $.Values.service.ports).port)) }}
{{- end }}
kind: StatefulSet
metadata: {name: {{ $fullname }}}
spec:
  replicas: {{ $replicas }}
  podManagementPolicy: {{ .Values.podManagementPolicy | default "OrderedReady" }}
  template:
    spec:
      initContainers:
        {{- $init := list (dict "name" "permissions" "image" "busybox" "command" (list "sh" "-c" (printf "chown -R %v:%v /data" .Values.podSecurityContext.runAsUser .Values.podSecurityContext.fsGroup))) }}
        {{- $init = concat $init (.Values.initContainers | default list) }}
        {{- toYaml $init | nindent 8 }}
      containers:
        - env:
            - {name: NODES, value: {{ join "," $nodes | quote }}}
            - name: QUORUM
              value: {{ add (div $replicas 2) 1 | quote }}
            - name: HEAP
              value: "-Xmx{{ trimSuffix "Gi" .Values.memory | float64 | mulf 0.75 | mulf 1024 | int }}m"
          args:
            {{- range $k, $v := .Values.args }}
            - --{{ $k | kebabcase }}{{ if not (kindIs "invalid" $v) }}={{ $v }}{{ end }}
            {{- end }}
  volumeClaimTemplates:
    - metadata:
        name: data
      spec:
        accessModes: {{ .Values.persistence.accessModes | toJson }}
        {{- if .Values.persistence.storageClass }}
        {{- if (eq "-" .Values.persistence.storageClass) }}
        storageClassName: ""
        {{- else }}
        storageClassName: {{ .Values.persistence.storageClass | quote }}
        {{- end }}
        {{- end }}
        resources:
          requests:
            storage: {{ .Values.persistence.size | quote }}
