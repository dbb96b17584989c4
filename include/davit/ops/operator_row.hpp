// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include "davit/ops/operator_group.hpp"

namespace davit {

/// A row of a table in `ops/families/`: the schema of an operator and its decompositions.
struct OperatorRow {
  /// "aten.add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor": backends may take the operator. Empty for
  /// an operator that is always decomposed. Source: `torch.ops.<name>._schema`, torch 2.6; tests/cases/operators.py
  /// prints it.
  std::string_view schema{};
  /// The operator's decomposition, in the language of RuleEvaluator: "aten.relu6.default(self): clamp(self, 0, 6)".
  /// "aten.concat.default = aten.cat.default" is an alias; names that begin with '$' are helpers shared by rules.
  /// Source: PyTorch's CompositeImplicitAutograd kernels and torch._decomp, by their results.
  std::string_view rule{};
  /// The decomposition for complex tensors, where no backend takes them; takes precedence over `rule`. Source: the
  /// definitions of the functions.
  std::string_view complex_rule{};
  /// The in-place or out= form of the operator, where its name does not follow from the operator's:
  /// "aten.div.out_mode = aten.div.Tensor_mode" (functional_form). Source: native_functions.yaml.
  std::string_view form{};
  /// The group of its kernel, if that is not the family's group.
  OperatorGroup group = OperatorGroup::of_family;
};

/// Returns the operator's name from its schema or its rule: "aten.add.Scalar". O(size of the name).
[[nodiscard]] constexpr std::string_view operator_name(std::string_view text) noexcept {
  std::size_t size = 0;
  while (size < text.size() && text[size] != '(' && text[size] != ' ') ++size;
  return text.substr(0, size);
}

}  // namespace davit
