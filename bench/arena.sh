#!/usr/bin/env bash
# Plays conversations with questions by all methods in two windows, as they grew and compacted once; make arena. It
# takes two minutes or three.
#
#   bench/arena.sh [--method NAME=COMMAND]... [FILE...]
#
# The conversations are those of bench/questions.py, and those in more files that epitome bench recall reads.
set -euo pipefail

methods=(--method all)
while [[ ${1:-} == --method ]]; do
  methods+=(--method "$2")
  shift 2
done
files=()
for file in "$@"; do
  files+=("$(realpath "$file")")
done
here=$PWD
cd "$(dirname "$0")/.."
mkdir -p build
go build -o build/epitome .
python3 bench/questions.py >build/questions.json
python3 bench/questions.py --check build/questions.json
program=$PWD/build/epitome own=$PWD/build/questions.json
cd "$here" # where commands of methods find their files

for file in "$own" "${files[@]}"; do
  for once in "" --once; do
    printf '\n== %s, %s\n' "$file" "${once:-as they grew}"
    "$program" bench recall "${methods[@]}" --window 32k,64k $once "$file"
  done
done
