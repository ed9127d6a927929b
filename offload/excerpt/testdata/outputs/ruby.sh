# for f in job_*.rb; do ruby -w $f; done: 80 scripts of nine lines and a warning each; one calls a method of nothing.
for i in $(seq -w 1 80); do
  if [ $i = 41 ]; then printf 'def rate(fees, code)\n  fees[code].cents\nend\nputs rate({}, "XTS")\n' > job_$i.rb
  else printf 'unused = 1\n9.times { |k| puts "settled order %s part #{k} of the ledger, 0 errors" }\n' $i > job_$i.rb; fi
done
for f in job_*.rb; do ruby -w $f; done
