{{ if eq .Values.replicaCount 3 }}three{{ end }}
