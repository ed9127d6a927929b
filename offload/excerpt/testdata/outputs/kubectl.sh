# kubectl label --local of 200 manifests; one has a tab where YAML allows none, one no kind.
mkdir -p manifests
for m in $(seq -w 1 200); do
  printf 'apiVersion: v1\nkind: Service\nmetadata:\n  name: error-page-%s\nspec:\n  selector: {app: error-page-%s}\n  ports:\n  - name: http\n    port: 80\n    targetPort: 8%s\n' $m $m $m > manifests/svc_$m.yaml
done
printf 'apiVersion: v1\nkind: Service\nmetadata:\n\tname: refund\n' > manifests/svc_098.yaml
sed -i /^kind/d manifests/svc_104.yaml
for f in manifests/*.yaml; do kubectl label --local -o yaml -f $f tier=web; done
