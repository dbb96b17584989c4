// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "davit/backends/portable/static/inverse.hpp"
#include "davit/backends/portable/static/lowering/operands.hpp"
#include "davit/backends/portable/static/product.hpp"
#include "davit/program/operators/matmul.hpp"
#include "davit/program/operators/movement.hpp"

/// Static lowering of matrix products and inverses.
namespace davit::static_lowering {

/// The matrix whose transpose is `v`, if the backend may read through the transposing node; else no_id.
[[nodiscard]] constexpr ValueId transposed_from(const EmbedNode& n, ValueId v) noexcept {
  const NodeId producer = n.g.producer(v);
  if (!n.g.is_assigned(producer)) return no_id;
  const EmbedNode p{n.g, producer};
  operators::PermutationView order;
  if (p.is("aten.transpose.int") || operators::read_permutation(p, order))
    return no_id;  // keeps the order of a product's sums
  return order.rank == 2 && order.from[0] == 1 ? order.input : no_id;
}

/// x @ weight.T + bias; the weight is a matrix.
constexpr void write_linear(const EmbedNode& n, StepWriter& steps, ValueId x, ValueId weight, ValueId bias) {
  const std::int64_t out = n.g.size(weight, 0), in = n.g.size(weight, 1);
  const bool inner = is_output_inner(n, weight);
  const sf::Linear p{int32(n.g.numel(x) / in), int32(in), int32(out),
                     inner ? sf::Layout::output_inner : sf::Layout::contiguous, bias != no_id ? 1 : 0};
  StepOperands step = inner ? steps.step<sf::linear_tiles>(p) : steps.step<sf::linear_dots>(p);
  step.out(n.output()).in(x).in(weight).in(bias);
}
/// a @ b for matrices or stacks with equal batch dimensions; a stack times one matrix is one larger matrix product.
constexpr const char* write_product(const EmbedNode& n, StepWriter& steps, ValueId a, ValueId b) {
  const std::uint32_t left = n.g.rank(a), right = n.g.rank(b);
  if (left < 2 || right < 2 || (right > 2 && left != right)) return "its operands are no matrices";
  if (is_output_inner(n, b)) return "its weight is laid out for a linear";
  sf::Product p{.columns = int32(n.g.size(b, -1)), .depth = int32(n.g.size(b, -2))};
  for (std::uint32_t d = 0; d + 2 < right; ++d) {
    if (n.g.size(a, d) != n.g.size(b, d)) return "its batch dimensions differ";
    p.batch *= int32(n.g.size(b, d));
  }
  p.rows = int32(n.g.numel(a) / (std::int64_t{p.batch} * p.depth));
  steps.step<sf::product>(p).out(n.output()).in(a).in(b);
  return nullptr;
}
constexpr const char* lower_matmul(const EmbedNode& n, StepWriter& steps) {
  operators::MatmulView v;
  if (const operators::Refusal wrong = operators::read_matmul(n, v)) return wrong.what;
  if (const char* why = not_of_one_type(n, v.left, v.right)) return why;
  const ScalarType type = n.g.dtype(v.left);
  const bool is_float = type == ScalarType::float32;
  if (!v.is_plain() && !is_float) return "it has factors";
  const ValueId weight = v.transposed                             ? v.right
                         : n.g.rank(v.right) == 2 && v.is_plain() ? transposed_from(n, v.right)
                                                                  : no_id;
  if (weight != no_id && (n.g.rank(weight) != 2 || n.g.rank(v.left) < 1)) return "its weight is no matrix";
  if (v.addend != no_id && n.g.dtype(v.addend) != type) return "its tensors have different element types";
  const std::int64_t columns = n.g.rank(n.output()) == 0 ? 1 : n.g.size(n.output(), -1);
  const bool has_bias =
      v.addend != no_id && n.g.numel(v.addend) == columns && (v.transposed || n.g.rank(v.addend) == 1);
  if (weight != no_id && is_float && has_bias) {
    write_linear(n, steps, v.left, weight, v.addend);
    return nullptr;
  }
  if (weight != no_id)
    write_linear(n, steps, v.left, weight, no_id);
  else if (const char* why = write_product(n, steps, v.left, v.right))
    return why;
  if (v.addend == no_id) return nullptr;
  const std::uint32_t rank = n.g.rank(v.addend);
  if (rank > 2) return "its addend has more than two dimensions";
  const std::int64_t across = rank == 0 ? 1 : n.g.size(v.addend, -1), down = rank == 2 ? n.g.size(v.addend, 0) : 1;
  steps
      .step<sf::add_scaled>({int32(n.g.numel(n.output()) / columns), int32(columns), down == 1 ? 0 : int32(across),
                             across == 1 ? 0 : 1, static_cast<float>(v.alpha), static_cast<float>(v.beta)})
      .out(n.output())
      .in(v.addend);
  return nullptr;
}

constexpr const char* lower_inverse(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value({"A", 0});
  if (x == no_id || n.output() == no_id || n.output(1) == no_id) return "an operand is missing";
  const ScalarType type = n.g.dtype(x);
  if (type != ScalarType::float32 && type != ScalarType::float64)
    return "its matrices are of neither float32 nor float64";
  const std::uint32_t rank = n.g.rank(x);
  if (rank < 2 || n.g.size(x, rank - 1) != n.g.size(x, rank - 2)) return "its matrices are not square";
  if (n.g.numel(x) == 0) return "a tensor has no elements";
  bool checks = false;
  if (!operators::read_flag(n, {"check_errors", 1}, false, checks)) return "an argument is not known";
  const std::int64_t size = n.g.size(x, rank - 1);
  const std::uint32_t work = steps.temporary(type, size * size);
  steps.step<sf::inverse>({int32(n.g.numel(x) / (size * size)), int32(size), checks ? 1 : 0})
      .out(n.output())
      .out(n.output(1))
      .scratch(work)
      .in(x);
  return nullptr;
}

using product_kernels = kernel_list<sf::linear_tiles, sf::linear_dots, sf::product, sf::add_scaled, sf::inverse>;

inline constexpr std::array product_rows{
    EmbedRow{"aten.linear.default", lower_matmul}, EmbedRow{"aten.mm.default", lower_matmul},
    EmbedRow{"aten.bmm.default", lower_matmul},    EmbedRow{"aten.matmul.default", lower_matmul},
    EmbedRow{"aten.addmm.default", lower_matmul},  EmbedRow{"aten.linalg_inv_ex.default", lower_inverse},
};

}  // namespace davit::static_lowering
