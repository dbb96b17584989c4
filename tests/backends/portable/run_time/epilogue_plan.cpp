// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/epilogue_plan.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "davit/backends/portable.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "support/net.hpp"
#include "support/portable_code.hpp"
#include "support/quantized_outputs.hpp"

using namespace davit;
using support::Net;

namespace {

/// The steps of a program: a convolution and its epilogue, N(orm) and B(ounds), or o(ther).
[[nodiscard]] std::string steps(const ExportedProgram& program) {
  const auto code = support::portable_code(program);
  std::string text;
  for (const portable_kernels::Step& step : code->steps) {
    text += text.empty() ? "" : " ";
    text += step.op.find("conv") != std::string_view::npos ? "c" : "o";
    if (step.epilogue == no_id) continue;
    const portable_kernels::RowEpilogue& epilogue = code->tails[step.epilogue];
    if (epilogue.factors != nullptr) text += "N";
    if (epilogue.low == 0) text += "B";
  }
  return text;
}

}  // namespace

TEST_CASE("a convolution carries out the norm and the bounds after it, and gives the same") {
  const auto program = [](Net& n, bool normed, bool bounded, support::Sizes size = {2, 8, 6, 6}) {
    ValueId x = n.conv("c", n.input("x", {2, 4, 6, 6}), n.weight("w", {8, 4, 3, 3}), size, 1, 1);
    if (normed) x = n.norm("bn", x, size);
    if (bounded) x = n.relu("r", x, size);
    return n.finish({n.op("aten.tanh.default", "t", size, {{"self", n.v(x)}})});
  };
  for (const bool normed : {false, true})
    for (const bool bounded : {false, true}) {
      Net n;
      const ExportedProgram p = program(n, normed, bounded);
      CHECK(steps(p) == std::string("c") + (normed ? "N" : "") + (bounded ? "B" : "") + " o");
      const support::Outputs made = support::outputs_of(p, CapabilityPartitioner<BackendList<portable>>(), n.sample());
      const support::Outputs expected = support::outputs_node_by_node(p, n.sample());
      REQUIRE(made[0].size() == expected[0].size());
      for (std::size_t i = 0; i < made[0].size(); ++i) CHECK(std::fabs(made[0][i] - expected[0][i]) <= 1e-5f);
    }
}

TEST_CASE("results with other users, and parameters that are not constant, are not fused") {
  {
    Net n;  // the norm's operand is an output, too
    const auto c = n.conv("c", n.input("x", {1, 4, 6, 6}), n.weight("w", {8, 4, 1, 1}), {1, 8, 6, 6});
    CHECK(steps(n.finish({n.norm("bn", c, {1, 8, 6, 6}), c})) == "c o");
  }
  {
    Net n;  // the relu's operand is
    const auto c =
        n.norm("bn", n.conv("c", n.input("x", {1, 4, 6, 6}), n.weight("w", {8, 4, 1, 1}), {1, 8, 6, 6}), {1, 8, 6, 6});
    CHECK(steps(n.finish({n.relu("r", c, {1, 8, 6, 6}), c})) == "cN o");
  }
  {
    Net n;
    const auto c = n.conv("c", n.input("x", {1, 4, 6, 6}), n.weight("w", {8, 4, 1, 1}), {1, 8, 6, 6});
    const auto gamma = n.input("gamma", {8});
    CHECK(steps(n.finish({n.norm("bn", c, gamma, n.weight("beta", {8}), n.weight("mean", {8}),
                                 n.weight("variance", {8}, 0.4, 1), {1, 8, 6, 6})})) == "c o");
  }
}
