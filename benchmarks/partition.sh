#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Time per node of partitioning and lowering 1,000 to 1,000,000 nodes. Exit status 1 if it is not flat within 1.5x, or if the
# largest takes 2 s.
#   benchmarks/partition.sh [CXX]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"${1:-g++}" -std=c++23 -O2 -DNDEBUG -I"$here/../include" "$here/partition.cpp" -o "$out/partition"
"$out/partition"
