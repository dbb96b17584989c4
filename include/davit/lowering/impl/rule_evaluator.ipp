// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "davit/lowering/detail/infer_outputs.hpp"
#include "davit/lowering/detail/rule_functions.hpp"
#include "davit/lowering/detail/rule_reader.hpp"
#include "davit/lowering/rule_evaluator.hpp"
#include "davit/ops/operator_schema.hpp"
#include "davit/ops/operators.hpp"
#include "davit/ops/rules.hpp"

namespace davit {

// -- values ----------------------------------------------------------------------------------------------------------

bool RuleEvaluator::is_number(const Item& item) {
  if (item.is_value()) return !is_tensor(item);
  return item.is(ArgumentKind::int_) || item.is(ArgumentKind::float_) || item.is(ArgumentKind::bool_);
}
ScalarType RuleEvaluator::dtype(const Item& item) {
  if (is_tensor(item)) return emit.module().values[item.value()].dtype;
  if (item.is(ArgumentKind::scalar_type)) return static_cast<ScalarType>(item.argument.payload);
  if (item.is(ArgumentKind::float_) ||
      (item.is_value() && emit.module().values[item.value()].kind == ValueKind::sym_float))
    return ScalarType::float32;
  if (item.is(ArgumentKind::bool_)) return ScalarType::bool_;
  return is_number(item) ? ScalarType::int64 : ScalarType::undefined;
}
double RuleEvaluator::number(const Item& item) {
  return item.is(ArgumentKind::float_) ? item.argument.float_value() : static_cast<double>(integer(item));
}
bool RuleEvaluator::truth(const Item& item) {
  if (item.is_none()) return false;
  if (item.is_list()) return !item.items.empty();
  if (is_tensor(item) || item.is(ArgumentKind::string)) return true;
  return number(item) != 0;
}
bool RuleEvaluator::equal(const Item& a, const Item& b) {
  if (a.is(ArgumentKind::string) && b.is(ArgumentKind::string)) return emit.text(a) == emit.text(b);
  if (a.is_list() && b.is_list())
    return std::ranges::equal(a.items, b.items, [this](const Item& x, const Item& y) { return equal(x, y); });
  if (a.is_value() && b.is_value() && a.value() == b.value()) return true;
  if (is_number(a) && is_number(b)) return number(a) == number(b);
  if (is_number(a) && b.is(ArgumentKind::scalar_type)) return a.argument.payload == b.argument.payload;
  return a.argument.kind == b.argument.kind && a.argument.payload == b.argument.payload;
}
RuleEvaluator::Bounds RuleEvaluator::bounds(ExprId id, int& most) {
  if (most-- <= 0) return {};
  const Expr e = emit.module().exprs[id];
  Bounds out;
  if (e.op == ExprOp::integer) {
    out = {static_cast<double>(e.value), static_cast<double>(e.value)};
  } else if (e.op == ExprOp::symbol) {
    if (const auto known = ranges_.find(emit.view().str(e.name)); known != ranges_.end()) out = known->second;
  } else if (e.op == ExprOp::add || e.op == ExprOp::mul || e.op == ExprOp::min || e.op == ExprOp::max ||
             e.op == ExprOp::floor_div || e.op == ExprOp::python_mod || e.op == ExprOp::mod) {
    const Bounds a = bounds(e.a, most), b = bounds(e.b, most);
    if (e.op == ExprOp::add) out = {a.low + b.low, a.high + b.high};
    if (e.op == ExprOp::min) out = {std::min(a.low, b.low), std::min(a.high, b.high)};
    if (e.op == ExprOp::max) out = {std::max(a.low, b.low), std::max(a.high, b.high)};
    if (e.op == ExprOp::mul) {
      const double corners[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
      const bool known = std::ranges::none_of(corners, [](double x) { return std::isnan(x); });
      if (known)
        out = {*std::ranges::min_element(corners), *std::ranges::max_element(corners)};
      else if (a.low >= 0 && b.low >= 0)
        out.low = a.low * b.low;  // with infinite bounds, where 0 * infinity is NaN
    }
    if (e.op == ExprOp::floor_div && b.low > 0)
      out = {std::floor(a.low / (a.low >= 0 ? b.high : b.low)), std::floor(a.high / (a.high >= 0 ? b.low : b.high))};
    if ((e.op == ExprOp::python_mod || e.op == ExprOp::mod) && b.low > 0) out = {0, b.high - 1};
  }
  // larger bounds are infinite: doubles above 2^52 skip integers
  constexpr double whole = 0x1p52;
  if (!(out.low >= -whole)) out.low = -unbounded;
  if (!(out.high <= whole)) out.high = unbounded;
  return {std::min(out.low, whole), std::max(out.high, -whole)};
}
RuleEvaluator::Bounds RuleEvaluator::bounds(const Item& item) {
  if (is_static(item)) return {number(item), number(item)};
  if (is_real(item)) return {};
  const Dim size = emit.dim(item);
  int most = 256;
  Bounds out = size.is_static() ? Bounds{static_cast<double>(size.value), static_cast<double>(size.value)}
                                : bounds(size.expr, most);
  const NodeId producer = item.is_value() ? emit.module().values[item.value()].producer : no_id;
  if (producer != no_id && emit.view().target(emit.module().nodes[producer]) == "aten.sym_size.int")
    out.low = std::max(out.low, 0.0);
  return out;
}
std::optional<bool> RuleEvaluator::less(const Item& a, const Item& b, bool or_equal) {
  if (is_static(a) && is_static(b)) return or_equal ? number(a) <= number(b) : number(a) < number(b);
  if (a.is_value() && b.is_value() && a.value() == b.value() && !is_real(a)) return or_equal;
  const Bounds x = bounds(a), y = bounds(b);
  if (or_equal ? x.high <= y.low : x.high < y.low) return true;
  if (or_equal ? x.low > y.high : x.low >= y.high) return false;
  return std::nullopt;
}
Item RuleEvaluator::extreme(const Item& a, const Item& b, bool largest) {
  if (!is_number(a) || !is_number(b)) return fail("arithmetic on what is no number");
  if (const std::optional<bool> first = largest ? less(b, a, true) : less(a, b, true)) return *first ? a : b;
  const std::string_view target = largest ? "torch.sym_max" : "torch.sym_min";
  const NamedItem inputs[] = {{"a", a}, {"b", b}};
  if (is_real(a) || is_real(b)) return emit.symbolic(target, inputs, ValueKind::sym_float, {});
  const Dim result = emit.arithmetic(largest ? ExprOp::max : ExprOp::min, emit.dim(a), emit.dim(b));
  if (!a.is_value() && !b.is_value()) return emit.item(result);
  return emit.symbolic(target, inputs, ValueKind::sym_int, result);
}
Item RuleEvaluator::size(const Item& tensor, std::int64_t d) {
  if (!is_tensor(tensor)) return fail("the size of a value that is not a tensor");
  const std::int64_t dims = rank(tensor);
  if (d < 0) d += dims;
  if (d < 0 || d >= dims) return fail("a dimension out of range");
  const Dim size = emit.sizes(tensor.value())[static_cast<std::size_t>(d)];
  if (size.is_static()) return Item::integer(size.value);
  const NamedItem inputs[] = {{"self", tensor}, {"dim", Item::integer(d)}};
  return emit.symbolic("aten.sym_size.int", inputs, ValueKind::sym_int, size);
}
std::vector<Dim> RuleEvaluator::dims(const Item& list) {
  std::vector<Dim> out;
  if (!list.is_list()) return {emit.dim(list)};
  for (const Item& each : list.items) out.push_back(emit.dim(each));
  return out;
}
std::int64_t RuleEvaluator::wrap(const Item& dim, std::int64_t rank) {
  const std::int64_t d = integer(dim);
  const std::int64_t of = std::max<std::int64_t>(rank, 1);
  if (d < -of || d >= of) {
    (void)fail("a dimension out of range");
    return 0;
  }
  return d < 0 ? d + of : d;
}

/// Evaluates an operator of the language, on numbers, sizes or tensors.
Item RuleEvaluator::binary(std::string_view op, const Item& a, const Item& b) {
  if (op == "==" || op == "!=") {
    const bool tensors = is_tensor(a) && (is_tensor(b) || is_number(b));
    if (!tensors) return Item::boolean(equal(a, b) == (op == "=="));
  }
  if (a.is_list() && b.is_list() && op == "+") {
    Item out = a;
    out.items.insert(out.items.end(), b.items.begin(), b.items.end());
    return out;
  }
  struct Operator {
    std::string_view token, tensors, numbers;
  };
  static constexpr Operator operators[] = {{"+", "aten.add.Tensor", "add"},
                                           {"-", "aten.sub.Tensor", "sub"},
                                           {"*", "aten.mul.Tensor", "mul"},
                                           {"/", "aten.div.Tensor", "truediv"},
                                           {"//", "aten.div.Tensor_mode", "floordiv"},
                                           {"%", "aten.remainder", "mod"},
                                           {"==", "aten.eq", ""},
                                           {"!=", "aten.ne", ""},
                                           {"<", "aten.lt", ""},
                                           {"<=", "aten.le", ""},
                                           {">", "aten.gt", ""},
                                           {">=", "aten.ge", ""}};
  const Operator& row = *std::ranges::find(operators, op, &Operator::token);
  if (is_tensor(a) || is_tensor(b)) {
    if (!(is_tensor(a) || is_number(a)) || !(is_tensor(b) || is_number(b)))
      return fail("arithmetic on what is no number");
    if (!is_tensor(a) && row.tensors.find('.', 5) == std::string_view::npos)  // a comparison with a number on the left
      return binary(op == "<" ? ">" : op == "<=" ? ">=" : op == ">" ? "<" : op == ">=" ? "<=" : op, b, a);
    if (row.tensors.find('.', 5) == std::string_view::npos)
      return call(concat(row.tensors, is_tensor(b) ? ".Tensor" : ".Scalar"), {{"", a}, {"", b}});
    if (op == "//")
      return call(
          row.tensors,
          {{"", a}, {"", b}, {"rounding_mode", Item{.argument = {.kind = ArgumentKind::string}, .text = "floor"}}});
    return call(row.tensors, {{"", a}, {"", b}});
  }
  if (!is_number(a) || !is_number(b)) return fail("arithmetic on what is no number");
  const bool comparison = row.numbers.empty();
  if (comparison) {
    const std::optional<bool> holds =
        op.starts_with('<') ? less(a, b, op.ends_with('=')) : less(b, a, op.ends_with('='));
    return holds ? Item::boolean(*holds) : fail("a decomposition asks which of two symbolic sizes is larger");
  }
  const bool reals = a.is(ArgumentKind::float_) || b.is(ArgumentKind::float_) || op == "/";
  if (!a.is_value() && !b.is_value() && reals) {
    const double x = number(a), y = number(b);
    return Item::of(GraphBuilder::real(op == "+"    ? x + y
                                       : op == "-"  ? x - y
                                       : op == "*"  ? x * y
                                       : op == "/"  ? x / y
                                       : op == "//" ? std::floor(x / y)
                                                    : x - y * std::floor(x / y)));
  }
  const NamedItem inputs[] = {{"a", a}, {"b", b}};
  if (reals) return emit.symbolic(concat("_operator.", row.numbers), inputs, ValueKind::sym_float, {});
  const Dim x = emit.dim(a), y = emit.dim(b);
  const ExprOp as = op == "*"    ? ExprOp::mul
                    : op == "//" ? ExprOp::floor_div
                    : op == "%"  ? ExprOp::python_mod
                                 : ExprOp::add;
  const Dim result = emit.arithmetic(as, x, op == "-" ? emit.arithmetic(ExprOp::mul, {-1}, y) : y);
  if (result.is_static()) return Item::integer(result.value);
  if (result.expr == x.expr && result.value == x.value) return a;
  if (result.expr == y.expr && result.value == y.value) return b;
  if (!a.is_value() && !b.is_value()) return emit.item(result);  // an output's size without a value
  return emit.symbolic(concat("_operator.", row.numbers), inputs, ValueKind::sym_int, result);
}

// -- calls -----------------------------------------------------------------------------------------------------------

Item RuleEvaluator::call(std::string_view name, std::vector<NamedItem> arguments) {
  if (emit.fault != nullptr) return {};
  if (const detail::RuleFunctionRow* function = detail::find_rule_function(name)) {
    if (arguments.size() != function->arguments) return fail("a function has another number of arguments");
    std::vector<Item> plain;
    for (NamedItem& each : arguments) plain.push_back(std::move(each.item));
    return function->function(*this, plain);
  }
  const bool is_whole = name.starts_with("aten.") || name.starts_with("davit.") || name.starts_with('$');
  Name full = is_whole ? Name::own(name) : concat("aten.", name);
  if (!name.starts_with('$') && full.view().find('.', 5) == std::string_view::npos) full = concat(full, ".default");
  bool complex = false;
  const auto look = [&](const Item& item) { complex = complex || (is_tensor(item) && is_complex(dtype(item))); };
  for (const NamedItem& each : arguments) {
    look(each.item);
    for (const Item& inner : each.item.items) look(inner);
  }
  std::string_view rule = complex ? find_complex_rule(full) : std::string_view{};
  if (rule.empty()) rule = find_decomposition(full);
  if (!rule.empty()) {
    const std::size_t end = rule.find_first_of("(=");
    if (rule[end] == '=') return call(rule.substr(end + 2), std::move(arguments));
    const bool is_core = is_rule_of_core(rule);
    if (const std::string_view schema = keeps == nullptr && !is_core ? std::string_view{} : find_operator(full);
        !schema.empty() && !schema.ends_with("[]")) {  // rules make lists of tensors
      const GraphEmitter::Mark mark = emit.mark();
      Item whole = call_operator(operator_name(schema), schema, arguments);
      if (emit.fault == nullptr &&
          (keeps == nullptr || keeps(options, emit.view(), static_cast<NodeId>(emit.mark().nodes - 1), is_core)))
        return whole;
      emit.roll_back(mark);
      emit.fault = nullptr;
    }
    if (depth_ >= 32) return fail("rules are nested too deeply");
    const GraphEmitter::Mark mark = emit.mark();
    std::vector<NamedItem> parts = arguments;
    if (!name.starts_with('$'))
      std::erase_if(parts, [](const NamedItem& each) { return each.name == "sizes" || each.name == "as"; });
    ++depth_;
    Item result = run(rule, std::move(parts));
    --depth_;
    if (emit.fault == nullptr || !is_core) return result;
    emit.roll_back(mark);  // a core operator stays if its rule does not fit
    emit.fault = nullptr;
  }
  const std::string_view schema = find_operator(full);
  if (schema.empty()) return fail("a rule names an operator that davit does not know");
  return call_operator(operator_name(schema), schema, std::move(arguments));
}

Item RuleEvaluator::run(std::string_view row, std::vector<NamedItem> arguments) {
  detail::RuleReader reader(*this, row, row.find('(') + 1);
  std::size_t position = 0;
  std::vector<bool> used(arguments.size(), false);
  for (; !reader.take(")"); ++position) {
    const std::string_view name = reader.identifier();
    Item value;
    const bool has_default = reader.take("=");
    if (has_default) value = reader.primary();
    std::size_t given = arguments.size();
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (arguments[i].name == name || (arguments[i].name.empty() && i == position)) given = i;
    if (given < arguments.size()) {
      value = std::move(arguments[given].item);
      used[given] = true;
    } else if (!has_default) {
      return fail("an argument is missing");
    }
    reader.define(name, std::move(value));
    (void)reader.take(",");
    if (emit.fault != nullptr || reader.is_at_end()) return fail("a rule's parameters cannot be read");
  }
  for (std::size_t i = 0; i < used.size(); ++i)
    if (!used[i] && !arguments[i].item.is_none()) {
      const std::string_view n = arguments[i].name;  // arguments about memory change no result
      if (n != "layout" && n != "device" && n != "pin_memory" && n != "memory_format" && n != "non_blocking" &&
          n != "copy" && n != "cudnn_enable" && n != "cudnn_enabled")
        return fail("an argument that the rule does not know");
    }
  if (reader.take("^"))
    reader.for_each_variable([&](Item& variable) {
      const auto widen = [&](Item& item) {
        if (!is_tensor(item) || (dtype(item) != ScalarType::float16 && dtype(item) != ScalarType::bfloat16)) return;
        has_widened = true;
        item = call("aten._to_copy.default",
                    {{"", item}, {"dtype", Item::of(GraphBuilder::scalar_type(ScalarType::float32))}});
      };
      widen(variable);
      for (Item& each : variable.items) widen(each);
    });
  (void)reader.take("!");
  if (!reader.take(":")) return fail("a rule cannot be read");
  return reader.body();
}

RuleEvaluator::Call RuleEvaluator::read_call(std::string_view text,
                                             std::span<const std::pair<std::string_view, Item>> names) {
  detail::RuleReader reader(*this, text);
  for (const auto& [name, item] : names) reader.define(name, item);
  Name full = concat("aten.", reader.identifier());
  if (full.view().find('.', 5) == std::string_view::npos) full = concat(full, ".default");
  Call call{.target = operator_name(find_decomposition(full)), .arguments = {}};
  const std::string_view schema_text = find_operator(full);
  const OperatorSchema schema = schema_text.empty() ? OperatorSchema{} : parse_schema(schema_text);
  if (!schema_text.empty()) call.target = schema.name;
  if (call.target.empty() || !reader.take("(")) {
    (void)fail("a pattern makes no call of an operator");
    return call;
  }
  call.arguments = reader.arguments_of();
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    if (call.arguments[i].name.empty() && i < schema.parameters.size())
      call.arguments[i].name = schema.parameters[i].name;
  return call;
}

Item RuleEvaluator::call_operator(std::string_view target, std::string_view text, std::vector<NamedItem> arguments) {
  const OperatorSchema schema = parse_schema(text);
  std::vector<NamedItem> inputs;
  std::vector<TensorMeta> metas;
  Item sizes, types;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    NamedItem& each = arguments[i];
    if (each.name == "sizes")
      sizes = std::move(each.item);
    else if (each.name == "as")
      types = std::move(each.item);
    else {
      if (each.name.empty() && i < schema.parameters.size()) each.name = schema.parameters[i].name;
      if (each.name.empty() || schema.index_of(each.name) == schema.parameters.size())
        return fail("a rule passes an argument that the operator does not have");
      inputs.push_back(std::move(each));
    }
  }
  // drops arguments that equal their defaults, except the dtypes of operators that need them
  std::erase_if(inputs, [&](const NamedItem& each) {
    const SchemaParameter& p = schema.parameters[schema.index_of(each.name)];
    return p.has_default && each.item.is_none() && p.default_value == "None" && p.keyword_only;
  });
  if (!sizes.is_none()) {
    const bool several = sizes.is_list() && !sizes.items.empty() && sizes.items[0].is_list();
    const auto one = [&](const Item& list, const Item& type) {
      TensorMeta made{.dtype = dtype(type), .sizes = dims(list)};
      if (type.is_none()) made.dtype = outputs.empty() ? ScalarType::undefined : outputs[0].dtype;
      metas.push_back(std::move(made));
    };
    if (!several) one(sizes, types);
    for (std::size_t i = 0; several && i < sizes.items.size(); ++i)
      one(sizes.items[i], types.is_list() && i < types.items.size() ? types.items[i] : types);
  } else if (!detail::infer_outputs(*this, target, inputs, metas)) {
    metas = outputs;
    if (metas.size() > schema.returns) metas.resize(schema.returns);
  }
  if (!types.is_none() && !types.is_list() && !metas.empty()) metas[0].dtype = dtype(types);
  if (metas.size() != std::max<std::size_t>(schema.returns, 1))
    return fail("the sizes of an operator's outputs are not known");
  if (emit.fault != nullptr) return {};
  return emit.call(target, inputs, metas, schema.returns > 1);
}

}  // namespace davit
