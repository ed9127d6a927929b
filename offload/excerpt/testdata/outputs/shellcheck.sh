# shellcheck *.sh: 60 scripts with three remarks each; one does not end its quotes.
for i in $(seq -w 1 60); do
  { echo '#!/bin/bash'
    if [ $i = 31 ]; then printf 'if [ $1 = x ]; then\n  echo "deploy\n'
    else printf 'for f in $(ls *.txt); do\n  cp $f $1/copy_%s\n  cd $2\ndone\n' $i; fi; } > deploy_$i.sh
done
shellcheck deploy_*.sh
