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

{{- define "epitome.scheme" -}}
http{{ if .Values.tls.existingSecret }}s{{ end }}
{{- end }}

{{- define "epitome.url" -}}
{{- if .Values.url }}{{ .Values.url | trimSuffix "/" }}
{{- else if .Values.ingress.enabled }}http{{ if .Values.ingress.tlsSecret }}s{{ end }}://{{ .Values.ingress.host }}
{{- else }}{{ include "epitome.scheme" . }}://{{ include "epitome.service" . }}:{{ .Values.service.port }}
{{- end }}
{{- end }}

{{- define "epitome.serviceAccount" -}}
{{- with .Values.serviceAccount }}
{{- if .create }}{{ .name | default (include "epitome.name" $) }}{{ else }}{{ .name }}{{ end }}
{{- end }}
{{- end }}

{{- /* Whether there may be more than one pod: "true" or nothing. */ -}}
{{- define "epitome.many" -}}
{{- if or (kindIs "invalid" .Values.replicas) (gt (int .Values.replicas) 1) }}true{{ end }}
{{- end }}

{{- /* What the values say of config.toml, as YAML. It stands above what config says. */ -}}
{{- define "epitome.own" -}}
listen: 0.0.0.0:7070
proxy:
  shutdown_grace: {{ int .Values.shutdownGrace }}s
  max_in_flight: {{ .Values.maxInFlight | quote }}
{{- with .Values.tls.existingSecret }}
tls: { cert_file: /etc/epitome/tls/tls.crt, key_file: /etc/epitome/tls/tls.key }
{{- end }}
{{- if or .Values.bucket .Values.secretFile.existingSecret }}
offload:
  {{- with .Values.bucket }}
  bucket: {{ . | quote }}
  {{- end }}
  {{- with .Values.secretFile.existingSecret }}
  secret_file: /etc/epitome/secret/secret
  {{- end }}
{{- end }}
{{- if .Values.store.existingSecret }}
store: { url: "${EPITOME_STORE_URL}" }
{{- else if .Values.store.url }}
store: { url: {{ .Values.store.url | quote }} }
{{- end }}
{{- if .Values.console.existingSecret }}
console: { token: "${EPITOME_CONSOLE_TOKEN}" }
{{- end }}
{{- end }}

{{- /* What a cluster needs in place of epitome's defaults, as YAML. What config says stands above it. */ -}}
{{- define "epitome.defaults" -}}
offload:
  address: url
  url: {{ include "epitome.url" . }}/-/artifacts/
{{- end }}

{{- /* The names under which browsers may ask for pages. */ -}}
{{- define "epitome.hosts" -}}
{{- $name := include "epitome.name" . -}}
{{- $short := printf "%s.%s" $name .Release.Namespace -}}
{{- $host := (urlParse (include "epitome.url" .)).host | regexFind "^(\\[[^]]*\\]|[^:]*)" -}}
{{- $more := ((.Values.config | default dict).console | default dict).hosts | default list -}}
{{- concat (list $name $short (printf "%s.svc" $short) (include "epitome.service" .) $host) $more | uniq | toJson }}
{{- end }}

{{- /* The whole of config.toml. */ -}}
{{- define "epitome.config" -}}
{{- $own := include "epitome.own" . | fromYaml -}}
{{- $hosts := dict "console" (dict "hosts" (include "epitome.hosts" . | fromJsonArray)) -}}
{{- $all := mergeOverwrite (include "epitome.defaults" . | fromYaml) (.Values.config | default dict | deepCopy) $own $hosts -}}
{{- include "epitome.table" (dict "name" "" "table" $all) | trim }}
{{- end }}

{{- /* A table of TOML and those in it. The helpers of Helm write whole numbers as 1.0, which epitome refuses. */ -}}
{{- define "epitome.table" -}}
{{- $name := .name -}}
{{- range $key, $value := .table }}
{{- if not (kindIs "map" $value) }}
{{ include "epitome.key" $key }} = {{ include "epitome.value" $value }}
{{- end }}
{{- end }}
{{- range $key, $value := .table }}
{{- if kindIs "map" $value }}
{{- $inner := printf "%s%s" $name (include "epitome.key" $key) }}

[{{ $inner }}]
{{- include "epitome.table" (dict "name" (printf "%s." $inner) "table" $value) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "epitome.key" -}}
{{- if regexMatch "^[A-Za-z0-9_-]+$" . }}{{ . }}{{ else }}{{ toRawJson . }}{{ end }}
{{- end }}

{{- define "epitome.value" -}}
{{- if kindIs "map" . -}}
{ {{- range $i, $key := keys . | sortAlpha }}{{ if $i }},{{ end }} {{ include "epitome.key" $key }} = {{ "" -}}
{{ include "epitome.value" (get $ $key) }}{{ end }} }
{{- else if kindIs "slice" . -}}
[{{ range $i, $value := . }}{{ if $i }}, {{ end }}{{ include "epitome.value" $value }}{{ end }}]
{{- else }}{{ toRawJson . }}
{{- end }}
{{- end }}

{{- /* The bytes of a size such as 64MB. */ -}}
{{- define "epitome.bytes" -}}
{{- $unit := regexReplaceAll "[0-9 i]" . "" -}}
{{- mul (regexFind "^[0-9]+" . | int64) (get (dict "B" 1 "KB" 1024 "MB" 1048576 "GB" 1073741824) $unit) }}
{{- end }}

{{- /* Values that contradict each other; values.schema.json refuses all that is wrong by itself. */ -}}
{{- define "epitome.check" -}}
{{- $v := .Values -}}
{{- $config := $v.config | default dict -}}
{{- $store := or $v.store.url $v.store.existingSecret -}}
{{- $folder := ($config.offload | default dict).folder -}}
{{- $count := "replicas is null" -}}
{{- if not (kindIs "invalid" $v.replicas) }}{{ $count = printf "replicas is %d" (int $v.replicas) }}{{ end -}}
{{- if not $v.image }}
  {{- fail "image is missing: a release's, or one that you built with 'make image' and pushed" }}
{{- end }}
{{- if include "epitome.many" . }}
{{- if not (and $store (or $v.bucket $folder)) }}
  {{- fail (printf "%s, so store.url (or store.existingSecret) and bucket are needed: replicas share decisions and artifacts" $count) }}
{{- end }}
{{- if $v.persistence.enabled }}
  {{- fail (printf "%s, so persistence.enabled must be false: each pod needs a data folder of its own" $count) }}
{{- end }}
{{- end }}
{{- if and $store (not $v.bucket) (not $folder) }}
  {{- fail "store needs bucket: whoever shares decisions must share artifacts" }}
{{- end }}
{{- if and $v.bucket $folder }}
  {{- fail "bucket and config.offload.folder both keep artifacts: leave one out" }}
{{- end }}
{{- if and $folder (not $store) }}
  {{- fail "config.offload.folder needs store: it is for replicas, which share decisions, too" }}
{{- end }}
{{- if and $v.bucket (not $v.secretFile.existingSecret) }}
  {{- fail "bucket needs secretFile.existingSecret: a key in the bucket would be deleted with old artifacts" }}
{{- end }}
{{- if and $v.store.url $v.store.existingSecret }}
  {{- fail "store.url and store.existingSecret both name the store: leave one out" }}
{{- end }}
{{- if regexMatch "://[^@/]*:[^@/$][^@/]*@" $v.store.url }}
  {{- fail "store.url has a password, which a ConfigMap would show: write ${NAME} for it, or use store.existingSecret" }}
{{- end }}
{{- if and $v.secrets.text $v.secrets.existing }}
  {{- fail "secrets.text and secrets.existing both give variables: leave one out" }}
{{- end }}
{{- if and $v.ca.configMap $v.ca.existingSecret }}
  {{- fail "ca.configMap and ca.existingSecret both hold the authorities: leave one out" }}
{{- end }}
{{- if and $v.ingress.enabled (not $v.ingress.host) }}
  {{- fail "ingress.enabled needs ingress.host" }}
{{- end }}
{{- if and $v.serviceMonitor.enabled (not $v.console.existingSecret) }}
  {{- fail "serviceMonitor.enabled needs console.existingSecret: metrics are served to its token alone" }}
{{- end }}
{{- $written := dict
  "listen" "service.port; pods listen on 7070"
  "proxy.shutdown_grace" "shutdownGrace"
  "proxy.max_in_flight" "maxInFlight"
  "tls.cert_file" "tls.existingSecret"
  "tls.key_file" "tls.existingSecret"
  "store.url" "store.url or store.existingSecret"
  "offload.bucket" "bucket"
  "offload.secret_file" "secretFile.existingSecret"
  "console.token" "console.existingSecret" -}}
{{- range $key, $value := $written }}
{{- $at := splitList "." $key -}}
{{- $table := $config -}}
{{- if eq (len $at) 2 }}{{ $table = get $config (first $at) | default dict }}{{ end -}}
{{- if hasKey $table (last $at) }}
  {{- fail (printf "config.%s is the chart's to write: set %s" $key $value) }}
{{- end }}
{{- end }}
{{- $body := ($config.proxy | default dict).max_body | default "64MB" -}}
{{- if lt (include "epitome.bytes" $v.maxInFlight | int64) (include "epitome.bytes" $body | int64) }}
  {{- fail (printf "maxInFlight is %s, and must be at least config.proxy.max_body, %s" $v.maxInFlight $body) }}
{{- end }}
{{- if not (or $config.clients $config.clients_file $config.open) }}
{{- if ($config.summarize | default dict).key_env }}
  {{- fail "config.summarize.key_env names a credential, which whoever reaches the Service could spend: give clients keys in config.clients, or set config.open" }}
{{- end }}
{{- range $name, $upstream := $config.upstreams }}
{{- if or (without (values ($upstream.headers | default dict)) "") (($upstream.tls | default dict).cert_file) }}
  {{- fail (printf "config.upstreams.%s adds a credential, which whoever reaches the Service could spend: give clients keys in config.clients, or set config.open" $name) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
