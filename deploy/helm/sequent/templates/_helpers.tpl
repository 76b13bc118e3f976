{{- define "sequent.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "sequent.selector" -}}
app.kubernetes.io/name: sequent
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "sequent.labels" -}}
{{ include "sequent.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end -}}

{{- define "sequent.account" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "sequent.name" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "sequent.grace" -}}
{{- add .Values.drain.preStopSeconds .Values.drain.delaySeconds .Values.drain.timeoutSeconds .Values.drain.marginSeconds -}}
{{- end -}}
