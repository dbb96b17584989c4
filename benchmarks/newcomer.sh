#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A newcomer's waiting time, on two cores and without a compiler cache: a clone of this repository, README's CMake project, which
# fetches davit and builds it as a library, README's first program, and its classification of a handwritten digit. Exit status 1 if
# that takes more than three minutes, or if the digit is wrong.
#   benchmarks/newcomer.sh
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CCACHE_DISABLE=1
[ "$(nproc)" -le 2 ] || exec taskset -c 0,1 "$0"
now() { date +%s.%N; }
begin=$(now)
git clone -q "$root" "$work/davit"
mkdir "$work/first"
cd "$work/first"
sed -n '/^cmake_minimum_required/,/^```/p' "$work/davit/README.md" | sed "s|GIT_REPOSITORY ADDRESS|GIT_REPOSITORY file://$work/davit|; s|GIT_TAG main|GIT_TAG HEAD|; /^\`\`\`/d" \
  >CMakeLists.txt
cp "$work/davit/examples/first.cpp" .
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release >configure.log || { cat configure.log; exit 1; }
configured=$(now)
cmake --build build -j2 >build.log || { tail -40 build.log; exit 1; }
built=$(now)
# the first of the images that the repository carries, and its label
python3 - "$work/davit/examples/data" <<'PY' >label
import struct, sys

def npy(name):
    content = open(f"{sys.argv[1]}/{name}.npy", "rb").read()
    begin = 10 + struct.unpack("<H", content[8:10])[0]
    return content[:begin], content[begin:]

header, pixels = npy("images")
with open("image.npy", "wb") as file:
    file.write(header.replace(b"(360, ", b"(1, ").replace(b"\n", b"  \n") + pixels[: 64 * 4])
print(struct.unpack("<q", npy("labels")[1][:8])[0])
PY
build/first "$work/davit/examples/data/digits_cnn_b1.pt2" image.npy >scores
digit=$(awk 'NR == 1 || $1 > most { most = $1; digit = NR - 1 } END { print digit }' scores)
ended=$(now)
awk -v b="$begin" -v c="$configured" -v d="$built" -v e="$ended" -v digit="$digit" -v label="$(cat label)" 'BEGIN {
  printf "NEWCOMER seconds=%.0f clone_and_configure=%.0f build=%.0f classify=%.1f digit=%d label=%d\n", e - b, c - b, d - c, e - d, digit, label
  exit !(e - b <= 180 && digit == label) }'
