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

/// Evaluates rules, the texts that decompose composite operators, and emits their nodes.
///
///     "aten.clip.default = aten.clamp.default"
///     "aten.softplus.default(self, beta=1, threshold=20)^:
///          t = self * beta; where(t > threshold, self, log1p(exp(t)) / beta)"
///
/// A rule is a list of assignments and a result, separated by ';'.
/// - Arithmetic is the same for tensors, symbolic sizes and numbers; numbers are folded. `==` compares the examples of
///   sizes, as torch's guards do; `<` uses their ranges alone, and a rule whose comparison they leave open does not
///   fit.
/// - `c ? a : b` evaluates one branch; `[i in list: x]` maps; `fold(a: start; i in list: x)` folds;
///   `scan(a: start; i in list: x)` lists every `a` but the first; `l[i]`, `l[a:b]` index lists.
/// - `out` is the sizes of the operator's output.
/// - `f(x, name=y)` is a function of the language (detail/rule_functions.hpp), another rule, an aten operator
///   ("sum.dim_IntList"; ".default" is implied), or one of davit's own ("davit.quantize_rows.default"). dtype and sizes
///   of an operator's output follow from its arguments, or are given by `sizes=` and `as=`.
/// - Behind the parameters: '^' computes float16 and bfloat16 in float32; '!', after it, marks operators of core ATen,
///   which stay whole unless the options name backends. Unknown names set the emitter's fault.
class RuleEvaluator {
 public:
  /// `ranges`: of the program's symbols; a symbol without a range may be any number.
  explicit RuleEvaluator(GraphEmitter& emitter, std::span<const RangeConstraint> ranges = {}) : emit(emitter) {
    for (const RangeConstraint& range : ranges)
      ranges_[range.symbol.view()] = {range.min ? static_cast<double>(*range.min) : -unbounded,
                                      range.max ? static_cast<double>(*range.max) : unbounded};
  }

  GraphEmitter& emit;
  std::vector<TensorMeta> outputs{};  ///< of the operator under decomposition
  /// Returns true if an operator with a rule that another rule names stays whole, given its node and whether it is of
  /// core ATen ('!'); null: only core operators stay.
  bool (*keeps)(const void* options, GraphModuleView graph, NodeId node, bool is_core) = nullptr;
  const void* options = nullptr;  ///< of `keeps`
  bool has_widened = false;       ///< a rule with '^' has widened an argument to float32 since the last reset

  /// Evaluates a rule for these arguments.
  [[nodiscard]] Item run(std::string_view row, std::vector<NamedItem> arguments);
  /// Calls a function, a rule or an operator.
  [[nodiscard]] Item call(std::string_view name, std::vector<NamedItem> arguments);
  /// A call whose arguments have the names of the operator's parameters.
  struct Call {
    std::string_view target;
    std::vector<NamedItem> arguments;
  };
  /// Evaluates the arguments of a call in the rule language ("elu(x, alpha / scale)"), with these names bound.
  [[nodiscard]] Call read_call(std::string_view text, std::span<const std::pair<std::string_view, Item>> names);
  [[nodiscard]] Item fail(const char* why) noexcept {
    if (emit.fault == nullptr) emit.fault = why;
    return {};
  }

  // -- queries for the functions of the language --------------------------------------------------------------------
  [[nodiscard]] bool is_tensor(const Item& item) {
    return item.is_value() && emit.module().values[item.value()].kind == ValueKind::tensor;
  }
  [[nodiscard]] bool is_number(const Item& item);
  [[nodiscard]] bool is_static(const Item& item) { return !item.is_value() && item.expr == no_id; }
  [[nodiscard]] ScalarType dtype(const Item& item);
  [[nodiscard]] std::int64_t rank(const Item& tensor) {
    return is_tensor(tensor) ? emit.module().values[tensor.value()].sizes.count : 0;
  }
  /// Returns an int, or the example of a symbolic one.
  [[nodiscard]] std::int64_t integer(const Item& item) { return emit.dim(item).value; }
  [[nodiscard]] double number(const Item& item);
  [[nodiscard]] bool truth(const Item& item);
  [[nodiscard]] bool equal(const Item& a, const Item& b);
  /// Returns whether a < b, or a <= b, at run time; nothing if it depends on the symbols.
  [[nodiscard]] std::optional<bool> less(const Item& a, const Item& b, bool or_equal);
  /// Returns the smaller or the larger of two: one of them, or a new symbolic number.
  [[nodiscard]] Item extreme(const Item& a, const Item& b, bool largest);
  /// Size d of a tensor: a number, or the value of a new sym_size node.
  [[nodiscard]] Item size(const Item& tensor, std::int64_t d);
  [[nodiscard]] std::vector<Dim> dims(const Item& list);
  [[nodiscard]] std::int64_t wrap(const Item& dim, std::int64_t rank);
  [[nodiscard]] Item binary(std::string_view op, const Item& a, const Item& b);

 private:
  static constexpr double unbounded = std::numeric_limits<double>::infinity();
  /// The range of a number at run time.
  struct Bounds {
    double low = -unbounded, high = unbounded;
  };

  [[nodiscard]] bool is_real(const Item& item) {
    return item.is(ArgumentKind::float_) ||
           (item.is_value() && emit.module().values[item.value()].kind == ValueKind::sym_float);
  }
  [[nodiscard]] Bounds bounds(const Item& item);
  /// The range of an expression; `most` limits the visited sub-expressions.
  [[nodiscard]] Bounds bounds(ExprId id, int& most);
  [[nodiscard]] Item call_operator(std::string_view target, std::string_view schema, std::vector<NamedItem> arguments);

  int depth_ = 0;
  std::map<std::string_view, Bounds> ranges_;
};

}  // namespace davit
