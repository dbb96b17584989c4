// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/lowering/graph_emitter.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// Carries out rules: texts that say what a composite operator is made of. Emits the nodes as it goes.
///
///     "aten.softplus.default(self, beta=1, threshold=20)^: t = self * beta; where(t > threshold, self, log1p(exp(t)) /
///     beta)" "aten.clip.default = aten.clamp.default"
///
/// A rule is a list of assignments and a result, separated by ';'. Arithmetic on tensors, symbolic sizes and numbers is
/// written alike; numbers are folded. Sizes are equal if their examples are, as torch's guards say; which is larger is
/// decided by their ranges alone: a rule that asks more does not fit. `c ? a : b` evaluates one of both; `[i in list:
/// x]` maps; `fold(a: start; i in list: x)` folds, `scan(...)` so lists every `a` but the first; `l[i]`, `l[a:b]` index
/// lists; `out` is the sizes of the operator's output. `f(x, name=y)` is a function of the language
/// (detail/rule_functions.hpp), another rule, or an operator of aten
/// ("sum.dim_IntList", ".default" is implied), whose output's dtype and sizes follow from its arguments or are given:
/// `sizes=`, `as=`. Behind the parameters: '^' float16 and bfloat16 are computed in float32; '!', after it, the
/// operator is one of core ATen, and stays where nobody says what backends take. Unknown names are faults of the
/// emitter.
class RuleEvaluator {
 public:
  /// `ranges`: of the program's symbols; one that is not there may be any number.
  explicit RuleEvaluator(GraphEmitter& emitter, std::span<const RangeConstraint> ranges = {}) : emit(emitter) {
    for (const RangeConstraint& range : ranges)
      ranges_[range.symbol.view()] = {range.min ? static_cast<double>(*range.min) : -unbounded,
                                      range.max ? static_cast<double>(*range.max) : unbounded};
  }

  GraphEmitter& emit;
  std::vector<TensorMeta> outputs{};  ///< of the operator that is being decomposed
  /// Whether an operator that a rule names and that has a rule itself stays whole, asked of its node, and whether it is
  /// one of core ATen ('!'); null: only those of core do.
  bool (*keeps)(const void* options, GraphModuleView graph, NodeId node, bool is_core) = nullptr;
  const void* options = nullptr;  ///< of `keeps`
  bool has_widened = false;       ///< a rule with '^' made float32 of an argument since this was set to false

  /// Evaluates a rule for these arguments.
  [[nodiscard]] Item run(std::string_view row, std::vector<NamedItem> arguments);
  /// Calls a function, a rule or an operator.
  [[nodiscard]] Item call(std::string_view name, std::vector<NamedItem> arguments);
  /// A call whose arguments have the names of the operator's parameters.
  struct Call {
    std::string_view target;
    std::vector<NamedItem> arguments;
  };
  /// Evaluates the arguments of a call that is written in the language ("elu(x, alpha / scale)"), with these names.
  [[nodiscard]] Call read_call(std::string_view text, std::span<const std::pair<std::string_view, Item>> names);
  [[nodiscard]] Item fail(const char* why) noexcept {
    if (emit.fault == nullptr) emit.fault = why;
    return {};
  }

  // -- what the functions of the language ask ---------------------------------------------------------------------
  [[nodiscard]] bool is_tensor(const Item& item) {
    return item.is_value() && emit.module().values[item.value()].kind == ValueKind::tensor;
  }
  [[nodiscard]] bool is_number(const Item& item);
  [[nodiscard]] bool is_static(const Item& item) { return !item.is_value() && item.expr == no_id; }
  [[nodiscard]] ScalarType dtype(const Item& item);
  [[nodiscard]] std::int64_t rank(const Item& tensor) {
    return is_tensor(tensor) ? emit.module().values[tensor.value()].sizes.count : 0;
  }
  /// An int, or the example of a symbolic one.
  [[nodiscard]] std::int64_t integer(const Item& item) { return emit.dim(item).value; }
  [[nodiscard]] double number(const Item& item);
  [[nodiscard]] bool truth(const Item& item);
  [[nodiscard]] bool equal(const Item& a, const Item& b);
  /// Whether a < b, or a <= b, at run time; nothing if sizes tell only then.
  [[nodiscard]] std::optional<bool> less(const Item& a, const Item& b, bool or_equal);
  /// The smaller or the larger of two: one of them, or a new symbolic number.
  [[nodiscard]] Item extreme(const Item& a, const Item& b, bool largest);
  /// Size d of a tensor: a number, or the value of a new sym_size node.
  [[nodiscard]] Item size(const Item& tensor, std::int64_t d);
  [[nodiscard]] std::vector<Dim> dims(const Item& list);
  [[nodiscard]] std::int64_t wrap(const Item& dim, std::int64_t rank);
  [[nodiscard]] Item binary(std::string_view op, const Item& a, const Item& b);

 private:
  static constexpr double unbounded = std::numeric_limits<double>::infinity();
  /// What a number may be at run time.
  struct Bounds {
    double low = -unbounded, high = unbounded;
  };

  [[nodiscard]] bool is_real(const Item& item) {
    return item.is(ArgumentKind::float_) ||
           (item.is_value() && emit.module().values[item.value()].kind == ValueKind::sym_float);
  }
  [[nodiscard]] Bounds bounds(const Item& item);
  /// The same of an expression; `most`: how many of its parts are looked at.
  [[nodiscard]] Bounds bounds(ExprId id, int& most);
  [[nodiscard]] Item call_operator(std::string_view target, std::string_view schema, std::vector<NamedItem> arguments);

  int depth_ = 0;
  std::map<std::string_view, Bounds> ranges_;
};

}  // namespace davit
