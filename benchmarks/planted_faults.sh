#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Plants faults in a copy of the sources, one at a time, and counts the random programs until each is found. Exit status 1 if one
# is not found within 1,000. Each fault is a replacement in one file, which must apply.
#   benchmarks/planted_faults.sh [--replace]
# --replace: only checks that each replacement applies, and builds nothing.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$here" && git ls-files -z | xargs -0 cp --parents -t "$work")
run=1
[ "${1:-}" != --replace ] || run=
if [ -n "$run" ]; then
  meson setup "$work/build" "$work" -Doptimization=1 -Ddebug=false -Donednn=disabled -Dxnnpack=disabled > "$work/log"
  ninja -C "$work/build" tests/random_programs > "$work/log" || { tail -20 "$work/log"; exit 1; }
  "$work/build/tests/random_programs" 0 1000 > "$work/log" || { echo "faults before any is planted:"; cat "$work/log"; exit 1; }
fi
failed=0
# plant NAME FILE WAY SED-EXPRESSION
plant() {
  local name=$1 file=$work/include/davit/$2 way=$3 expression=$4 first found=
  cp "$file" "$work/kept"
  sed -i -E "$expression" "$file"
  if cmp -s "$file" "$work/kept"; then
    echo "PLANTED fault=\"$name\": the source has changed, nothing was replaced"
    failed=1
    return
  fi
  if [ -z "$run" ]; then cp "$work/kept" "$file"; return; fi
  ninja -C "$work/build" tests/random_programs > "$work/log" || { grep -m3 error "$work/log"; failed=1; }
  for ((first = 0; first < 1000; first += 10)); do
    if ! "$work/build/tests/random_programs" $first 10 "$way" > "$work/log" 2>&1; then found=$((first + 10)); break; fi
  done
  cp "$work/kept" "$file"
  echo "PLANTED fault=\"$name\" way=\"$way\" found_within=${found:-never}"
  [ -n "$found" ] || failed=1
}
plant 'an order edge is dropped: what reads before a write may run after it' lowering/dependencies.hpp 'second,portable cut' \
  's/for \(std::uint32_t r = m\.reads; r != no_id; r = reads\[r\]\.next\) after\(reads\[r\]\.reader\);//'
plant 'a block is reused while its value is needed' runtime/impl/program_plan.ipp 'second,portable cut' \
  's/block\.life\.last = std::max\(block\.life\.first, last\[root\(block\.slot\)\]\)/block.life.last = block.life.first/'
plant "portable reuses a value's memory too early" backends/impl/portable_compile.ipp 'portable' \
  's/std::max\(last_use_\[s\], last_use_\[storage_\[s\]\]\), 0\}/first_def_[s], 0}/'
plant "an output that copies an input is a view of the caller's memory" lowering/detail/functionalizer.hpp 'portable' \
  's/!casts \&\& \(keeps\(source\) \|\| escapes_\[classes_\.root\(to\)\] != 0\)/!casts \&\& keeps(source)/'
plant 'a write-back is skipped' runtime/impl/call_frame.ipp 'portable' \
  's/    copy_tensor\(write\.value->tensor\(\), write\.to\);/    (void)write;/'
plant 'an input that was written in place is not given back' runtime/impl/call_frame.ipp 'portable' \
  's/^  copy_out\(\);$//'
plant 'two outputs of a partition are swapped' lowered/impl/schedule.ipp 'second,portable cut' \
  's/    s\.outputs = close\(s\.outputs\);\r?$/&\n    if (s.kind == StepKind::call_delegate \&\& s.outputs.count > 1) std::swap(out_.slots[s.outputs.first], out_.slots[s.outputs.first + 1]);/'
plant 'what a failed run wrote into a buffer stays there' runtime/impl/session.ipp 'failing,portable cut' \
  's/context\.undo\.restore\(\);/context.undo.clear();/'
plant 'a buffer is written in place that is read again' backends/impl/portable_compile.ipp 'portable' \
  's/ \|\| last_use_\[self\] != step\) return no_id/) return no_id/'
exit $failed
