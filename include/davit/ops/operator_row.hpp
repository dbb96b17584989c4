// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include "davit/ops/operator_group.hpp"

namespace davit {

/// Facts about one operator that hold for everyone: a row of a table in `ops/families/`.
struct OperatorRow {
  /// "aten.add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor": backends may take the operator. Empty for
  /// an operator that is always taken apart. Source: `torch.ops.<name>._schema`, torch 2.6; tests/cases/operators.py
  /// prints it.
  std::string_view schema{};
  /// The operator in terms of others, in the language of RuleEvaluator: "aten.relu6.default(self): clamp(self, 0, 6)".
  /// "aten.concat.default = aten.cat.default" is another name; names that begin with '$' are parts that rules share.
  /// Source: PyTorch's CompositeImplicitAutograd kernels and torch._decomp, by what they compute.
  std::string_view rule{};
  /// The same for complex tensors, where no backend takes these; it prevails over `rule`. Source: the definitions of
  /// the functions.
  std::string_view complex_rule{};
  /// Which group its kernel belongs to, where that is not the family's.
  OperatorGroup group = OperatorGroup::of_family;
};

/// The name of an operator from its schema or its rule: "aten.add.Scalar". O(size of the name).
[[nodiscard]] constexpr std::string_view operator_name(std::string_view text) noexcept {
  std::size_t size = 0;
  while (size < text.size() && text[size] != '(' && text[size] != ' ') ++size;
  return text.substr(0, size);
}

}  // namespace davit
