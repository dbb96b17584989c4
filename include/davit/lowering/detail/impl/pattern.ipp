// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "davit/core/real_from_chars.hpp"
#include "davit/lowering/detail/pattern.hpp"
#include "davit/ops/facts.hpp"
#include "davit/ops/operator_schema.hpp"
#include "davit/ops/operators.hpp"
#include "davit/program/graph_builder.hpp"
#include "davit/program/operators/movement.hpp"
#include "davit/program/operators/node_arguments.hpp"
#include "davit/program/same_sizes.hpp"

namespace davit::detail {

/// Reads the terms of a pattern.
class PatternParser {
 public:
  explicit PatternParser(const PatternRow& row) : rest_(row.pattern) { pattern_.row = &row; }

  [[nodiscard]] Pattern run() {
    const std::uint16_t root = term();
    if (pattern_.mistake == nullptr && pattern_.terms[root].kind != PatternTerm::Kind::call)
      fail("a pattern is operator(terms) => call");
    if (take("=>")) {
      skip();
      pattern_.call = rest_.substr(0, rest_.find(" if "));
      rest_.remove_prefix(pattern_.call.size());
      while (pattern_.call.ends_with(' ') || pattern_.call.ends_with('\n')) pattern_.call.remove_suffix(1);
    }
    if (take("if ")) pattern_.conditions = std::exchange(rest_, {});
    skip();
    if (!rest_.empty()) fail("a pattern has text after its call");
    if (pattern_.names.size() > PatternMatch::max_names) fail("a pattern has too many names");
    return std::move(pattern_);
  }

 private:
  [[nodiscard]] static bool is_word(char c) noexcept { return is_identifier({&c, 1}, "_."); }
  void fail(const char* why) noexcept {
    if (pattern_.mistake == nullptr) pattern_.mistake = why;
  }
  void skip() noexcept { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }
  [[nodiscard]] bool take(std::string_view token) noexcept {
    skip();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  [[nodiscard]] std::string_view word() noexcept {
    skip();
    std::size_t size = 0;
    while (size < rest_.size() && is_word(rest_[size])) ++size;
    const std::string_view found = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return found;
  }
  [[nodiscard]] std::uint8_t name_of(std::string_view name) {
    if (name.empty()) fail("a name is missing");
    const auto at = std::ranges::find(pattern_.names, name);
    const auto place = static_cast<std::uint8_t>(at - pattern_.names.begin());
    if (at == pattern_.names.end()) pattern_.names.push_back(name);
    return place;
  }
  /// Reads a number at the front of the text; nothing if there is none.
  [[nodiscard]] std::optional<double> number() {
    skip();
    const std::string_view before = rest_;
    const double sign = take("-") ? -1 : 1;
    double found = 0;
    if (!rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9') {
      rest_.remove_prefix(static_cast<std::size_t>(
          real_from_chars(rest_.data(), rest_.data() + rest_.size(), found).ptr - rest_.data()));
      return sign * found;
    }
    const std::string_view text = word();
    if (text == "inf") return sign * std::numeric_limits<double>::infinity();
    if (text == "true" || text == "false") return text == "true" ? 1 : 0;
    rest_ = before;
    return std::nullopt;
  }

  /// Reads the term at the front of the text; returns its index.
  [[nodiscard]] std::uint16_t term() {
    PatternTerm made;
    if (const std::optional<double> literal = number()) {
      made.kind = PatternTerm::Kind::literal;
      made.literal = *literal;
    } else if (take("#")) {
      made.kind = PatternTerm::Kind::number;
      made.name = name_of(word());
      if (take("=")) made.literal = number().value_or(0);
    } else if (take("@")) {
      made.kind = PatternTerm::Kind::dimension;
      made.name = name_of(word());
    } else {
      std::string_view first = word();
      if (take(":")) {
        made.name = name_of(first);
        first = word();
      }
      if (first == "once") {
        made.once = true;
        first = word();
      }
      made.optional = take("?");
      if (take("("))
        call(made, first);
      else if (first != "_")
        made = {.kind = PatternTerm::Kind::operand, .name = name_of(first), .parameters = {}};
    }
    pattern_.terms.push_back(std::move(made));
    return static_cast<std::uint16_t>(pattern_.terms.size() - 1);
  }
  void call(PatternTerm& made, std::string_view written) {
    if (written == "filled" || written == "transposed") {
      made.kind = written == "filled" ? PatternTerm::Kind::filled : PatternTerm::Kind::transposed;
      made.operand = term();
      if (!take(")")) fail("a call is not closed");
      return;
    }
    made.kind = PatternTerm::Kind::call;
    Name full = concat("aten.", written);
    if (written.find('.') == std::string_view::npos) full = concat(full, ".default");
    const std::string_view text = find_operator(full);
    if (text.empty()) return fail("a pattern names an operator without a schema");
    const OperatorSchema schema = parse_schema(text);
    made.target = schema.name;
    made.commutes = facts_of(schema.name).commutes;
    for (const SchemaParameter& p : schema.parameters)
      made.parameters.push_back({.name = p.name, .default_value = p.default_value});
    for (std::size_t position = 0; !take(")"); ++position) {
      if (take("...")) {
        made.rest = true;
        continue;
      }
      const std::string_view before = rest_;
      std::size_t at = schema.index_of(word());
      if (at == schema.parameters.size() || !take("=")) {
        rest_ = before;
        at = position;
      }
      if (at >= made.parameters.size()) return fail("a pattern passes an argument that the operator does not have");
      made.parameters[at].term = term();
      (void)take(",");
      if (pattern_.mistake != nullptr || rest_.empty()) return fail("a call is not closed");
    }
  }

  std::string_view rest_;
  Pattern pattern_;
};

Pattern parse_pattern(const PatternRow& row) { return PatternParser(row).run(); }

// -- terms ------------------------------------------------------------------------------------------------------------

/// The number of an argument, or of a default as the schema writes it.
[[nodiscard]] std::optional<double> number_of(const Argument* a, std::string_view default_value) {
  double found = 0;
  if (a != nullptr) return operators::NodeArguments::read_number(*a, found) ? std::optional(found) : std::nullopt;
  if (default_value == "True" || default_value == "False") return default_value == "True" ? 1 : 0;
  const char* const end = default_value.data() + default_value.size();
  const auto [ptr, error] = real_from_chars(default_value.data(), end, found);
  return error == std::errc() && ptr == end ? std::optional(found) : std::nullopt;
}
/// Compares integers exactly, so that x * 1.0000001 does not fit x * 1.
[[nodiscard]] bool is_literal(double found, double literal) noexcept {
  const bool exact = !std::isfinite(literal) || literal == std::trunc(literal);
  return exact ? found == literal : std::fabs(found - literal) <= 1e-6 * std::fabs(literal);
}

bool PatternMatch::bind(std::uint8_t name, const Argument& a) noexcept {
  if (name == PatternTerm::no_name) return true;
  if ((bound_ >> name & 1u) == 0) {
    bound_ |= 1u << name;
    captured_[name] = a;
    captured_[name].name = {};
    captured_[name].keyword = 0;
    return true;
  }
  return captured_[name].kind == a.kind && captured_[name].payload == a.payload &&
         (a.kind == ArgumentKind::value || a.kind == ArgumentKind::int_ || a.kind == ArgumentKind::float_ ||
          a.kind == ArgumentKind::bool_ || a.kind == ArgumentKind::none);
}

bool PatternMatch::fits(const PatternTerm& term, const Given& given) {
  const Argument* const a = given.argument;
  switch (term.kind) {
    case PatternTerm::Kind::any: return true;
    case PatternTerm::Kind::operand: return bind(term.name, a != nullptr ? *a : Argument{});
    case PatternTerm::Kind::number: {
      const std::optional<double> found = number_of(a, given.default_value);
      return found && bind(term.name, GraphBuilder::real(*found));
    }
    case PatternTerm::Kind::literal: {
      const std::optional<double> found = number_of(a, given.default_value);
      return found && is_literal(*found, term.literal);
    }
    case PatternTerm::Kind::dimension: {
      std::int64_t dim = 0;
      if (a == nullptr || given.first == no_id || !operators::NodeArguments::read_integer(*a, dim)) return false;
      const std::uint32_t rank = graph_.values[given.first].sizes.count;
      return rank != 0 && wrap_dim(dim, rank) && bind(term.name, GraphBuilder::integer(dim));
    }
    default: break;
  }
  const ValueId v = a != nullptr && a->is_value() ? a->value() : no_id;
  if (!term.optional) return v != no_id && fits_producer(term, v);
  const auto before = captured_;
  const std::uint32_t bound = bound_;
  if (v != no_id && fits_producer(term, v)) return true;
  captured_ = before;
  bound_ = bound;
  return fits_absent(term, given);
}

/// True if the node that makes a value fits the term.
bool PatternMatch::fits_producer(const PatternTerm& term, ValueId v) {
  const NodeId n = graph_.values[v].producer;
  if (n == no_id || n < facts_.first) return false;
  if (term.kind == PatternTerm::Kind::call && graph_.target(graph_.nodes[n]) != term.target) return false;
  if (term.once && !facts_.used_once(facts_.self, v)) return false;
  if (!bind(term.name, GraphBuilder::value(v))) return false;
  if (term.kind == PatternTerm::Kind::filled) return fits_filled(term, v);
  if (term.kind == PatternTerm::Kind::call) return fits_call(term, graph_.inputs(graph_.nodes[n]));
  operators::PermutationView permutation;
  if (operators::read_permutation(operators::NodeArguments(graph_, n), permutation) || permutation.rank != 2 ||
      permutation.from[0] != 1 || graph_.values[v].sizes.count != 2)
    return false;
  const Argument matrix = GraphBuilder::value(permutation.input);
  return fits(pattern_->terms[term.operand], {&matrix, {}, no_id});
}
/// Fits an optional call that is absent: the value is its first operand, and its numbers take their neutral values.
bool PatternMatch::fits_absent(const PatternTerm& term, const Given& given) {
  if (given.argument != nullptr && !bind(term.name, *given.argument)) return false;
  for (std::size_t i = 1; i < term.parameters.size(); ++i) {
    const std::uint16_t at = term.parameters[i].term;
    if (at != PatternTerm::no_term && !bind(pattern_->terms[at].name, GraphBuilder::real(pattern_->terms[at].literal)))
      return false;
  }
  return fits(pattern_->terms[term.parameters[0].term], given);
}
/// Fits a tensor that an operator fills with one number: full, ones, zeros.
bool PatternMatch::fits_filled(const PatternTerm& term, ValueId v) {
  const operators::NodeArguments call(graph_, graph_.values[v].producer);
  for (const operators::Parameter p : {operators::Parameter{"s", 0}, {"fill_value", 1}}) {
    const bool scalar = p.position == 0;
    if (scalar ? !call.is("aten.scalar_tensor.default")
               : !call.is("aten.full.default") && !call.is("aten.full_like.default"))
      continue;
    const Argument* const number = call.find(p);
    return number != nullptr && fits(pattern_->terms[term.operand], {number, {}, no_id});
  }
  return false;
}

bool PatternMatch::fits_call(const PatternTerm& term, std::span<const Argument> inputs) {
  std::array<const Argument*, 16> given{};
  ValueId first = no_id;
  std::size_t next = 0;
  for (const Argument& input : inputs) {
    const std::string_view name = graph_.str(input.name);
    while (next < term.parameters.size() && !name.empty() && term.parameters[next].name != name) ++next;
    if (next >= std::min(term.parameters.size(), given.size())) return false;
    if (first == no_id && input.is_value() && graph_.values[input.value()].kind == ValueKind::tensor)
      first = input.value();
    given[next++] = input.kind == ArgumentKind::none ? nullptr : &input;
  }
  const std::size_t count = std::min(term.parameters.size(), given.size());
  for (std::size_t i = 0; i < count && !term.rest; ++i) {
    const PatternTerm::Parameter& p = term.parameters[i];
    if (p.term != PatternTerm::no_term || given[i] == nullptr) continue;
    const std::optional<double> found = number_of(given[i], {});
    if (!found || found != number_of(nullptr, p.default_value)) return false;
  }
  const auto all = [&](bool swapped) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint16_t at = term.parameters[swapped && i < 2 ? 1 - i : i].term;
      if (at != PatternTerm::no_term && !fits(pattern_->terms[at], {given[i], term.parameters[i].default_value, first}))
        return false;
    }
    return true;
  };
  if (!term.commutes) return all(false);
  const auto before = captured_;
  const std::uint32_t bound = bound_;
  if (all(false)) return true;
  captured_ = before;
  bound_ = bound;
  return all(true);
}

bool PatternMatch::fits(const Pattern& pattern, std::span<const Argument> inputs, std::span<const Argument> outputs) {
  if (pattern.mistake != nullptr || outputs.empty() || !outputs[0].is_value()) return false;
  pattern_ = &pattern;
  outputs_ = outputs;
  bound_ = 0;
  if (!fits_call(pattern.terms.back(), inputs)) return false;
  std::string_view rest = pattern.conditions;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find("&&"), rest.size());
    if (!holds(rest.substr(0, end))) return false;
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  return true;
}

// -- conditions -------------------------------------------------------------------------------------------------------

namespace {

[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
  return text.substr(0, text.find_last_not_of(" \n") + 1);
}
/// The operands of "f(a, b)".
[[nodiscard]] std::pair<std::string_view, std::string_view> operands_of(std::string_view call) noexcept {
  const std::size_t open = call.find('('), close = call.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  const std::string_view list = call.substr(open + 1, close - open - 1);
  const std::size_t comma = std::min(list.find(','), list.size());
  return {trimmed(list.substr(0, comma)), trimmed(list.substr(std::min(comma + 1, list.size())))};
}

}  // namespace

const Argument* PatternMatch::named(std::string_view name) const noexcept {
  if (name == "out") return &outputs_[0];
  const auto at = static_cast<std::size_t>(std::ranges::find(pattern_->names, name) - pattern_->names.begin());
  return at < pattern_->names.size() && (bound_ >> at & 1u) != 0 ? &captured_[at] : nullptr;
}
ValueId PatternMatch::tensor(std::string_view name) const noexcept {
  const Argument* const a = named(name);
  return a != nullptr && a->is_value() && graph_.values[a->value()].kind == ValueKind::tensor ? a->value() : no_id;
}
/// rank(x), dtype(x), a number by its name, or a number; NaN if there is none.
double PatternMatch::quantity(std::string_view text) {
  if (text.find('(') != std::string_view::npos) {
    const ValueId v = tensor(operands_of(text).first);
    if (v == no_id) return std::numeric_limits<double>::quiet_NaN();
    return text.starts_with("rank") ? static_cast<double>(graph_.values[v].sizes.count)
                                    : static_cast<double>(graph_.values[v].dtype);
  }
  const Argument* const a = named(text);
  return number_of(a, text).value_or(std::numeric_limits<double>::quiet_NaN());
}
bool PatternMatch::holds(std::string_view predicate, std::string_view a, std::string_view b) {
  const ValueId x = tensor(a), y = tensor(b);
  if (predicate == "number")
    return named(a) != nullptr && (named(a)->kind == ArgumentKind::complex_ || number_of(named(a), {}).has_value());
  if (predicate == "alone")
    return std::ranges::all_of(outputs_.subspan(1), [&](const Argument& other) {
      return !other.is_value() || facts_.is_unused(facts_.self, other.value());
    });
  if (x == no_id) return false;
  if (predicate == "tensor") return true;
  const Value& value = graph_.values[x];
  const std::span<const Dim> sizes = graph_.dims_of(value.sizes), strides = graph_.dims_of(value.strides);
  if (predicate == "floating") return is_floating(value.dtype);
  if (predicate == "constant") return facts_.is_constant(facts_.self, x);
  if (predicate == "hidden") return facts_.is_hidden(facts_.self, x);
  if (predicate == "unit") {
    const double d = quantity(b);
    return d >= 0 && d < static_cast<double>(sizes.size()) && sizes[static_cast<std::size_t>(d)].is_static() &&
           sizes[static_cast<std::size_t>(d)].value == 1;
  }
  if (predicate == "fixed") {
    std::int64_t stride = 1;
    if (strides.size() != sizes.size()) return false;
    for (std::size_t d = sizes.size(); d-- > 0;)
      if (!sizes[d].is_static() || !strides[d].is_static() || (sizes[d].value > 1 && strides[d].value != stride) ||
          __builtin_mul_overflow(stride, std::max<std::int64_t>(sizes[d].value, 1), &stride))
        return false;
    return true;
  }
  if (y == no_id) return false;
  const Value& other = graph_.values[y];
  const std::span<const Dim> others = graph_.dims_of(other.sizes);
  if (predicate == "same") return value.dtype == other.dtype && same_sizes(graph_, sizes, others);
  return predicate == "vector" && sizes.size() == 1 && !others.empty() && same_size(graph_, sizes[0], others.back());
}
bool PatternMatch::holds(std::string_view condition) {
  for (const std::string_view token : {"==", "!=", ">", "<"}) {
    const std::size_t at = condition.find(token);
    if (at == std::string_view::npos) continue;
    const std::string_view left = trimmed(condition.substr(0, at)),
                           right = trimmed(condition.substr(at + token.size()));
    if (left.starts_with("sizes(")) {
      const ValueId x = tensor(operands_of(left).first), y = tensor(operands_of(right).first);
      return x != no_id && y != no_id &&
             same_sizes(graph_, graph_.dims_of(graph_.values[x].sizes), graph_.dims_of(graph_.values[y].sizes));
    }
    const double x = quantity(left), y = quantity(right);
    return token == "==" ? x == y : token == "!=" ? x < y || x > y : token == ">" ? x > y : x < y;
  }
  const std::string_view call = trimmed(condition);
  const auto [a, b] = operands_of(call);
  return holds(call.substr(0, call.find('(')), a, b);
}

}  // namespace davit::detail
