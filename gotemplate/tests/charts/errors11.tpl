{{ .Values.image.tag | semverCompare ">=1" }} {{ semverCompare "x" "1" }}
