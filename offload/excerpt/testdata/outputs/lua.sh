# for f in job_*.lua; do lua $f; done: 60 scripts of twelve lines each; one reads a field of nothing.
for i in $(seq -w 1 60); do
  if [ $i = 31 ]; then printf 'local fees = {}\nlocal function rate(c) return fees[c].cents end\nprint(rate("XTS"))\n' > job_$i.lua
  else printf 'for k = 1, 12 do print("settled order %s-" .. k .. " of the ledger in " .. k .. " ms, 0 errors") end\n' $i > job_$i.lua; fi
done
for f in job_*.lua; do lua5.4 $f; done
