#!/usr/bin/env bash
# What the benchmarks are made of: models that are accepted and in the canonical layout, drivers that
# Python can read, and a command line that refuses what it does not know. Speed is no test.
source "$(dirname "$0")/lib.sh" "$@"

models=0
for model in "$root"/bench/models/*.attn; do
  expect 0 "$build/bin/attnc" check "$model"
  expect 0 "$build/bin/attnc" fmt --check "$model"
  grep -q "^\(train \)\?model $(basename "$model" .attn)(" "$model" ||
    fail "$model has no model of its name"
  models=$((models + 1))
done
((models >= 10)) || fail "only $models models were found"

for script in "$root"/bench/*.sh; do
  expect 0 bash -n "$script"
  [[ -x $script ]] || fail "not executable: $script"
done
# Nothing is written beside the sources.
export PYTHONDONTWRITEBYTECODE=1
expect 0 python3 -c 'import ast, sys
for path in sys.argv[1:]: ast.parse(open(path).read(), path)' "$root"/bench/*.py
expect 0 python3 "$root/bench/bench.py" --help
expect_text "--only TABLE"
expect 2 python3 "$root/bench/bench.py" --only nothing --out "$scratch"
expect_text "no table \`nothing\`"
finish
