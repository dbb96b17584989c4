#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Milliseconds that the compiler takes per node of an embedded program: chains of 64 to 1,024 elementwise nodes (over 64
# floats), each less a chain of one node, and a digits model of 10 nodes. What the first use of an operator costs (its
# kernel is generated and optimised, once for a whole program or several under for_size) and what a node costs are told
# apart: the model's kernels are its module less the chain of one node; its other nodes are eight more such models beside
# the first, less eight more chains of one node, by the 9 nodes that they have more. Their weights are in it, as arrays.
# Each is the best of five (user time), under both policies; the chart has a mark per half millisecond. Exit status 1 if
# a node takes more than 3 ms for_size, or if the chains are not flat within 1.5x.
#   benchmarks/compile_time.sh [CXX [FLAGS...]]     (g++ -O2)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cxx=${1:-g++}
shift || true
flags=("${@:--O2}")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$cxx" -std=c++23 -O1 -I"$here/../include" "$here/chain_header.cpp" -o "$out/chain_header"
for nodes in 1 64 128 256 512 1024; do "$out/chain_header" $nodes "$out/$nodes"; done
mkdir "$out/digits"
cp "$here/../tests/cases/embed/digits_cnn_b1.hpp" "$out/digits/chain.hpp"
# eight_more FOLDER NAME OUTPUTS: again.hpp, eight copies of that program and their modules
eight_more() {
  for i in 1 2 3 4 5 6 7 8; do
    sed "s/\b$2\(_constants\)\?\b/$2_$i\1/g; /^#pragma once/d" "$out/$1/chain.hpp"
    echo "davit::static_module<$2_$i, davit::tuned<davit::portable, davit::POLICY>> module_$i;"
    echo "bool run_$i(std::span<const float, 64> x, std::span<float, $3> y) { return module_$i.forward(x, y).has_value(); }"
  done >"$out/$1/again.hpp"
}
eight_more 1 chain 64
eight_more digits digits_cnn_b1 10
cat >"$out/module.cpp" <<'CPP'
#include "chain.hpp"
#include "davit/backends/portable/embed.hpp"
#include "davit/embed/static_module.hpp"
#ifdef DIGITS
using chain = digits_cnn_b1;
constexpr int outputs = 10;
#else
constexpr int outputs = 64;
#endif
davit::static_module<chain, davit::tuned<davit::portable, davit::POLICY>> module;
bool run(std::span<const float, 64> x, std::span<float, outputs> y) { return module.forward(x, y).has_value(); }
#ifdef AGAIN
#include "again.hpp"
#endif
CPP
# Best user milliseconds of compiling FOLDER with these macros, by "POLICY FOLDER MACROS"; rounds of all, so that a burst of
# other work on the machine spoils one round and not one figure.
declare -A best
compile() {
  local key="$*" policy=$1 folder=$2 took
  shift 2
  took=$({ TIMEFORMAT=%U; time "$cxx" -std=c++23 "${flags[@]}" -I"$here/../include" -I"$out/$folder" -DPOLICY="$policy" "${@/#/-D}" -w -c "$out/module.cpp" -o "$out/module.o"; } 2>&1) ||
    { echo "$took"; exit 2; }
  took=$(awk "BEGIN { printf \"%d\", $took * 1000 }")
  [ "$took" -ge "${best[$key]:-999999}" ] || best[$key]=$took
}
for _ in 1 2 3 4 5; do
  for policy in for_size for_speed; do
    for nodes in 1 64 128 256 512 1024; do compile $policy $nodes; done
    compile $policy 1 AGAIN
    compile $policy digits DIGITS
    compile $policy digits DIGITS AGAIN
  done
done
echo "compiler: $("$cxx" --version | head -1), ${flags[*]}"
bad=0
for policy in for_size for_speed; do
  base=${best[$policy 1]}
  echo "COMPILE_TIME policy=$policy base_ms=$base"
  most=0 least=999999
  for nodes in 64 128 256 512 1024; do
    took=$((${best[$policy $nodes]} - base))
    micros=$((took * 1000 / (nodes - 1)))
    echo "COMPILE_TIME policy=$policy nodes=$nodes total_ms=$took us_per_node=$micros $(printf '#%.0s' $(seq 1 $((micros / 500 + 1))))"
    [ $micros -le $most ] || most=$micros
    [ $micros -ge $least ] || least=$micros
  done
  echo "COMPILE_TIME policy=$policy flat=$((most * 100 / least))%"
  digits=${best[$policy digits DIGITS]}
  one=$(((${best[$policy 1 AGAIN]} - base) * 125))
  again=$(((${best[$policy digits DIGITS AGAIN]} - digits) * 125))
  nodes=$(((again - one) / 9))
  echo "COMPILE_TIME policy=$policy model=digits_cnn_b1 nodes=10 kernels_ms=$((digits - base)) us_per_program=$again us_per_program_of_one_node=$one us_per_node=$nodes"
  if [ $policy = for_size ]; then
    [ $most -le 3000 ] && [ $((most * 2)) -le $((least * 3)) ] && [ $nodes -le 3000 ] || bad=1
  fi
done
exit $bad
