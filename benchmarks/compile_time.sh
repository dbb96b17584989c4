#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The compiler's time per node of an embedded program: for chains of 64 to 1,024 elementwise nodes (over 64 floats), and for
# a digits model of 10 nodes. The cost of an operator's first use (its kernel is generated and optimized, once for a whole
# program or several under for_size) is separated from the cost of a node: chains are compiled beside a chain of four nodes,
# which has the four operators' kernels: 1,024 nodes as sixteen programs of 64, or eight of 128, or one of 1,024, so that all
# are measured alike. 64 digits models are compiled beside the first one (8 for_speed). The cost of as many programs of one
# node is subtracted from both. The weights are in the headers. Each is the best of five (user time), under both policies; the chart has a
# mark per half millisecond. Exit status 1 if a node takes more than 3 ms for_size, or if the chains are not flat within
# 1.5x.
# With --instructions as the first argument it counts the compiler's instructions for_size instead (with valgrind, which
# takes a quarter of an hour): a busy machine does not change them.
#   benchmarks/compile_time.sh [--instructions] [CXX [FLAGS...]]     (g++ -O2)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
rounds=5 policies="for_size for_speed" lengths="64 128 256 512 1024" unit=us
if [ "${1:-}" = --instructions ]; then
  rounds=1 policies=for_size lengths="64 256 1024" unit=kinstructions
  shift
fi
cxx=${1:-g++}
shift || true
flags=("${@:--O2}")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$cxx" -std=c++23 -O1 -I"$here/../include" "$here/chain_header.cpp" -o "$out/chain_header" -lz
# more HEADER NAME OUTPUTS COUNT: that many copies of the program, and their modules; up to the MORE-th are compiled
more() {
  for i in $(seq "$4"); do
    echo "#if $i <= MORE"
    sed "s/\b$2\(_constants\)\?\b/$2_$i\1/g; /^#pragma once/d" "$1"
    echo "davit::static_module<$2_$i, davit::tuned<davit::portable, davit::POLICY>> module_$i;"
    echo "bool run_$i(std::span<const float, 64> x, std::span<float, $3> y) { return module_$i.forward(x, y).has_value(); }"
    echo "#endif"
  done
}
for nodes in 1 4 $lengths; do "$out/chain_header" $nodes "$out/chain_$nodes"; done
for nodes in $lengths; do
  mkdir "$out/$nodes"
  cp "$out/chain_4/chain.hpp" "$out/$nodes/chain.hpp"
  more "$out/chain_$nodes/chain.hpp" chain 64 $((1024 / nodes)) >"$out/$nodes/more.hpp"
done
more "$out/chain_1/chain.hpp" chain 64 64 >"$out/chain_1/more.hpp"
mkdir "$out/digits"
cp "$here/../tests/cases/embed/digits_cnn_b1.hpp" "$out/digits/chain.hpp"
more "$out/digits/chain.hpp" digits_cnn_b1 10 64 >"$out/digits/more.hpp"
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
#ifdef MORE
#include "more.hpp"
#endif
CPP
# Least microseconds (or thousand instructions) of compiling FOLDER with these macros, by "POLICY FOLDER MACROS"; rounds of
# all, so that a burst of other work on the machine spoils one round and not one figure.
declare -A least_of copies=([for_size]=64 [for_speed]=8)
compile() {
  local key="$*" policy=$1 folder=$2 took counter=()
  shift 2
  [ $unit = us ] || counter=(-wrapper "valgrind,--tool=callgrind,--callgrind-out-file=/dev/null,--log-file=$out/count")
  took=$({ TIMEFORMAT=%U; time "$cxx" -std=c++23 "${flags[@]}" -I"$here/../include" -I"$out/$folder" -DPOLICY="$policy" "${@/#/-D}" -w -S "${counter[@]}" "$out/module.cpp" -o "$out/module.s"; } 2>&1) ||
    { echo "$took"; exit 2; }
  if [ $unit = us ]; then
    took=$(awk "BEGIN { printf \"%d\", $took * 1000000 }")
  else
    took=$(awk '/Collected/ { printf "%d", $NF / 1000 }' "$out/count")
  fi
  [ "$took" -ge "${least_of[$key]:-999999999}" ] || least_of[$key]=$took
}
for _ in $(seq $rounds); do
  for policy in $policies; do
    compile $policy chain_1
    compile $policy chain_1 MORE=${copies[$policy]}
    compile $policy chain_4
    for nodes in $lengths; do compile $policy $nodes MORE=16; done
    compile $policy digits DIGITS
    compile $policy digits DIGITS MORE=${copies[$policy]}
  done
done
echo "compiler: $("$cxx" --version | head -1), ${flags[*]}"
bad=0
for policy in $policies; do
  one=${least_of[$policy chain_1]} base=${least_of[$policy chain_4]}
  program=$(((${least_of[$policy chain_1 MORE=${copies[$policy]}]} - one) / ${copies[$policy]}))  # of one node
  echo "COMPILE_TIME policy=$policy headers_and_kernel_$unit=$one ${unit}_per_program_of_one_node=$program"
  most=0 least=999999999
  for nodes in $lengths; do
    programs=$((1024 / nodes))
    took=$((${least_of[$policy $nodes MORE=16]} - base - programs * program))
    per_node=$((took / (1024 - programs)))
    mark=$([ $unit != us ] || printf ' %s' "$(printf '#%.0s' $(seq 1 $((per_node / 500 + 1))))")
    echo "COMPILE_TIME policy=$policy nodes=$nodes programs=$programs ${unit}_per_node=$per_node$mark"
    [ $per_node -le $most ] || most=$per_node
    [ $per_node -ge $least ] || least=$per_node
  done
  echo "COMPILE_TIME policy=$policy flat=$((most * 100 / least))%"
  digits=${least_of[$policy digits DIGITS]}
  model=$(((${least_of[$policy digits DIGITS MORE=${copies[$policy]}]} - digits) / ${copies[$policy]}))
  per_node=$(((model - program) / 9))
  echo "COMPILE_TIME policy=$policy model=digits_cnn_b1 nodes=10 kernels_$unit=$((digits - one)) ${unit}_per_program=$model ${unit}_per_node=$per_node"
  if [ $policy = for_size ] && [ $unit = us ]; then
    [ $most -le 3000 ] && [ $((most * 2)) -le $((least * 3)) ] && [ $per_node -le 3000 ] || bad=1
  fi
done
exit $bad
