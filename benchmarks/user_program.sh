#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a user's program costs to compile: README's first program (examples/first.cpp) beside a file that includes the 19
# standard headers a user has anyway, compiled in turns, the best of three of each. ratio: the program's CPU seconds (user
# and system) over that file's; rss_mb: the compiler's peak memory; stripped_kb: the linked program. In compiled use the
# library is built before, and linked statically. Exit status 1 if a ratio, the memory or the size is over its limit.
#   benchmarks/user_program.sh [CXX]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cxx=${1:-g++}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for header in algorithm array bit cmath cstddef cstdint cstring expected limits map memory numeric optional span string \
  string_view tuple variant vector; do echo "#include <$header>"; done >"$out/base.cpp"
echo "int main() {}" >>"$out/base.cpp"
CXX=$cxx meson setup "$out/build" "$here/.." --prefix "$out/prefix" --libdir lib -Dcompiled=enabled -Ddefault_library=static \
  -Dbuildtype=release -Dtests=disabled -Dexamples=disabled -Dcli=disabled >"$out/log" || { cat "$out/log"; exit 1; }
meson install -C "$out/build" >"$out/log" 2>&1 || { tail -40 "$out/log"; exit 1; }
export PKG_CONFIG_PATH=$out/prefix/lib/pkgconfig
echo "compiler: $("$cxx" --version | head -1)"
python3 - "$here/../examples/first.cpp" "$out" "$cxx" <<'PY'
import os, subprocess, sys

program, out, cxx = sys.argv[1:]
LIMITS = {  # ratio, MB, KB
    ("header_only", "-O0"): (12, 800, None),
    ("header_only", "-O2"): (25, 800, 1200),
    ("compiled", "-O0"): (3, 300, None),
    ("compiled", "-O2"): (3, 300, None),
}


def flags(package, what):
    return subprocess.run(["pkg-config", what, "--static", package], check=True, capture_output=True, text=True).stdout.split()


def compile(source, args):
    """CPU seconds and peak MB of one compilation, all its processes together."""
    pid = os.fork()
    if pid == 0:
        os.execvp(cxx, [cxx, *args, "-c", source, "-o", out + "/object.o"])
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit(f"{source} does not compile with {' '.join(args)}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


bad = False
for (mode, opt), (most, most_mb, most_kb) in LIMITS.items():
    package = "davit-formats" if mode == "header_only" else "davit-formats-compiled"
    args = [opt, *flags(package, "--cflags")]
    base, own = [], []
    for _ in range(3):
        base.append(compile(out + "/base.cpp", [opt, "-std=c++23"]))
        own.append(compile(program, args))
    linked = out + "/linked"
    subprocess.run([cxx, out + "/object.o", *flags(package, "--libs"), "-o", linked], check=True)
    subprocess.run(["strip", linked], check=True)
    kb = os.path.getsize(linked) / 1024
    (base_s, _), (cpu_s, mb) = min(base), min(own)
    ratio = cpu_s / base_s
    print(f"USER_PROGRAM mode={mode} opt={opt} ratio={ratio:.1f} cpu_s={cpu_s:.1f} rss_mb={mb:.0f} stripped_kb={kb:.0f}", flush=True)
    bad |= ratio > most or mb > most_mb or (most_kb is not None and kb > most_kb)
sys.exit(bad)
PY
