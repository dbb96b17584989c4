#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of compiling a user's program, relative to a file with the 19 standard headers that a user includes anyway; each is the best of
# three, in turns. user_file: README's first program (examples/first.cpp), with headers alone; definitions: the file with davit's
# definitions (examples/definitions.cpp); loader: the definitions of a program that loads packages and runs them on one group of
# operators (examples/loader_definitions.cpp); source: the largest of the sources that the build systems compile instead. ratio: CPU
# seconds (user and system) over the standard headers' file; rss_mb: the compiler's peak memory; stripped_kb: the first program, or the loader, linked
# with the definitions. Exit status 1 if a user's file takes over 2.5 times the standard headers or 300 MB, or a source over 650 MB.
#   benchmarks/user_program.sh [CXX]
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
cxx=${1:-g++}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for header in algorithm array bit cmath cstddef cstdint cstring expected limits map memory numeric optional span string \
  string_view tuple variant vector; do echo "#include <$header>"; done >"$out/base.cpp"
echo "int main() {}" >>"$out/base.cpp"
echo "compiler: $("$cxx" --version | head -1)"
python3 - "$here" "$out" "$cxx" <<'PY'
import os, pathlib, subprocess, sys

root, out, cxx = sys.argv[1:]
MOST_RATIO, MOST_MB, MOST_SOURCE_MB = 2.5, 300, 650


def compile(source, args, into="object.o"):
    """CPU seconds and peak MB of one compilation, all its processes together."""
    pid = os.fork()
    if pid == 0:
        os.execvp(cxx, [cxx, "-std=c++23", f"-I{root}/include", *args, "-c", source, "-o", f"{out}/{into}"])
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit(f"{source} does not compile with {' '.join(args)}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def linked(*objects):
    """KB of the stripped program of these objects."""
    program = out + "/linked"
    subprocess.run([cxx, *objects, "-o", program], cwd=out, check=True)
    subprocess.run(["strip", program], check=True)
    return os.path.getsize(program) / 1024


bad = False
for opt in ("-O0", "-O2"):
    base, own = [], []
    for _ in range(3):
        base.append(compile(out + "/base.cpp", [opt]))
        own.append(compile(root + "/examples/first.cpp", [opt], "first.o"))
    definitions = compile(root + "/examples/definitions.cpp", [opt], "definitions.o")
    compile(root + "/examples/loader.cpp", [opt], "loader.o")
    loader = compile(root + "/examples/loader_definitions.cpp", [opt], "loader_definitions.o")
    first_kb, loader_kb = linked("first.o", "definitions.o", "-lz"), linked("loader.o", "loader_definitions.o")
    base_s = min(base)[0]
    for mode, (cpu_s, mb), kb in [("user_file", min(own), first_kb), ("definitions", definitions, first_kb), ("loader", loader, loader_kb)]:
        print(f"USER_PROGRAM mode={mode} opt={opt} ratio={cpu_s / base_s:.1f} cpu_s={cpu_s:.1f} rss_mb={mb:.0f} stripped_kb={kb:.0f}", flush=True)
    bad |= min(own)[0] / base_s > MOST_RATIO or min(own)[1] > MOST_MB
    if opt == "-O2":
        lines = [line.split() for line in pathlib.Path(root, "include/davit/impl/sources.txt").read_text().splitlines() if not line.startswith("#")]
        taken = {name: compile(f"{root}/include/davit/impl/{name}", [opt]) for library, _, name in lines if library in ("davit", "davit-formats")}
        name, (cpu_s, mb) = max(taken.items(), key=lambda item: item[1][1])
        print(f"USER_PROGRAM mode=source name={name} opt={opt} ratio={cpu_s / base_s:.1f} cpu_s={cpu_s:.1f} rss_mb={mb:.0f}")
        bad |= mb > MOST_SOURCE_MB
sys.exit(bad)
PY
