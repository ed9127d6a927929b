# yamllint .: 90 files with warnings; the blocks of one do not fit together.
printf 'extends: default\nrules:\n  braces: {level: warning}\n  colons: {level: warning}\n  commas: {level: warning}\n  line-length: {level: warning}\n  trailing-spaces: {level: warning}\n  truthy: {level: warning}\n' > .yamllint
mkdir -p k8s
for i in $(seq -w 1 90); do
  if [ $i = 47 ]; then printf -- '---\nservice:\n  name: refund\n port: 80\n' > k8s/svc_$i.yaml
  else printf -- '---\nerror:   1\nretries: [1,2,3]   \nlimits: { cpu: 1}\nverbose: yes\nnote: %s\n' "$(printf 'no error %.0s' 1 2 3 4 5 6 7 8 9 10)" > k8s/svc_$i.yaml; fi
done
yamllint k8s
