#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Speed of models in int8, bfloat16 and float16 relative to float32, run in turns. Exit status 1 if a ratio is below its limit on oneDNN:
# for int8 1.5 if the CPU has VNNI, else 1.2; for bfloat16 1.2 if products of pairs are fast (avx512_bf16 of AMD's, or tiles).
# ONEDNN_MAX_CPU_ISA=AVX2 hides VNNI from oneDNN.
#   benchmarks/models/dtypes.sh FOLDER DAVIT
# FOLDER has NAME_b1.pt2 and NAME_DTYPE_b1.pt2, as export.py writes them without and with --dtype; DAVIT is the command.
set -euo pipefail
folder=$1 davit=$2
least() {
  case $1 in
  int8) [ "${ONEDNN_MAX_CPU_ISA:-ALL}" = ALL ] && grep -q vnni /proc/cpuinfo && echo 1.5 || echo 1.2 ;;
  bfloat16) grep -q -E 'AuthenticAMD|amx_bf16' /proc/cpuinfo && grep -q avx512_bf16 /proc/cpuinfo && echo 1.2 || echo 0 ;;
  float16) echo 0 ;;
  esac
}
failed=0
for model in "$folder"/*_{int8,bfloat16,float16}_b1.pt2; do
  [ -f "$model" ] || continue
  stem=$(basename "$model" _b1.pt2)
  dtype=${stem##*_} name=${stem%_*}
  for backends in onednn,portable xnnpack,portable portable; do
    for threads in 1 2; do
      row=$("$davit" bench "$folder/${name}_b1.pt2" "$model" --backends "$backends" --threads "$threads" --seconds 1 | awk '/_b1.pt2/ {print $4}')
      ratio=$(awk 'NR == 1 {float = $1} NR == 2 {printf "%.2f", float / $1}' <<<"$row")
      echo "DTYPE model=$name dtype=$dtype backends=$backends threads=$threads float_ms=$(head -1 <<<"$row") ms=$(tail -1 <<<"$row") ratio=$ratio"
      if [ "$backends" = onednn,portable ] && awk "BEGIN {exit !($ratio < $(least "$dtype"))}"; then
        echo "$name: $ratio times as fast in $dtype as in float32, not $(least "$dtype")"
        failed=1
      fi
    done
  done
done
exit $failed
