#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the compiler takes per node of an embedded program: chains of 64 to 1,024 elementwise nodes (over 64 floats), and a
# digits model of 10 nodes. What the first use of an operator costs (its kernel is generated and optimised, once for a
# whole program or several under for_size) and what a node costs are told apart: chains are less a chain of four nodes,
# which has the four operators; the model's kernels are its module less a chain of one node; its other nodes are eight
# more such models beside the first, less eight more chains of one node, by the 9 nodes that they have more. The weights
# are in the headers. Each is the best of five (user time), under both policies; the chart has a mark per half
# millisecond. Exit status 1 if a node takes more than 3 ms for_size, or if the chains are not flat within 1.5x.
# With --instructions first it counts the compiler's instructions for_size instead (by valgrind, which takes a quarter of
# an hour): what a busy machine does not change.
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
"$cxx" -std=c++23 -O1 -I"$here/../include" "$here/chain_header.cpp" -o "$out/chain_header"
for nodes in 1 4 $lengths; do "$out/chain_header" $nodes "$out/$nodes"; done
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
# Least microseconds (or thousand instructions) of compiling FOLDER with these macros, by "POLICY FOLDER MACROS"; rounds of
# all, so that a burst of other work on the machine spoils one round and not one figure.
declare -A least_of
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
    for nodes in 1 4 $lengths; do compile $policy $nodes; done
    compile $policy 1 AGAIN
    compile $policy digits DIGITS
    compile $policy digits DIGITS AGAIN
  done
done
echo "compiler: $("$cxx" --version | head -1), ${flags[*]}"
bad=0
for policy in $policies; do
  one=${least_of[$policy 1]} base=${least_of[$policy 4]}
  echo "COMPILE_TIME policy=$policy headers_and_kernel_$unit=$one kernels_of_the_chain_$unit=$((base - one))"
  most=0 least=999999999
  for nodes in $lengths; do
    took=$((${least_of[$policy $nodes]} - base))
    per_node=$((took / (nodes - 4)))
    mark=$([ $unit = us ] && echo " $(printf '#%.0s' $(seq 1 $((per_node / 500 + 1))))" || true)
    echo "COMPILE_TIME policy=$policy nodes=$nodes total_$unit=$took ${unit}_per_node=$per_node$mark"
    [ $per_node -le $most ] || most=$per_node
    [ $per_node -ge $least ] || least=$per_node
  done
  echo "COMPILE_TIME policy=$policy flat=$((most * 100 / least))%"
  digits=${least_of[$policy digits DIGITS]}
  again=$(((${least_of[$policy digits DIGITS AGAIN]} - digits) / 8))
  again_one=$(((${least_of[$policy 1 AGAIN]} - one) / 8))
  per_node=$(((again - again_one) / 9))
  echo "COMPILE_TIME policy=$policy model=digits_cnn_b1 nodes=10 kernels_$unit=$((digits - one)) ${unit}_per_program=$again ${unit}_per_program_of_one_node=$again_one ${unit}_per_node=$per_node"
  if [ $policy = for_size ] && [ $unit = us ]; then
    [ $most -le 3000 ] && [ $((most * 2)) -le $((least * 3)) ] && [ $per_node -le 3000 ] || bad=1
  fi
done
exit $bad
