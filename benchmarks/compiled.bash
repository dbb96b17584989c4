# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# compiled_davit CHECKOUT CXX FLAGS...: prints the flags that compile and link a program, placed after its source, with the definitions
# of that checkout's davit. The static library is compiled with the same flags, once, into build/benchmarks/ of this checkout, and again
# when a header is newer. JOBS: sources compiled at a time (all CPUs).
compiled_davit() {
  local root cxx=$2 into
  root=$(cd "$1" && pwd)
  shift 2
  into=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build/benchmarks/$({ echo "$root $*"; "$cxx" --version; } | cksum | cut -d' ' -f1)
  if [ ! -e "$into/libdavit.a" ] || [ -n "$(find "$root/include" -newer "$into/started" -print -quit)" ]; then
    rm -rf "$into"
    mkdir -p "$into/portable"
    touch "$into/started"
    sed -n 's/^davit  *[a-z]*  *//p' "$root/include/davit/impl/sources.txt" | xargs -P "${JOBS:-$(nproc)}" -I{} \
      "$cxx" -std=c++23 "$@" -I"$root/include" -c "$root/include/davit/impl/{}" -o "$into/{}.o" || return
    find "$into" -name '*.o' -exec ar rcs "$into/libdavit.a" {} + || return
  fi
  echo "-std=c++23 $* -I$root/include $into/libdavit.a"
}
