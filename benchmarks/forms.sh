#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compares training IR with core IR: for each NAME in FOLDER with NAME.t/program.pt2 and NAME.c/program.pt2, checks that both have the same
# partitions on onednn,portable, and prints their times in one run. Then compares each program of symbolic sizes with its own form of fixed
# sizes. BUILD is a Meson build directory of this tree with -Donednn=enabled. Exit status 1 if a pair differs.
#   benchmarks/forms.sh BUILD FOLDER [NAME...]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1 folder=$2
shift 2
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
libraries=$(ls "$build"/include/davit/impl/*.a | grep -v xnnpack)
# shellcheck disable=SC2086
${CXX:-g++} -std=c++23 -O2 -I"$here/../include" "$here/forms.cpp" -o "$out/forms" -Wl,--start-group $libraries -Wl,--end-group -ldnnl -lz -pthread
status=0 pairs=0 same=0
names=("$@")
[ ${#names[@]} -gt 0 ] || mapfile -t names < <(ls "$folder" | sed -n 's/\.t$//p')
for name in "${names[@]}"; do
  [ -e "$folder/$name.c/program.pt2" ] || continue
  pairs=$((pairs + 1))
  line=$("$out/forms" pair "$folder/$name.t/program.pt2" "$folder/$name.c/program.pt2") && same=$((same + 1)) || status=1
  echo "$name ${line:-failed}"
done
for name in "${names[@]}"; do
  [[ $name == *dyn* && -e $folder/$name.t/program.pt2 ]] || continue
  echo "$name $("$out/forms" shapes "$folder/$name.t/program.pt2" || true)"
done
echo "FORMS pairs=$pairs same=$same"
exit $status
