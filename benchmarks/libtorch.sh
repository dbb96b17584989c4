#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compares a program on libtorch (Debian's libtorch-dev, TorchScript) with one on davit (examples/loader.cpp, a package): the digits network,
# loaded and run once. Prints a line `LIBTORCH program=davit|libtorch start_ms= instructions= files_mb= shared_libraries=`: the median time of a whole
# process, by turns; instructions by valgrind; the bytes of the program and of the libraries that it loads, the C and C++ libraries excluded.
#   benchmarks/libtorch.sh [RUNS]
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
runs=${1:-21}
[ -e /usr/include/torch/script.h ] || { echo "libtorch is not there: install libtorch-dev"; exit 77; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
g++ -std=c++17 -O2 "$here/benchmarks/libtorch.cpp" -o "$out/libtorch" -ltorch -ltorch_cpu -lc10
"$out/libtorch" write "$out/digits.ts"
for source in loader loader_definitions; do g++ -std=c++23 -O2 -I"$here/include" -c "$here/examples/$source.cpp" -o "$out/$source.o"; done
g++ "$out/loader.o" "$out/loader_definitions.o" -lz -o "$out/davit"
strip "$out/davit" "$out/libtorch"
"${DAVIT:-$here/build/g++/tools/davit/davit}" lower "$here/examples/data/digits_cnn_b1.pt2" -o "$out/digits.davit" >"$out/log"
python3 - "$out" "$runs" <<'PY'
import os, re, statistics, subprocess, sys, time

out, runs = sys.argv[1], int(sys.argv[2])
commands = {"davit": [out + "/davit", out + "/digits.davit"], "libtorch": [out + "/libtorch", out + "/digits.ts"]}
times = {name: [] for name in commands}
zeros = b"0 " * 64


def run(command):
    return subprocess.run(command, input=zeros, check=True, capture_output=True)


for _ in range(runs):
    for name, command in commands.items():
        begin = time.perf_counter()
        run(command)
        times[name].append(1000 * (time.perf_counter() - begin))
for name, command in commands.items():
    linked = subprocess.run(["ldd", command[0]], check=True, capture_output=True, text=True).stdout
    own = re.compile(r"/(libc|libm|libstdc\+\+|libgcc_s|libpthread|libdl|librt|ld-linux[^/]*)\.so")
    libraries = [file for file in re.findall(r"(/\S+) \(", linked) if not own.search(file)]
    size = sum(os.stat(file).st_size for file in [command[0], *libraries])
    counted = subprocess.run(["valgrind", "--tool=none", "true"], capture_output=True).returncode == 0
    instructions = "?"
    if counted:
        text = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command], input=zeros, capture_output=True).stderr.decode()
        instructions = int(re.search(r"Collected : (\d+)", text)[1])
    print(f"LIBTORCH program={name} start_ms={statistics.median(times[name]):.1f} instructions={instructions} "
          f"files_mb={size / 1e6:.1f} shared_libraries={len(libraries)}")
PY
