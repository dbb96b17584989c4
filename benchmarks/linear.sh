#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Instructions (valgrind --tool=callgrind) of verifying and lowering programs with n and 4n parameters, of asking n and 4n
# nodes whether their outputs are used, and of lowering and running programs with n and 4n mutated buffers and inputs (see
# linear.cpp). Exit status 1 if 4n takes more than 5.5 times as many as n.
#   benchmarks/linear.sh [CXX]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/compiled.bash"
cxx=${1:-g++}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
flags=$(compiled_davit "$here/.." "$cxx" -O2 -DNDEBUG)
# shellcheck disable=SC2086
"$cxx" "$here/linear.cpp" -o "$out/linear" $flags
count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$out/linear" "$1" "$2" 2>&1 | sed -n 's/.*Collected : //p'
}
status=0
for what in parameters outputs state steps writes in_place; do
  n=$(count $what 2000) four=$(count $what 8000)
  echo "LINEAR $what n=2000 instructions=$n 4n=$four ratio=$((four / n)).$(printf %02d $((four * 100 / n % 100)))"
  [ $((four * 10)) -le $((n * 55)) ] || status=1
done
exit $status
