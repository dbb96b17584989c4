#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The scaling of examples/batch_mpi: 72,000 rows of the digits in 100 chunks over one rank, two and so on up to one per processor; the
# best of three runs for each number. BUILD is a Meson build directory of this tree with the davit command in it.
#   BUILD=build/release benchmarks/batch_mpi.sh
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${BUILD:-$root/build/g++}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
source "$root/tests/built_package.bash"
built_package "$build" "$work"
cd "$work"
mpicxx -DOMPI_SKIP_MPICXX -O2 "$root/examples/batch_mpi/batch_mpi.cpp" -o batch_mpi $(pkg-config --cflags --libs davit-formats-compiled)
"$build/tools/davit/davit" lower "$root/examples/data/digits_cnn.pt2" -o model.davit >/dev/null
python3 - "$root/examples/data/images.npy" <<'PY'
import struct, sys

content = open(sys.argv[1], "rb").read()
begin = 10 + struct.unpack("<H", content[8:10])[0]
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (72000, 1, 8, 8), }".ljust(117) + "\n"
open("images.npy", "wb").write(content[:8] + struct.pack("<H", len(header)) + header.encode() + content[begin:] * 200)
PY
one=
for ((n = 1; n <= $(nproc); ++n)); do
  best=$(for _ in 1 2 3; do mpirun --allow-run-as-root -n "$n" --use-hwthread-cpus ./batch_mpi model.davit images.npy out.npy 720; done |
    grep -o 'seconds=[0-9.]*' | cut -d= -f2 | sort -n | head -1)
  one=${one:-$best}
  awk -v n="$n" -v s="$best" -v one="$one" 'BEGIN { printf "BATCH_MPI ranks=%d seconds=%.2f rows_per_second=%.0f speedup=%.2f\n", n, s, 72000 / s, one / s }'
done
