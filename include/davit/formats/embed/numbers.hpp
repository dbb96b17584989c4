// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "davit/core/error.hpp"
#include "davit/core/name.hpp"
#include "davit/formats/embed/refusals.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/program/graph.hpp"
#include "davit/program/guard_inputs.hpp"
#include "davit/program/guard_values.hpp"
#include "davit/program/symbols.hpp"

namespace davit::formats {

/// The message of a model's assertion, behind ": "; empty without one.
[[nodiscard]] inline Name assertion_text(GraphModuleView graph, const Node& node) {
  for (const Argument& a : graph.inputs(node))
    if (a.kind == ArgumentKind::string) return concat(": ", graph.string(a));
  return {};
}

/// Evaluates an assertion about numbers, an `aten._assert_*` or `aten.sym_constrain_range*` node, for these values of
/// the symbolic numbers; nothing if it is about data.
[[nodiscard]] inline std::optional<bool> assertion_holds(GraphModuleView graph, const Node& node,
                                                         const std::vector<std::int64_t>& symbols) {
  const std::span<const Argument> in = graph.inputs(node);
  if (in.empty()) return std::nullopt;
  if (graph.target(node) == "aten._assert_tensor_metadata.default") {
    const Argument* dtype = graph.find_input(node, "dtype");
    const std::ptrdiff_t given =
        std::ranges::count_if(in, [](const Argument& a) { return a.kind != ArgumentKind::none; });
    if (!in[0].is_value() || dtype == nullptr || dtype->kind != ArgumentKind::scalar_type || given != 2)
      return std::nullopt;
    return static_cast<ScalarType>(dtype->payload) == graph.values[in[0].value()].dtype;
  }
  std::int64_t number = in[0].payload;
  if (in[0].is_value()) {
    const ValueKind kind = graph.values[in[0].value()].kind;
    if (kind != ValueKind::sym_int && kind != ValueKind::sym_bool) return std::nullopt;
    number = symbols[in[0].value()];
  } else if (in[0].kind != ArgumentKind::int_ && in[0].kind != ArgumentKind::bool_) {
    return std::nullopt;
  }
  if (graph.target(node) == "aten._assert_scalar.default") return number != 0;
  const auto bound = [&](std::string_view name, std::int64_t otherwise) {
    const Argument* a = graph.find_input(node, name);
    return a != nullptr && a->kind == ArgumentKind::int_ ? a->payload : otherwise;
  };
  return number >= bound("min", INT64_MIN) && number <= bound("max", INT64_MAX);
}

/// The sizes and symbolic values of a program, bound to numbers for an embedded program.
class EmbedNumbers {
 public:
  using Symbols = std::vector<std::pair<std::string, std::int64_t>>;

  /// `symbols`: values of the program's symbols; names that the program lacks are ignored.
  EmbedNumbers(const ExportedProgram& program, Symbols symbols)
      : program_(program), graph_(program.view()), given_(std::move(symbols)) {}

  [[nodiscard]] bool has(std::string_view symbol) const {
    for (const Expr& e : graph_.exprs)
      if (e.op == ExprOp::symbol && graph_.str(e.name) == symbol) return true;
    return false;
  }
  /// Lists the symbols: "its symbols are s0, s1".
  [[nodiscard]] Name symbol_list() const {
    Name list;
    for (const Expr& e : graph_.exprs)
      if (e.op == ExprOp::symbol) list = concat(list, list.empty() ? "its symbols are " : ", ", graph_.str(e.name));
    return list.empty() ? Name("it has none") : list;
  }
  /// Computes the numbers. Errors: symbols without a value or out of range, failing assertions, tensors that are too
  /// large. O(size of the program).
  [[nodiscard]] Result<void> bind() {
    if (Result<void> bound = bind_symbols(); !bound) return bound;
    return check_assertions();
  }
  /// Checks the program's guards for the numbers of bind(): tensors are contiguous, at the beginning of their memory.
  /// Errors: the first failing guard. O(size of the guards).
  [[nodiscard]] Result<void> check_guards() const {
    const Guards& guards = program_.guards;
    if (guards.empty()) return {};
    if (!guards_fit(guards, guard_inputs(program_)))
      return refuse_embedding("its guards", "they need values that no user input has", "verify the program");
    std::vector<PythonNumber> values(guards.nodes.size());
    const std::vector<std::uint32_t> inputs = user_inputs();
    for (std::size_t i = 0; i < guards.nodes.size(); ++i)
      if (is_guard_leaf(guards.nodes[i].op)) values[i] = leaf(guards.nodes[i], inputs[guards.nodes[i].a]);
    evaluate_guards(guards.nodes, values);
    const std::size_t guard = first_violation(guards, values);
    if (guard == guards.size()) return {};
    const GuardViolation broken = describe_violation(guards, guard, guard_names(program_), values);
    std::unexpected<Error> error =
        refuse_embedding("the user inputs", broken.what,
                         "give other numbers by --dim: the model was exported for those only for which it holds");
    error.error().code = ErrorCode::invalid_shape;
    return error;
  }
  [[nodiscard]] const std::vector<std::int64_t>& dims() const noexcept { return dims_; }  ///< per dim of the graph
  /// per value; the bits of a float, NaN if unknown
  [[nodiscard]] const std::vector<std::int64_t>& symbols() const noexcept { return symbols_; }
  /// The model's assertions about data that no step checks.
  [[nodiscard]] const std::vector<std::string>& unchecked() const noexcept { return unchecked_; }
  [[nodiscard]] std::span<const std::int64_t> sizes_of(const Value& value) const noexcept {
    return std::span(dims_).subspan(value.sizes.first, value.sizes.count);
  }

 private:
  /// Per user input, the index of the graph input.
  [[nodiscard]] std::vector<std::uint32_t> user_inputs() const {
    std::vector<std::uint32_t> all;
    for (std::uint32_t i = 0; i < program_.signature.input_specs.size(); ++i)
      if (kind(program_.signature.input_specs[i]) == InputKind::user_input) all.push_back(i);
    return all;
  }
  /// The value of a guard's leaf for input `i`.
  [[nodiscard]] PythonNumber leaf(const GuardNode& node, std::uint32_t i) const {
    const Argument& argument = graph_.args(graph_.root().inputs)[i];
    if (node.op == GuardOp::input && !argument.is_value()) {
      const ArgumentSpec given = arg(program_.signature.input_specs[i]);
      const auto* constant = std::get_if<ConstantArgument>(&given);
      if (constant == nullptr) return {};
      if (const auto* number = std::get_if<std::int64_t>(&constant->value)) return PythonNumber::of(*number);
      if (const auto* number = std::get_if<double>(&constant->value)) return PythonNumber::of(*number);
      if (const auto* truth = std::get_if<bool>(&constant->value)) return PythonNumber::of(*truth);
      return {};
    }
    if (!argument.is_value()) return {};
    const ValueId v = argument.value();
    const std::span<const std::int64_t> sizes = sizes_of(graph_.values[v]);
    switch (node.op) {
      case GuardOp::input:
        if (graph_.values[v].kind == ValueKind::sym_int) return PythonNumber::of(symbols_[v]);
        if (graph_.values[v].kind == ValueKind::sym_bool) return PythonNumber::of(symbols_[v] != 0);
        return {};
      case GuardOp::size: return node.b < sizes.size() ? PythonNumber::of(sizes[node.b]) : PythonNumber{};
      case GuardOp::stride: {
        std::int64_t stride = 1;
        for (std::size_t d = sizes.size(); d-- > node.b + std::size_t{1};) stride *= sizes[d] == 0 ? 1 : sizes[d];
        return PythonNumber::of(stride);
      }
      default: return PythonNumber::of(std::int64_t{0});
    }
  }
  /// Binds every size and symbolic number.
  [[nodiscard]] Result<void> bind_symbols() {
    SymbolValues values(graph_.exprs);
    for (ExprId e = 0; e < graph_.exprs.size(); ++e)
      for (const auto& [symbol, number] : given_)
        if (graph_.exprs[e].op == ExprOp::symbol && graph_.str(graph_.exprs[e].name) == symbol)
          (void)values.bind(e, number);
    if (Result<void> inside = check_ranges(); !inside) return inside;
    if (Result<void> sized = check_sources(); !sized) return sized;
    values.settle();
    dims_.assign(graph_.dims.size(), 0);
    symbols_.assign(graph_.values.size(), 0);
    for (ValueId v = 0; v < graph_.values.size(); ++v) {
      const Value& value = graph_.values[v];
      const bool symbolic = value.kind == ValueKind::sym_int || value.kind == ValueKind::sym_bool;
      if (symbolic && value.expr == no_id) symbols_[v] = value.constant;
      if (symbolic && value.expr != no_id) {
        const std::optional<std::int64_t> number = values.value(value.expr);
        if (!number) return unbound(v);
        symbols_[v] = *number;
      }
      if (value.kind == ValueKind::sym_float) symbols_[v] = std::bit_cast<std::int64_t>(unknown);
      for (std::uint32_t d = value.sizes.first; d < value.sizes.first + value.sizes.count; ++d) {
        const std::optional<std::int64_t> number = values.value(graph_.dims[d]);
        if (!number) return unbound(v);
        if (*number < 0 || *number > INT32_MAX)
          return refuse_embedding(concat("value ", graph_.name(v)), "a size of it does not fit 31 bits", "");
        dims_[d] = *number;
      }
      if (const std::int64_t count = checked_numel(sizes_of(value), INT32_MAX / 16); count < 0)
        return refuse_embedding(concat("value ", graph_.name(v)),
                                "its elements are more than a static program can have", "");
    }
    for (const Node& node : graph_.nodes)
      for (const Argument& output : graph_.outputs(node))
        if (output.is_value() && graph_.values[output.value()].kind == ValueKind::sym_float)
          symbols_[output.value()] = std::bit_cast<std::int64_t>(computed(node));
    return {};
  }
  /// The result of arithmetic on known numbers, as in Python; NaN if it is unknown.
  [[nodiscard]] double computed(const Node& node) const {
    const std::string_view target = graph_.target(node);
    const std::span<const Argument> arguments = graph_.inputs(node);
    const double a = arguments.empty() ? unknown : known(arguments[0]);
    if (arguments.size() == 1) return target == "torch.sym_float" ? a : target == "_operator.neg" ? -a : unknown;
    const double b = arguments.size() == 2 ? known(arguments[1]) : unknown;
    if (target == "_operator.truediv") return b == 0 ? unknown : a / b;
    if (target == "_operator.mul") return a * b;
    if (target == "_operator.add") return a + b;
    return target == "_operator.sub" ? a - b : unknown;
  }
  [[nodiscard]] double known(const Argument& a) const {
    if (a.kind == ArgumentKind::int_) return static_cast<double>(a.payload);
    if (a.kind == ArgumentKind::float_) return a.float_value();
    if (!a.is_value()) return unknown;
    const ValueKind kind = graph_.values[a.value()].kind;
    return kind == ValueKind::sym_int     ? static_cast<double>(symbols_[a.value()])
           : kind == ValueKind::sym_float ? std::bit_cast<double>(symbols_[a.value()])
                                          : unknown;
  }
  /// Refuses symbols without an input: they depend on data, and may differ between runs.
  [[nodiscard]] Result<void> check_sources() const {
    const std::vector<std::uint8_t> is_given = given_by_inputs();
    for (ExprId e = 0; e < graph_.exprs.size(); ++e)
      for (const auto& [symbol, number] : given_)
        if (graph_.exprs[e].op == ExprOp::symbol && is_given[e] == 0 && graph_.str(graph_.exprs[e].name) == symbol)
          return depends_on_data(concat("symbol ", symbol));
    return {};
  }
  [[nodiscard]] static std::unexpected<Error> depends_on_data(const Name& where, std::string_view it = "it") {
    return refuse_embedding(where, concat(it, " depends on data, so that no number stands for it"),
                            "export the model without operators whose sizes depend on data");
  }
  /// Per expression: 1 if its value follows from the inputs.
  [[nodiscard]] std::vector<std::uint8_t> given_by_inputs() const {
    std::vector<std::uint8_t> is_given(graph_.exprs.size(), 0);
    for (const Argument& a : graph_.args(graph_.root().inputs)) {
      if (!a.is_value()) continue;
      const Value& value = graph_.values[a.value()];
      if (value.expr != no_id) is_given[value.expr] = 1;
      for (const Dim& dim : graph_.dims_of(value.sizes))
        if (!dim.is_static()) is_given[dim.expr] = 1;
    }
    for (ExprId e = static_cast<ExprId>(graph_.exprs.size()); e-- > 0;) {
      const Expr& expr = graph_.exprs[e];
      for (const ExprId operand : {expr.a, expr.b, expr.op == ExprOp::rational ? no_id : expr.c})
        if (operand != no_id && is_given[e] != 0) is_given[operand] = 1;
    }
    return is_given;
  }

  /// Checks the model's assertions about numbers, and lists those about data that no step checks.
  [[nodiscard]] Result<void> check_assertions() {
    for (NodeId n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      const std::string_view target = graph_.target(node);
      if (!target.starts_with("aten._assert_") && !target.starts_with("aten.sym_constrain_range")) continue;
      if (is_static_assertion(target)) continue;  // becomes a step
      const std::optional<bool> holds = assertion_holds(graph_, node, symbols_);
      const Name where = concat("node ", n, " (", target, ")");
      if (holds && !*holds)
        return refuse_embedding(where, concat("an assertion of the model does not hold", assertion_text(graph_, node)),
                                "give other numbers by --dim");
      if (!holds) unchecked_.push_back(std::string(concat(where, assertion_text(graph_, node)).view()));
    }
    return {};
  }
  [[nodiscard]] Result<void> check_ranges() const {
    for (const auto& [symbol, number] : given_)
      for (const RangeConstraint& range : program_.range_constraints)
        if (range.symbol == symbol && ((range.min && number < *range.min) || (range.max && number > *range.max)))
          return refuse_embedding(concat("symbol ", symbol), concat("it cannot be ", number),
                                  "give a number in the program's range");
    return {};
  }
  [[nodiscard]] std::unexpected<Error> unbound(ValueId v) const {
    const std::vector<std::uint8_t> is_given = given_by_inputs();
    const Value& value = graph_.values[v];
    const auto is_data = [&](ExprId e) {
      return e != no_id && graph_.exprs[e].op == ExprOp::symbol && is_given[e] == 0;
    };
    bool data = is_data(value.expr);
    for (const Dim& dim : graph_.dims_of(value.sizes)) data = data || (!dim.is_static() && is_data(dim.expr));
    if (data)
      return depends_on_data(concat("value ", graph_.name(v)), value.kind == ValueKind::tensor ? "its size" : "it");
    return refuse_embedding(concat("value ", graph_.name(v)), "its size is a symbol",
                            concat("give numbers by --dim SYMBOL=N; ", symbol_list()));
  }

  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  const ExportedProgram& program_;
  GraphModuleView graph_;
  Symbols given_;
  std::vector<std::int64_t> dims_;
  std::vector<std::int64_t> symbols_;
  std::vector<std::string> unchecked_;
};

}  // namespace davit::formats
