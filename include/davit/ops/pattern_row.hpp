// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace davit {

/// When simplify puts a call in place of the nodes that a pattern fits.
enum class PatternUse : std::uint8_t {
  always,     ///< whoever takes it: the call is the simpler form, or no call at all
  as_good,    ///< if a backend takes the call that is as good as the one that takes the last node
  composite,  ///< the same; before decomposition also if decomposition knows the call, or any backend takes it
};

/// A form in which programs write an operator, and the call that it becomes: a row of a table in `ops/families/`.
///
/// A pattern is `operator(terms) => call if condition && condition`. The call, and numbers in it, are in the language
/// of the rules (RuleEvaluator), with the names that the terms give to operands; `out` and `outtype` are sizes and
/// dtype of the result. A call that is one name alone lets the operand stand for the result. A term is
/// - `x`: any operand, the same one wherever the name stands; `_` any at all
/// - `#n`: a number, as a float
/// - `@d`: a dimension of the operator's first tensor, counted from the front
/// - `3`, `0.5`, `-inf`, `true`: that number; integers are exact, others within 1e-6 of themselves; an argument that is
///   left out is its default
/// - `sigmoid(x)`, `mul.Tensor(x, 2)`, `any.dim(x, @d, keepdim=true)`: the result of an operator of aten, `.default`
/// where
///   no overload is said; operands of an operator that commutes fit in both orders; `...` at the end lets other
///   arguments pass, which otherwise must be their defaults
/// - `mul.Tensor?(x, #n=1)`: the same, or `x` alone; then `n` is 1
/// - `filled(#n)`: a tensor of one number; `transposed(x)`: a matrix that is the transpose of x
/// - `y: term` names the value that matches; `once term` is used by nothing else and no output
///
/// A condition compares ranks, dtypes or numbers (`rank(x) > 1`, `dtype(x) == dtype(out)`, `n != 0`), or is one of
/// `same(x, y)` (sizes and dtype), `floating(x)`, `vector(x, y)` (x has one dimension, the last of y), `unit(x, d)`
/// (dimension d is 1), `constant(x)`, `fixed(x)` (sizes that are numbers, contiguous), `hidden(x)` (no output shows its
/// storage), `number(x)`, `alone(out)` (nothing uses the other results).
struct PatternRow {
  /// An expression that becomes the call: sizes of its tensors, and the rule language:
  /// "(x: [2, 3]) x * sigmoid(x)". A test runs it.
  std::string_view example{};
  std::string_view pattern{};
  PatternUse use = PatternUse::as_good;
  bool worth_a_pass = false;  ///< a program that has the pattern's last operator is worth a pass of simplify
};

}  // namespace davit
