#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The instructions of a run of whole models on ARM64, davit's portable kernels beside ONNX Runtime 1.21 and XNNPACK of 2024-11 of Debian 13, all
# with one thread under qemu-user, counted by a plugin (arm64/count.c): a run is the difference between a process of two runs and one of one run.
# XNNPACK runs as davit's backend: whatever it can take is on XNNPACK's kernels, at any cost, and the rest (attention, norms, recurrent layers)
# on davit's. DIR has NAME_b1.pt2, .onnx, _in.npy and _out.npy (benchmarks/models/export.py). A line per model; ratio is davit's count over the
# lower one of the others. Instructions are not time: a vector instruction of 16 bytes counts as any other.
#   benchmarks/arm64.sh DIR [NAME...]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -gt 0 ] || { sed -n 's/^#   /usage: /p' "$0" >&2; exit 2; }
models=$(cd "$1" && pwd)
shift
names=("$@")
[ ${#names[@]} -gt 0 ] || names=(resnet18 mobilenet_v2 bert_small gru_tagger)
"$root/tests/setup" gcc libc6-dev g++-aarch64-linux-gnu qemu-user ccache meson ninja-build pkg-config cmake python3 libboost-dev doctest-dev rapidjson-dev libcli11-dev
target=aarch64_o3
source "$root/tests/targets/target.bash"
libraries aarch64 arm64 aarch64-linux-gnu
optimization=3 cross=aarch64 build aarch64_o3 tools/davit/davit

# ONNX Runtime, XNNPACK and their libraries, unpacked beside zlib
peer=$cache/onnxruntime-arm64 libraries=$cache/onnxruntime-arm64/usr/lib/aarch64-linux-gnu
if [ ! -e "$peer/complete" ] || [ ! -e "$peer/usr/include/xnnpack.h" ]; then
  dependencies=1 unpack "$peer" arm64 trixie libonnxruntime1.21 libonnxruntime-dev libxnnpack-dev libpthreadpool-dev
  ln -sfn usr/lib "$peer/lib"
  ln -sf aarch64-linux-gnu/ld-linux-aarch64.so.1 "$peer/usr/lib/ld-linux-aarch64.so.1"
  touch "$peer/complete"
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
mkdir "$out/include"  # without the C library of that system
ln -s "$peer"/usr/include/{onnxruntime,xnnpack.h,pthreadpool.h} "$out/include"
gcc -O2 -shared -fPIC "$root/benchmarks/arm64/count.c" -o "$out/count.so"
aarch64-linux-gnu-gcc -O2 -I"$out/include" "$root/benchmarks/arm64/onnxruntime.c" -o "$out/onnxruntime" \
  "$libraries/libonnxruntime.so" -lm -Wl,--allow-shlib-undefined
compile=(ccache aarch64-linux-gnu-g++ -std=c++23 -O3 -Wno-psabi -I"$root/include" -I"$out/include")
davit=(-Wl,--start-group "$root"/build/aarch64_o3/include/davit/impl/libdavit*.a -Wl,--end-group $(pkg-config --cflags --libs zlib) -pthread)
cd "$out"
"${compile[@]}" -c "$root/benchmarks/arm64/davit.cpp" -o davit.o
aarch64-linux-gnu-g++ -static davit.o -o davit "${davit[@]}"
"${compile[@]}" -DDAVIT_WITH_XNNPACK -c "$root/benchmarks/arm64/davit.cpp" -o xnnpack.o
for source in xnnpack xnnpack_compile; do "${compile[@]}" -c "$root/include/davit/impl/$source.cpp" -o "backend_$source.o"; done
aarch64-linux-gnu-g++ xnnpack.o backend_*.o -o xnnpack "${davit[@]}" "$libraries"/lib{XNNPACK,pthreadpool}.so -Wl,--allow-shlib-undefined

# instructions PROGRAM...: of one run; the programs print how far the result is from the recorded one
instructions() {
  local one two
  one=$(qemu-aarch64 -L "$peer" -E LD_LIBRARY_PATH=/usr/lib/aarch64-linux-gnu -plugin "$out/count.so" "$@" 1 2>&1 | grep -E '^(gap|instructions)')
  two=$(qemu-aarch64 -L "$peer" -E LD_LIBRARY_PATH=/usr/lib/aarch64-linux-gnu -plugin "$out/count.so" "$@" 2 2>&1 | grep -E '^(gap|instructions)')
  awk -v one="$one" -v two="$two" 'BEGIN { split(one, a); split(two, b); if (a[2] > 1e-4 || b[4] <= a[4]) exit 1; print b[4] - a[4] }' ||
    { echo "$1: $two" >&2; exit 1; }
}
for name in "${names[@]}"; do
  model=$models/${name}_b1
  own=$(instructions ./davit "$model.pt2" "${model}_in.npy" "${model}_out.npy")
  onnxruntime=$(instructions ./onnxruntime "$model.onnx" "${model}_in.npy" "${model}_out.npy")
  xnnpack=$(instructions ./xnnpack "$model.pt2" "${model}_in.npy" "${model}_out.npy")
  awk -v name="$name" -v own="$own" -v a="$onnxruntime" -v b="$xnnpack" 'BEGIN {
    printf "ARM64 model=%s davit=%.2fM onnxruntime=%.2fM xnnpack=%.2fM ratio=%.2f\n", name, own / 1e6, a / 1e6, b / 1e6, own / (a < b ? a : b) }'
done
