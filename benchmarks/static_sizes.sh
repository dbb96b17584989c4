#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of sizes that come with the call: a model embedded for each value of its symbol from FIRST to LAST, compared with the model
# embedded for LAST alone, for a Cortex-M4F. Prints for both the object's code and constants without the weights, the arena, and the
# compiler's CPU seconds. Needs arm-none-eabi-g++ and DAVIT, the davit command (build/g++/tools/davit/davit).
#   benchmarks/static_sizes.sh [MODEL SYMBOL FIRST LAST]      (tests/cases/models/digits_mlp/program.pt2 s0 1 32)
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
davit=${DAVIT:-$here/build/g++/tools/davit/davit}
model=${1:-$here/tests/cases/models/digits_mlp/program.pt2} symbol=${2:-s0} first=${3:-1} last=${4:-32}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/hana"
ln -s /usr/include/boost "$work/hana/boost"
measure() { # NAME DIM
  "$davit" embed "$model" --name model --dim "$symbol=$2" --c -o "$work/$1" >/dev/null
  # the C form calls the model with every tensor in full size; the object keeps only its functions
  TIMEFORMAT='%U'
  seconds=$({ time arm-none-eabi-g++ @"$here/examples/firmware/boards/an386/flags" -std=c++23 -Os -fno-exceptions -fno-rtti -fno-unwind-tables \
    -fno-asynchronous-unwind-tables -isystem "$work/hana" -I"$here/include" -I"$work/$1" -c "$work/$1/model_c.cpp" -o "$work/$1.o"; } 2>&1)
  bytes=$(arm-none-eabi-size -A "$work/$1.o" | awk '/^\.(text|rodata)/ && !/weights/ {sum += $2} END {print sum}')
  echo "STATIC_SIZES sizes=$1 code_and_constants=$bytes arena=$(sed -n 's/^#define MODEL_ARENA_BYTES //p' "$work/$1/model.h") cpu_s=$seconds"
}
measure $((last - first + 1)) "$first..$last"
measure 1 "$last"
