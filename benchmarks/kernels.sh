#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compares the portable backend's run-time kernels of this checkout with another's, case by case (kernels.cpp): instructions
# of one call (valgrind --tool=callgrind, if it is installed with its headers), and the least time of a call in interleaved
# rounds. Exit status 1 if a case needs more than 1.05 times the time, or the geometric mean is above 1.
#   benchmarks/kernels.sh OTHER_CHECKOUT [CXX [FLAGS...]]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/compiled.bash"
other=${1:?the checkout to compare with}
cxx=${2:-g++}
flags=("${@:3}")
[ ${#flags[@]} -ne 0 ] || flags=(-O2)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
before=$(compiled_davit "$other" "$cxx" "${flags[@]}" -DNDEBUG)
after=$(compiled_davit "$here/.." "$cxx" "${flags[@]}" -DNDEBUG)
# shellcheck disable=SC2086
"$cxx" "$here/kernels.cpp" -o "$out/before" $before
# shellcheck disable=SC2086
"$cxx" "$here/kernels.cpp" -o "$out/after" $after
for ((round = 0; round < ${ROUNDS:-5}; ++round)); do
  for which in before after; do "$out/$which" >> "$out/$which.times"; done
done
if command -v valgrind > /dev/null && [ -f /usr/include/valgrind/callgrind.h ]; then
  for which in before after; do
    mkdir "$out/$which.dumps"
    valgrind --tool=callgrind --callgrind-out-file="$out/$which.dumps/c" "$out/$which" > /dev/null 2>&1
  done
fi
echo "compiler: $("$cxx" --version | head -1), ${flags[*]}"
python3 - "$out" << 'PYTHON'
import math, pathlib, re, sys

out = pathlib.Path(sys.argv[1])


def times(which):
    least = {}
    for line in (out / f"{which}.times").read_text().splitlines():
        time, name = line.split("\t")
        least[name] = min(least.get(name, math.inf), float(time))
    return least


def instructions(which):
    counts = {}
    for dump in (out / f"{which}.dumps").glob("*") if (out / f"{which}.dumps").is_dir() else []:
        text = dump.read_text(errors="replace")
        name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.M)
        total = re.search(r"^(?:summary|totals): (\d+)$", text, re.M)
        if name and total:
            counts[name.group(1)] = int(total.group(1))
    return counts


before, after = times("before"), times("after")
counted_before, counted_after = instructions("before"), instructions("after")
slower, logs = [], []
for name in before:
    ratio = after[name] / before[name]
    logs.append(math.log(ratio))
    if ratio > 1.05:
        slower.append(name)
    counts = ""
    if name in counted_before and name in counted_after:
        counts = f" instructions={counted_before[name]}->{counted_after[name]} x{counted_after[name] / counted_before[name]:.2f}"
    print(f"KERNEL time=x{ratio:.2f} ns={before[name]:.0f}->{after[name]:.0f}{counts} {name}")
mean = math.exp(sum(logs) / len(logs))
print(f"KERNELS cases={len(logs)} mean=x{mean:.2f} slower={len(slower)}: {'; '.join(slower)}")
sys.exit(mean > 1 or bool(slower))
PYTHON
