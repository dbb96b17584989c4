#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Nanoseconds and instructions (valgrind --tool=callgrind) per node of lowering a chain of 1,000 to 100,000 nodes to one
# backend. Exit status 1 if either is not flat within 1.3x.
#   benchmarks/lowering.sh [CXX]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/compiled.bash"
cxx=${1:-g++}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
flags=$(compiled_davit "$here/.." "$cxx" -O2 -DNDEBUG)
# shellcheck disable=SC2086
"$cxx" "$here/lowering.cpp" -o "$out/lowering" $flags
count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$out/lowering" "$1" "$2" 2>&1 | sed -n 's/.*Collected : //p'
}
echo "compiler: $("$cxx" --version | head -1)"
flat=0
"$out/lowering" || flat=1
least=0 most=0
for nodes in 1000 10000 100000; do
  once=$((100000 / nodes))
  per_node=$((($(count "$nodes" $((2 * once))) - $(count "$nodes" "$once")) / 100000))
  echo "LOWERING nodes=$nodes instructions_per_node=$per_node"
  [ "$least" -ne 0 ] && [ "$least" -le "$per_node" ] || least=$per_node
  [ "$most" -ge "$per_node" ] || most=$per_node
done
echo "LOWERING instructions_ratio=$((most / least)).$(printf %02d $((most * 100 / least % 100)))"
[ "$flat" -eq 0 ] && [ $((most * 10)) -le $((least * 13)) ]
