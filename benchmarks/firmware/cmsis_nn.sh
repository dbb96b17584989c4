#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints the instructions of CMSIS-NN's layers of 256 x 256, with weights of 8 and of 4 bits, on Cortex-M4F and Cortex-M55 under qemu: the
# layers of linear_int8, linear_int4 and linear_int4_g128, which benchmarks/firmware/run measures on davit.
#   cmsis_nn.sh FOLDER    a checkout of CMSIS-NN (7.0.0: github.com/ARM-software/CMSIS-NN)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
firmware=$here/../../examples/firmware
source=${1:?a checkout of CMSIS-NN}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
files=("$source"/Source/FullyConnectedFunctions/arm_fully_connected_s[48].c
  "$source"/Source/NNSupportFunctions/arm_nn_vec_mat_mult_t_s[48].c)
for board in an386 an547; do
  objects=()
  for file in "${files[@]}"; do
    object=$work/$(basename "$file" .c).o
    arm-none-eabi-gcc @"$firmware/boards/$board/flags" -O2 -I"$source/Include" -ffunction-sections -fdata-sections -c "$file" -o "$object"
    objects+=("$object")
  done
  "$firmware/compile" "$board" -O2 -isystem "$source/Include" "$here/cmsis_nn.cpp" "${objects[@]}" -o "$work/$board"
  echo "$board $("$firmware/emulate" "$board" "$work/$board" 2>&1 | tr '\n' ' ')"
done
