# for f in job_*.php; do php $f; done: 80 scripts of eight lines and a warning each; one returns nothing where a number is due.
for i in $(seq -w 1 80); do
  if [ $i = 41 ]; then printf '<?php\nfunction rate(array $fees, string $code): int { return $fees[$code]; }\necho rate(["USD" => 3, "XTS" => null], "XTS");\n' > job_$i.php
  else printf '<?php for ($k = 0; $k < 8; $k++) echo "settled order %s part $k of the ledger, 0 errors\\n"; echo $retries_%s;\n' $i $i > job_$i.php; fi
done
for f in job_*.php; do php -d display_errors=stderr -d log_errors=0 $f; done
