#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Judges COUNT random programs (default 10,000) from seed FIRST (default 0) against an eager run, on every list of backends that
# this machine has, in one process per core; with WAYS, each program in that many of the ways to lower and run it, in turn. Exit
# status 1 if a program differs; the smallest form of the first failing programs is printed.
#   benchmarks/random_programs.sh [COUNT [FIRST [WAYS]]]
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
build=$here/build/random_programs
count=${1:-10000} first=${2:-0} cores=$(nproc)
[ -f "$build/build.ninja" ] || meson setup "$build" "$here" --buildtype=release -Donednn=auto -Dxnnpack=auto -Dtests=enabled > /dev/null
ninja -C "$build" tests/random_programs > /dev/null
share=$(((count + cores - 1) / cores))
pids=()
for ((core = 0; core < cores; ++core)); do
  "$build/tests/random_programs" $((first + core * share)) "$share" ${3:+"$3"} & pids+=($!)
done
failed=0
for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
echo "seconds: $SECONDS"
exit $failed
