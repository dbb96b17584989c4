// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/ops/pattern_row.hpp"
#include "davit/program/graph.hpp"

namespace davit::detail {

/// A term of a pattern: "once sigmoid(x)".
struct PatternTerm {
  enum class Kind : std::uint8_t { any, operand, number, dimension, literal, call, filled, transposed };
  static constexpr std::uint8_t no_name = 255;

  /// A parameter of the call's operator, and the term for its argument.
  struct Parameter {
    std::string_view name;
    std::string_view default_value{};
    std::uint16_t term = no_term;
  };
  static constexpr std::uint16_t no_term = 65535;

  Kind kind = Kind::any;
  std::uint8_t name = no_name;  ///< index into Pattern::names
  bool once = false;
  bool optional = false;                ///< a call that may be absent: its first operand alone fits too
  bool rest = false;                    ///< the remaining arguments are not checked
  bool commutes = false;                ///< the first two operands fit in either order
  double literal = 0;                   ///< of a literal; of a number: its value where an optional call is absent
  std::string_view target{};            ///< of a call: "aten.mul.Tensor"
  std::uint16_t operand = no_term;      ///< of a filled tensor the number, of a transposed tensor the matrix
  std::vector<Parameter> parameters{};  ///< of a call, in the order of its schema
};

/// A parsed PatternRow: see parse_pattern.
struct Pattern {
  const PatternRow* row = nullptr;
  std::vector<PatternTerm> terms{};  ///< the root is the last term
  std::vector<std::string_view> names{};
  std::string_view call{};        ///< "elu(x, alpha / scale)", or one name
  std::string_view conditions{};  ///< "rank(x) > 1 && dtype(x) == dtype(out)"; perhaps empty
  const char* mistake = nullptr;  ///< the parse error, or nullptr

  [[nodiscard]] std::string_view target() const noexcept { return terms.empty() ? "" : terms.back().target; }
};

/// Parses a pattern. A malformed pattern sets `mistake` and fits nothing. O(size).
[[nodiscard]] Pattern parse_pattern(const PatternRow& row);

/// Returns the root's operator as the pattern writes it: "mul.Tensor", "sigmoid". O(size of the name).
[[nodiscard]] constexpr std::string_view pattern_root(std::string_view pattern) noexcept {
  return pattern.substr(0, pattern.find_first_of("(?"));
}
/// True if `written`, in a pattern, names the operator `target`: "sigmoid" names "aten.sigmoid.default".
[[nodiscard]] constexpr bool is_written_as(std::string_view target, std::string_view written) noexcept {
  if (!target.starts_with("aten.")) return false;
  target.remove_prefix(5);
  return target.starts_with(written) &&
         (target.size() == written.size() || (target.substr(written.size()) == ".default"));
}

/// Facts about the program that a match needs beside its nodes.
struct PatternFacts {
  const void* self = nullptr;
  NodeId first = 0;  ///< earlier nodes do not fit
  bool (*used_once)(const void* self, ValueId v) = nullptr;
  bool (*is_constant)(const void* self, ValueId v) = nullptr;
  bool (*is_hidden)(const void* self, ValueId v) = nullptr;
  bool (*is_unused)(const void* self, ValueId v) = nullptr;
};

/// Matches patterns with the nodes of a graph.
class PatternMatch {
 public:
  static constexpr std::size_t max_names = 16;

  PatternMatch(GraphModuleView graph, const PatternFacts& facts) : graph_(graph), facts_(facts) {}

  /// True if the pattern fits a node of its root operator with these arguments and outputs, and its conditions hold.
  /// `captured` then holds the bindings of its names. O(terms), doubled by each operator that commutes.
  [[nodiscard]] bool fits(const Pattern& pattern, std::span<const Argument> inputs, std::span<const Argument> outputs);

  /// By index of Pattern::names. Numbers are floats, dimensions ints.
  [[nodiscard]] const std::array<Argument, max_names>& captured() const noexcept { return captured_; }

 private:
  struct Given {
    const Argument* argument;        ///< nullptr: omitted
    std::string_view default_value;  ///< of the parameter
    ValueId first;                   ///< the first tensor of the call, whose dimensions are counted
  };
  [[nodiscard]] bool fits(const PatternTerm& term, const Given& given);
  [[nodiscard]] bool fits_call(const PatternTerm& term, std::span<const Argument> inputs);
  [[nodiscard]] bool fits_producer(const PatternTerm& term, ValueId v);
  [[nodiscard]] bool fits_absent(const PatternTerm& term, const Given& given);
  [[nodiscard]] bool fits_filled(const PatternTerm& term, ValueId v);
  [[nodiscard]] bool bind(std::uint8_t name, const Argument& a) noexcept;

  [[nodiscard]] bool holds(std::string_view condition);
  [[nodiscard]] bool holds(std::string_view predicate, std::string_view a, std::string_view b);
  [[nodiscard]] double quantity(std::string_view text);
  [[nodiscard]] const Argument* named(std::string_view name) const noexcept;
  [[nodiscard]] ValueId tensor(std::string_view name) const noexcept;

  GraphModuleView graph_;
  PatternFacts facts_;
  const Pattern* pattern_ = nullptr;
  std::span<const Argument> outputs_{};
  std::array<Argument, max_names> captured_{};
  std::uint32_t bound_ = 0;  ///< a bit per name: it has a binding
};

}  // namespace davit::detail
