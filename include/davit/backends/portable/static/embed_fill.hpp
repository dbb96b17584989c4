// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "davit/backends/portable/static/embed_operands.hpp"

/// Tensors of one number, or of numbers at even distances, of portable's static face.
namespace davit::static_lowering {

struct sequence {
  using Params = sf::Sequence;
  template <class P, class R>
  [[gnu::always_inline]] static constexpr void run(const P& p, R* y) noexcept {
    sf::sequence(p, y);
  }
};

/// A tensor of one number, or of numbers at even distances.
constexpr const char* write_sequence(const EmbedNode& n, StepWriter& steps, const MappedOperand& first,
                                     const MappedOperand& step) {
  const ValueId y = n.output();
  if (y == no_id || n.g.numel(y) == 0) return "a tensor has no elements";
  if (first.value != no_id || step.value != no_id) return "a number is not known";
  const ScalarType type = n.g.dtype(y);
  if (!is_computed(type)) return "elements of this type are not computed with";
  steps.step<sequence>({int32(n.g.numel(y)), first.param(type), step.param(type)}).out(y);
  return nullptr;
}
constexpr const char* embed_full(const EmbedNode& n, StepWriter& steps) {
  MappedOperand number;
  for (const char* name : {"fill_value", "value", "s"})
    if (n.argument(name) != nullptr && !read_operand(n, {name, 1}, number)) return "its number is not known";
  if (number.number == ScalarType::undefined) return "its number is not known";
  return write_sequence(n, steps, number, {});
}
template <int number>
constexpr const char* embed_all_alike(const EmbedNode& n, StepWriter& steps) {
  return write_sequence(n, steps, {.number = ScalarType::int64, .real = number, .integer = number}, {});
}
constexpr const char* embed_arange(const EmbedNode& n, StepWriter& steps) {
  MappedOperand start, step{.number = ScalarType::int64, .real = 1, .integer = 1};
  if (!read_operand(n, {"start", 0}, start)) return "its start is not known";
  if (n.find({"step", 2}) != nullptr && !read_operand(n, {"step", 2}, step)) return "its step is not known";
  return write_sequence(n, steps, start, step);
}

using fill_kernels = kernel_list<sequence>;

inline constexpr std::array fill_rows{
    EmbedRow{"aten.empty.memory_format", embed_all_alike<0>},
    EmbedRow{"aten.empty_permuted.default", embed_all_alike<0>},
    EmbedRow{"aten.empty_strided.default", embed_all_alike<0>},
    EmbedRow{"aten.full.default", embed_full},
    EmbedRow{"aten.full_like.default", embed_full},
    EmbedRow{"aten.scalar_tensor.default", embed_full},
    EmbedRow{"aten.fill.Scalar", embed_full},
    EmbedRow{"aten.zeros.default", embed_all_alike<0>},
    EmbedRow{"aten.zeros_like.default", embed_all_alike<0>},
    EmbedRow{"aten.new_zeros.default", embed_all_alike<0>},
    EmbedRow{"aten.ones.default", embed_all_alike<1>},
    EmbedRow{"aten.ones_like.default", embed_all_alike<1>},
    EmbedRow{"aten.new_ones.default", embed_all_alike<1>},
    EmbedRow{"aten.arange.start_step", embed_arange},
};

}  // namespace davit::static_lowering
