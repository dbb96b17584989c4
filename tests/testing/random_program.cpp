// SPDX-License-Identifier: MIT
#include "davit/testing/random_program.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "davit/program/printer.hpp"
#include "davit/program/verify.hpp"

using namespace davit;
using testing::ProgramRecipe;
using testing::RandomProgram;

TEST_CASE("RandomProgram: every program verifies, a recipe always gives the same, and all kinds of nodes appear") {
  std::set<std::string> targets;
  int empty = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const RandomProgram program(ProgramRecipe::of(seed));
    const auto violations = verify(program.program(), {.allow_unknown_operators = true});
    CHECK_MESSAGE(violations.empty(), "seed " << seed << ": " << (violations.empty() ? "" : to_string(violations[0])));
    const GraphModuleView graph = program.program().view();
    if (seed < 20) CHECK(print_graph(graph) == print_graph(RandomProgram(ProgramRecipe::of(seed)).program().view()));
    for (const Node& node : graph.nodes) targets.emplace(graph.target(node));
    for (const Value& value : graph.values)
      for (const Dim& d : graph.dims_of(value.sizes)) empty += d.is_static() && d.value == 0 ? 1 : 0;
  }
  for (const char* target : {"aten.add.Tensor",
                             "aten.add_.Tensor",
                             "aten.copy_.default",
                             "aten.slice.Tensor",
                             "aten.split_with_sizes.default",
                             "aten.max.dim",
                             "aten.mm.default",
                             "aten.linear.default",
                             "aten.convolution.default",
                             "higher_order.scan",
                             "higher_order.cond",
                             "higher_order.while_loop",
                             "aten.cat.default",
                             "aten.expand.default",
                             "aten.bitwise_and.Tensor",
                             "aten.ge.Tensor",
                             "aten.where.self",
                             "aten._to_copy.default",
                             "aten.sym_size.int",
                             "_operator.mul",
                             "higher_order.with_effects",
                             "quantized_decomposed.quantize_per_tensor.default",
                             "quantized_decomposed.dequantize_per_channel.default",
                             "aten._native_batch_norm_legit_no_training.default",
                             "aten.max_pool2d.default",
                             "aten.avg_pool2d.default",
                             "aten.adaptive_avg_pool2d.default",
                             "aten.native_group_norm.default",
                             "aten.layer_norm.default",
                             "aten.scaled_dot_product_attention.default",
                             "aten.bmm.default",
                             "aten.upsample_nearest2d.vec",
                             "aten.upsample_bilinear2d.vec",
                             "aten.gelu.default",
                             "aten.alias.default",
                             "aten.detach.default",
                             "aten.dropout.default",
                             "quantized_decomposed.choose_qparams_per_token_asymmetric.default",
                             "quantized_decomposed.choose_qparams_per_token.default",
                             "quantized_decomposed.quantize_per_token.default",
                             "quantized_decomposed.dequantize_per_token.default",
                             "quantized_decomposed.choose_qparams.tensor",
                             "quantized_decomposed.choose_qparams_symmetric.tensor",
                             "quantized_decomposed.dequantize_per_tensor.tensor",
                             "quantized_decomposed.dequantize_per_channel_group.default",
                             "quantized_decomposed.embedding_byte.default",
                             "quantized_decomposed.embedding_4bit.default",
                             "torchao.choose_qparams_affine.default",
                             "torchao.quantize_affine.default",
                             "torchao.dequantize_affine.default",
                             "aten._weight_int8pack_mm.default",
                             "aten._weight_int4pack_mm_for_cpu.default",
                             "aten._dyn_quant_pack_4bit_weight.default",
                             "aten._dyn_quant_matmul_4bit.default"})
    CHECK_MESSAGE(targets.contains(target), target);
  CHECK(empty > 20);
}
TEST_CASE("ProgramRecipe::shrunk leaves out needless steps, and the rest does not change") {
  std::uint64_t seed = 0;
  const auto has_product = [](const ProgramRecipe& recipe) {
    const RandomProgram program(recipe);
    const GraphModuleView graph = program.program().view();
    for (const Node& node : graph.nodes)
      if (graph.target(node) == "aten.mm.default") return true;
    return false;
  };
  while (!has_product(ProgramRecipe::of(seed)) || ProgramRecipe::of(seed).steps.size() < 10) ++seed;
  const ProgramRecipe small = ProgramRecipe::of(seed).shrunk(has_product);
  CHECK(has_product(small));
  CHECK(small.steps.size() <= 3);
}
