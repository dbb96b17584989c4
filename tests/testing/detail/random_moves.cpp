// SPDX-License-Identifier: MIT
#include "davit/testing/detail/random_moves.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "davit/testing/random_program.hpp"

using namespace davit;

TEST_CASE(
    "random programs have elements taken by index, put elsewhere, repeated, sorted and summed up along a dimension") {
  std::set<std::string, std::less<>> met;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const testing::RandomProgram program(testing::ProgramRecipe::of(seed));
    const GraphModuleView graph = program.program().view();
    for (const Node& node : graph.nodes) met.emplace(graph.target(node));
  }
  for (const std::string_view target : {"aten.index_select.default",
                                        "aten.gather.default",
                                        "aten.embedding.default",
                                        "aten.index.Tensor",
                                        "aten.select_scatter.default",
                                        "aten.slice_scatter.default",
                                        "aten.index_put.default",
                                        "aten.scatter_add.default",
                                        "aten.scatter.src",
                                        "aten.transpose.int",
                                        "aten.squeeze.dim",
                                        "aten.diagonal.default",
                                        "aten.unfold.default",
                                        "aten.unbind.int",
                                        "aten.chunk.default",
                                        "aten.flip.default",
                                        "aten.roll.default",
                                        "aten.stack.default",
                                        "aten.repeat.default",
                                        "aten.constant_pad_nd.default",
                                        "aten.cumsum.default",
                                        "aten.cumprod.default",
                                        "aten.argmax.default",
                                        "aten.topk.default",
                                        "aten.sort.default",
                                        "aten.prod.dim_int",
                                        "aten.var.correction",
                                        "aten.amin.default",
                                        "aten.gru.input",
                                        "aten.lstm.input",
                                        "aten.rnn_tanh.input",
                                        "aten.pow.Tensor_Scalar",
                                        "aten.div.Tensor",
                                        "aten.matmul.default"}) {
    CAPTURE(target);
    CHECK(met.contains(target));
  }
}
