#!/usr/bin/env bash
# Measures the working tree beside another commit, in about five minutes; make measure BASE=REF.
#
#   BASE      a commit, branch or tag; the last commit by default
#   SESSIONS  logs that bench replay plays, or folders of them: a dozen long sessions take a minute
#   RECALL    questions that bench recall asks, or folders of them
#   FIGURES   data of bench/figures.py
#
# Reports are printed as differences: a line with - is of BASE, one with + of the working tree, and all other lines are
# of both.
set -euo pipefail
cd "$(dirname "$0")/.."

base=${BASE:-HEAD}
work=$(mktemp -d)
trap 'git worktree remove --force "$work/tree" 2>/dev/null; rm -rf "$work"' EXIT

git worktree add --quiet --detach "$work/tree" "$base"
go build -o "$work/ours" .
(cd "$work/tree" && go build -o "$work/base" .)

# compare TITLE COMMAND: what it prints for both programs in the place of PROGRAM, each with an empty data folder.
compare() {
  local title=$1
  shift
  printf '\n== %s\n' "$title"
  for program in base ours; do
    mkdir "$work/data"
    XDG_DATA_HOME=$work/data "${@/#PROGRAM/$work/$program}" >"$work/$program.txt" 2>"$work/$program.log" ||
      cat "$work/$program.log"
    rm -rf "$work/data"
  done
  diff --unified=1000 "$work/base.txt" "$work/ours.txt" | tail -n +4 || true
  ! cmp -s "$work/base.txt" "$work/ours.txt" || { echo "equal:" && cat "$work/ours.txt"; }
}

SESSIONS= RECALL= compare figures python3 bench/figures.py --print PROGRAM
if [[ -n ${SESSIONS:-} ]]; then
  compare 'recorded sessions' PROGRAM bench replay $SESSIONS --window 32k,64k
fi
if [[ -n ${RECALL:-} ]]; then
  compare 'answers that survive' PROGRAM bench recall $RECALL --window 32k,64k
fi
printf '\n== latency, CPU, memory\n'
"$work/ours" bench load --against "$work/base" 2>"$work/load.log" || cat "$work/load.log"
