{{- define "epitome.name" -}}
{{- $name := .Release.Name -}}
{{- if not (contains .Chart.Name $name) }}{{ $name = printf "%s-%s" $name .Chart.Name }}{{ end -}}
{{- $name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "epitome.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "epitome.labels" -}}
{{ include "epitome.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "epitome.service" -}}
{{ include "epitome.name" . }}.{{ .Release.Namespace }}.svc.cluster.local
{{- end }}

{{- define "epitome.url" -}}
{{- if .Values.url }}{{ .Values.url | trimSuffix "/" }}
{{- else if .Values.ingress.enabled }}http{{ if .Values.ingress.tlsSecret }}s{{ end }}://{{ .Values.ingress.host }}
{{- else }}http://{{ include "epitome.service" . }}:{{ .Values.service.port }}
{{- end }}
{{- end }}

{{- /* The whole of config.toml. */ -}}
{{- define "epitome.config" -}}
{{- $name := include "epitome.name" . -}}
{{- $short := printf "%s.%s" $name .Release.Namespace -}}
{{- $host := (urlParse (include "epitome.url" .)).host | regexFind "^(\\[[^]]*\\]|[^:]*)" -}}
listen = "0.0.0.0:7070"
proxy.shutdown_grace = "{{ int .Values.shutdownGrace }}s"
proxy.max_in_flight = {{ .Values.maxInFlight | quote }}
offload.address = "url"
offload.url = "{{ include "epitome.url" . }}/-/artifacts/"
console.hosts = {{ list $name $short (printf "%s.svc" $short) (include "epitome.service" .) $host | uniq | toJson }}
{{- with .Values.bucket }}
offload.bucket = {{ . | quote }}
{{- end }}
{{- if .Values.secretFile.existingSecret }}
offload.secret_file = "/etc/epitome/secret/secret"
{{- end }}
{{- if .Values.store.existingSecret }}
store.url = "${EPITOME_STORE_URL}"
{{- else if .Values.store.url }}
store.url = {{ .Values.store.url | quote }}
{{- end }}
{{- if .Values.console.existingSecret }}
console.token = "${EPITOME_CONSOLE_TOKEN}"
{{- end }}
{{- with .Values.config }}

{{ . | trim }}
{{- end }}
{{- end }}

{{- /* Values that contradict each other. */ -}}
{{- define "epitome.check" -}}
{{- $v := .Values -}}
{{- $store := or $v.store.url $v.store.existingSecret -}}
{{- $many := gt (int $v.replicas) 1 -}}
{{- $table := regexFind "(?m)^\\s*\\[(proxy|store|offload|console)\\]" $v.config | trim -}}
{{- if not $v.image }}{{ fail "image is missing: a release's, or one that you built with 'make image' and pushed" }}{{ end -}}
{{- if lt (int $v.replicas) 1 }}{{ fail "replicas must be at least 1" }}{{ end -}}
{{- if lt (int $v.shutdownGrace) 1 }}{{ fail "shutdownGrace must be a number of seconds, as in 120" }}{{ end -}}
{{- if and $many (not (and $store $v.bucket)) }}{{ fail (printf "replicas is %d, so store.url (or store.existingSecret) and bucket are needed: replicas share decisions and artifacts" (int $v.replicas)) }}{{ end -}}
{{- if and $many $v.persistence.enabled }}{{ fail (printf "replicas is %d, so persistence.enabled must be false: each pod needs a data folder of its own" (int $v.replicas)) }}{{ end -}}
{{- if and $store (not $v.bucket) }}{{ fail "store needs bucket: whoever shares decisions must share artifacts" }}{{ end -}}
{{- if and $v.bucket (not $v.secretFile.existingSecret) }}{{ fail "bucket needs secretFile.existingSecret: a key in the bucket would be deleted with old artifacts" }}{{ end -}}
{{- if and $v.store.url $v.store.existingSecret }}{{ fail "store.url and store.existingSecret both name the store: leave one out" }}{{ end -}}
{{- if regexMatch "://[^@/]*:[^@/$][^@/]*@" $v.store.url }}{{ fail "store.url has a password, which a ConfigMap would show: write ${NAME} for it, or use store.existingSecret" }}{{ end -}}
{{- if not (kindIs "map" $v.secrets.existing) }}{{ fail "secrets.existing must name variables and the Secret of each, as in OPENAI_API_KEY: my-secret" }}{{ end -}}
{{- if and $v.secrets.text $v.secrets.existing }}{{ fail "secrets.text and secrets.existing both give variables: leave one out" }}{{ end -}}
{{- if $table }}{{ fail (printf "config has the table %s, of which the chart writes keys: put yours at its head, as %s.KEY = …" $table (trimAll "[]" $table)) }}{{ end -}}
{{- if and $v.ingress.enabled (not $v.ingress.host) }}{{ fail "ingress.enabled needs ingress.host" }}{{ end -}}
{{- if and $v.serviceMonitor.enabled (not $v.console.existingSecret) }}{{ fail "serviceMonitor.enabled needs console.existingSecret: metrics are served to its token alone" }}{{ end -}}
{{- end }}
