#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Instructions per inference of static programs on a workstation (valgrind --tool=callgrind): an MLP 64-32-32-10 and a CNN
# for 8x8 images, at -O2 and at -O3 -mavx2 -mfma. Code is the size of the inference function.
#   benchmarks/static_host.sh [CXX]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cxx=${1:-g++}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
echo "compiler: $("$cxx" --version | head -1)"
count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$out/static_host" "$1" "$2" 2>&1 | sed -n 's/.*Collected : //p'
}
per_inference() { echo $((($(count "$1" 300) - $(count "$1" 100)) / 200)); }
failed=0
measure() {  # limit of mlp, limit of cnn, flags
  local mlp_limit=$1 cnn_limit=$2
  shift 2
  local start seconds
  start=$(date +%s%N)
  "$cxx" -std=c++23 "$@" -DNDEBUG -I"$here/../include" "$here/static_host.cpp" -o "$out/static_host"
  seconds=$(awk "BEGIN { printf \"%.1f\", ($(date +%s%N) - $start) / 1e9 }")
  local mlp cnn
  mlp=$(per_inference mlp) cnn=$(per_inference cnn)
  echo "STATIC_HOST flags=$(echo "$*" | tr ' ' ,) mlp=$mlp cnn=$cnn compile_s=$seconds"
  if [ "$mlp" -gt "$mlp_limit" ] || [ "$cnn" -gt "$cnn_limit" ]; then failed=1; fi
}
measure 4600 40000 -O2
measure 4600 10000 -O3 -mavx2 -mfma
exit $failed
