# for f in job_*.exs; do elixir $f; done: 50 scripts, each with warnings and eight lines of its own; one has no such key.
for i in $(seq -w 1 50); do
  if [ $i = 26 ]; then printf 'defmodule Fees do\n  def rate(m), do: Map.fetch!(m, "XTS")\nend\nIO.puts(Fees.rate(%%{"USD" => 3}))\n' > job_$i.exs
  else printf 'defmodule Job%s do\n  def half(x, error), do: x\n  def go, do: for k <- 1..8, do: IO.puts("settled order %s part #{k} of the ledger, 0 errors")\nend\nJob%s.go()\n' $i $i $i > job_$i.exs; fi
done
for f in job_*.exs; do elixir $f; done
