#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Instructions of one execute of a lowered one-node add beyond the backend's body, and of one more no-op delegate call in a
# lowered program (valgrind --tool=callgrind).
#   benchmarks/overhead.sh [CXX]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cxx=${1:-g++}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$cxx" -std=c++23 -O2 -DNDEBUG -I"$here/../include" "$here/overhead.cpp" -o "$out/overhead"
count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$out/overhead" "$1" "$2" 2>&1 | sed -n 's/.*Collected : //p'
}
per_call() { echo $((($(count "$1" 3000) - $(count "$1" 1000)) / 2000)); }
body=$(per_call body) dynamic=$(per_call dynamic) plain=$(per_call plain) typed=$(per_call typed)
delegate=$((($(per_call 200) - $(per_call 100)) / 100))
echo "compiler: $("$cxx" --version | head -1)"
echo "OVERHEAD dynamic=$((dynamic - body)) typed=$((typed - plain)) body=$body plain_function=$plain delegate_call=$delegate"
[ $((dynamic - body)) -le 138 ] && [ $((typed - plain)) -le 3 ] && [ $delegate -le 57 ]
