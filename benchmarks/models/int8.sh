#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Models in int8 beside the same in float32, run by turns: how many times as fast. Exit status 1 if one is below its limit where the
# CPU has VNNI.
#   benchmarks/models/int8.sh FOLDER DAVIT
# FOLDER has NAME_b1.pt2 and NAME_int8_b1.pt2, as export.py writes them without and with --int8; DAVIT is the command.
set -euo pipefail
folder=$1 davit=$2
least=1.5
failed=0
for int8 in "$folder"/*_int8_b1.pt2; do
  name=$(basename "$int8" _int8_b1.pt2)
  for backends in onednn,portable xnnpack,portable portable; do
    for threads in 1 2; do
      row=$("$davit" bench "$folder/${name}_b1.pt2" "$int8" --backends "$backends" --threads "$threads" --seconds 1 | awk '/_b1.pt2/ {print $4}')
      ratio=$(awk 'NR == 1 {float = $1} NR == 2 {printf "%.2f", float / $1}' <<<"$row")
      echo "INT8 model=$name backends=$backends threads=$threads float_ms=$(head -1 <<<"$row") int8_ms=$(tail -1 <<<"$row") ratio=$ratio"
      if [ "$backends" = onednn,portable ] && grep -q vnni /proc/cpuinfo && awk "BEGIN {exit !($ratio < $least)}"; then
        echo "$name: $ratio times as fast in int8 as in float32, not $least"
        failed=1
      fi
    done
  done
done
exit $failed
