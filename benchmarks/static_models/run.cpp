// SPDX-License-Identifier: MIT
// Runs a static program on recorded inputs: `run` names the program in MODEL_HEADER and MODEL_TYPE.
//   program FOLDER RUNS: reads rK_inI.bin, writes rK_outI.bin
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>

#include "davit/backends/portable/embed.hpp"
#include "davit/embed/static_module.hpp"
#include MODEL_HEADER

namespace {

using Program = MODEL_TYPE;
using Module = davit::static_module<Program, davit::portable>;

constexpr bool is_input(std::size_t i) {
  return Program::inputs[i].role == davit::StaticRole::user && Program::tables.inputs[i] != davit::no_id;
}
constexpr bool is_output(std::size_t i) {
  return Program::outputs[i].role == davit::StaticOutputRole::user && Program::tables.outputs[i] != davit::no_id;
}
constexpr std::size_t input_count = [] {
  std::size_t n = 0;
  for (std::size_t i = 0; i < Program::inputs.size(); ++i) n += is_input(i) ? 1 : 0;
  return n;
}();
constexpr std::size_t output_count = [] {
  std::size_t n = 0;
  for (std::size_t i = 0; i < Program::outputs.size(); ++i) n += is_output(i) ? 1 : 0;
  return n;
}();
/// The values of forward's arguments: user inputs, then user outputs.
constexpr auto ports = [] {
  std::array<davit::ValueId, input_count + output_count> values{};
  std::size_t at = 0;
  for (std::size_t i = 0; i < Program::inputs.size(); ++i)
    if (is_input(i)) values[at++] = Program::tables.inputs[i];
  for (std::size_t i = 0; i < Program::outputs.size(); ++i)
    if (is_output(i)) values[at++] = Program::tables.outputs[i];
  return values;
}();
template <std::size_t I>
using Element = davit::element_of<Program::tables.values[ports[I]].dtype>;
template <std::size_t I>
constexpr auto count = static_cast<std::size_t>(Program::tables.values[ports[I]].numel);
template <std::size_t I>
Element<I> buffer[count<I> + 1];
Module module_;

template <std::size_t I>
bool transfer(const std::string& folder, int run, bool reads) {
  if (reads != (I < input_count)) return true;
  const std::string name = folder + "/r" + std::to_string(run) +
                           (reads ? "_in" + std::to_string(I) : "_out" + std::to_string(I - input_count)) + ".bin";
  std::FILE* file = std::fopen(name.c_str(), reads ? "rb" : "wb");
  if (file == nullptr) return false;
  const std::size_t done = reads ? std::fread(buffer<I>, sizeof(Element<I>), count<I>, file)
                                 : std::fwrite(buffer<I>, sizeof(Element<I>), count<I>, file);
  return std::fclose(file) == 0 && done == count<I>;
}
template <std::size_t... I>
bool infer(const std::string& folder, int run, std::index_sequence<I...>) {
  if (!(transfer<I>(folder, run, true) && ...)) return std::printf("an input of run %d cannot be read\n", run), false;
  const davit::Status status = module_.forward(std::span<Element<I>, count<I>>(buffer<I>, count<I>)...);
  if (!status)
    return std::printf("run %d fails with code %u\n", run, static_cast<unsigned>(status.error().bits())), false;
  return (transfer<I>(folder, run, false) && ...);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::puts("usage: program FOLDER RUNS"), 2;
  for (int run = 0; run < std::atoi(argv[2]); ++run)
    if (!infer(argv[1], run, std::make_index_sequence<ports.size()>{})) return 1;
  std::printf("arena %zu, state %zu, weights %zu, steps %zu\n", Module::arena_bytes, Module::state_bytes,
              Module::weight_bytes, Module::step_count);
}
