// SPDX-License-Identifier: MIT
// Measures the overhead of an operator: chains of two lengths, on a backend whose kernel ignores its arguments.
#include <array>
#include <cstdint>

#include "davit/embed/static_module.hpp"
#include "davit/program/graph_builder.hpp"
#include "measure.hpp"
#include "semihosting.hpp"

namespace {

struct idle {
  static constexpr std::string_view name = "idle";
  struct nothing {
    struct Params {
      std::int32_t count;
    };
    static void run(const Params& p, float* y, const float* x) noexcept { asm volatile("" ::"r"(&p), "r"(y), "r"(x)); }
  };
  using Kernels = davit::kernel_list<nothing>;
  static constexpr const char* embed(const davit::EmbedNode& n, davit::StepWriter& steps) {
    if (n.target() != "aten.neg.default") return "not a neg";
    const davit::ValueId x = n.value("self");
    steps.step<nothing>({static_cast<std::int32_t>(n.g.numel(x))}).out(n.output()).in(x);
    return nullptr;
  }
};

template <int Nodes>
constexpr davit::GraphModule make_chain() {
  using davit::GraphBuilder;
  GraphBuilder b;
  b.begin_graph();
  davit::ValueId v = b.input("x", davit::ScalarType::float32, {4});
  for (int i = 0; i < Nodes; ++i)
    v = b.call("aten.neg.default", {{"self", GraphBuilder::value(v)}}, "neg", davit::ScalarType::float32, {4});
  b.end_graph({v}, true);
  return std::move(b).finish();
}

template <int Nodes>
struct chain : davit::static_program_of<make_chain<Nodes>> {};

constexpr int repeats = 1000;

template <int Nodes>
std::uint64_t instructions() {
  static davit::static_module<chain<Nodes>, idle> module;
  static std::array<float, 4> x, y;
  const firmware::InstructionCounter counter;
  for (int i = 0; i < repeats; ++i) (void)module.forward(x, y);
  return counter.instructions();
}

}  // namespace

int main() {
  const std::uint64_t few = instructions<8>(), many = instructions<72>();
  firmware::print("hundredths_per_operator=", (many - few) * 100 / (64 * repeats));
}
