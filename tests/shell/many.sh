#!/usr/bin/env bash
# Training by several processes: the same parameters as by one, also where parts of the batch are
# unequal; a process that fails or dies ends all of them; the page prints what it says.
source "$(dirname "$0")/lib.sh" "$@"

if [[ ! -x $build/bin/many ]] || ! command -v mpirun >/dev/null; then
  echo "SKIPPED: there is no MPI (libopenmpi-dev, openmpi-bin): training by several processes is not tested"
  exit 77
fi
# Words of Open MPI: more processes than processors, by root too, and not bound to one.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none
data="$root/examples/digits"
many() { timeout 120 mpirun "$@"; }
# Where a process fails, mpirun of Open MPI 4.1 itself ends by a signal now and then, in PMIx_server_finalize:
# it is asked again then.
failing() {
  local status=0
  many "$@" >"$scratch/mpirun" 2>&1 || status=$?
  if ((status == 139)) && grep -q 'PMIx_server_finalize' "$scratch/mpirun"; then
    status=0
    many "$@" >"$scratch/mpirun" 2>&1 || status=$?
  fi
  cat "$scratch/mpirun"
  return "$status"
}

# parameters FILE: a line for each number of a safetensors file: the tensor's name, and the number.
parameters() {
  local length
  length="$(od -An -tu8 -N8 "$1" | tr -d ' ')"
  {
    head -c "$((8 + length))" "$1" | tail -c +9 |
      grep -o '"[^"]*":{"dtype":"F32","shape":\[[0-9,]*\],"data_offsets":\[[0-9,]*\]' |
      sed 's/"\([^"]*\)".*\[\([0-9]*\),\([0-9]*\)\]$/\1 \2 \3/'
    echo end
    tail -c +"$((9 + length))" "$1" | od -An -v -w4 -tf4
  } | awk '!values && $1 == "end" { values = 1; next }
           !values { for (k = $2 / 4; k < $3 / 4; ++k) name[k] = $1; next }
           { print name[n++], $1 }'
}
for n in 1 2 3; do
  mkdir "$scratch/$n"
  expect 0 many -n "$n" "$build/bin/many" "$data" "$scratch/$n" 2
  expect_text "processes: $n; 88 steps in "
  parameters "$scratch/$n/many.safetensors" >"$scratch/$n.txt"
  (($(wc -l <"$scratch/$n.txt") > 10000)) || fail "few parameters were read"
done
# The softmax hides what keys have in common: the gradient of their bias is what rounding leaves, and Adam
# makes steps of it.
for n in 2 3; do
  paste -d ' ' "$scratch/1.txt" "$scratch/$n.txt" | awk '$1 != $3 { exit 1 }
    $1 !~ /\.attn\.bk$/ { d = $2 - $4; if (d < 0) d = -d; if (d > most) most = d }
    END { print most + 0; exit !(most < 1e-5) }' >"$scratch/most" ||
    fail "$n processes differ from one by $(cat "$scratch/most")"
done
# 32 images in a batch are 10, 11 and 11; other parts are other sums: no file equals another.
for n in 2 3; do cmp -s "$scratch/1/many.safetensors" "$scratch/$n/many.safetensors" && fail "$n took no part"; done

# Of two processes one fails, or has other arguments or no place for results.
expect 1 failing -n 1 "$build/bin/many" "$data" "$scratch/1" 1 : -n 1 "$build/bin/many" /nowhere "$scratch/1" 1
expect_text "process 1 of 2: /nowhere/images.npy: "
expect 1 failing -n 1 "$build/bin/many" "$data" "$scratch/1" 1 : -n 1 "$build/bin/many" "$data" "$scratch/1" 2
expect_text "the processes have different data or arguments"
expect 1 failing -n 2 "$build/bin/many" "$data" "$scratch/none" 1
expect_text "process 0 of 2: $scratch/none/many.safetensors: "
expect 1 failing -n 3 "$build/bin/many" "$data" "$scratch/1" 1 2
expect_text "there are fewer images in a batch than processes"
expect 2 failing -n 2 "$build/bin/many" "$data"
expect_text "usage: many"
# One is killed in its work: the other does not wait for it.
# shellcheck disable=SC2016
killed=(bash -c 'echo $$ >"$0"; exec "$@"' "$scratch/pid" "$build/bin/many" "$data" "$scratch/1" 100000)
many -n 1 "$build/bin/many" "$data" "$scratch/1" 100000 : -n 1 "${killed[@]}" >"$scratch/said" 2>&1 &
launched=$!
for ((k = 0; k < 300; ++k)); do grep -q '^epoch' "$scratch/said" && break; sleep 0.1; done
kill -9 "$(cat "$scratch/pid")"
status=0
wait "$launched" || status=$?
((status != 0 && status != 124)) || fail "status $status after one of two processes was killed"
grep -q 'signal 9' "$scratch/said" || fail "nothing is said of a killed process:"$'\n'"$(cat "$scratch/said")"

mkdir "$scratch/checkout" "$scratch/programs"
ln -s "$root"/* "$scratch/checkout/"
rm -f "$scratch/checkout/build"
mkdir "$scratch/checkout/build"
ln -s "$build/bin" "$scratch/checkout/build/"
run_console_blocks "$root/docs/many.md" "$scratch/checkout" "$build/bin"
((ran >= 2)) || fail "only $ran commands of docs/many.md were found"
finish
