{{- define "epitome.name" -}}
{{- if eq .Release.Name "epitome" }}epitome{{ else }}{{ .Release.Name }}-epitome{{ end -}}
{{- end -}}

{{- define "epitome.selector" -}}
app.kubernetes.io/name: epitome
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "epitome.labels" -}}
{{ include "epitome.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "epitome.account" -}}
{{- if .Values.serviceAccount.name }}{{ .Values.serviceAccount.name }}{{ else if .Values.serviceAccount.create }}{{ include "epitome.name" . }}{{ else }}default{{ end -}}
{{- end -}}
