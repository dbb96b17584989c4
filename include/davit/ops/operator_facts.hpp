// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace davit {

/// How an operator's outputs alias its first argument.
enum class ViewKind : std::uint8_t {
  none,         ///< no alias
  same,         ///< all of it, unchanged
  maybe_same,   ///< an unchanged alias, or a copy
  shape,        ///< the elements in the same order, with other sizes
  maybe_shape,  ///< likewise, or a copy
  transpose,    ///< its own inverse; conj too
  permute,
  movedim,
  select,
  slice,
  diagonal,
  unbind,   ///< a list of selections
  split,    ///< a list of slices
  other,    ///< another alias
  unknown,  ///< an alias of all or some arguments, or a copy; its decomposition tells
};

/// Rule for the sizes and dtypes of the outputs, given the arguments; an argument `dtype` takes precedence.
enum class ShapeRule : std::uint8_t {
  unknown,
  promoted,            ///< sizes broadcast, dtype promoted: add
  quotient,            ///< as `promoted`, a float: div; with a rounding mode as `promoted`
  comparison,          ///< as `promoted`, a bool: eq
  where,               ///< sizes of all broadcast, dtype promoted from all but the first: where
  same,                ///< sizes and dtype of the first tensor: neg
  absolute,            ///< likewise, the real dtype of a complex one: abs
  floating,            ///< as `same`, a float: exp
  predicate,           ///< as `same`, a bool: isnan
  cumulative,          ///< as `same`, an int64 for integers: cumsum
  batch_norm,          ///< as `same`, and two empty statistics
  layer_norm,          ///< as `same`, and two statistics, with size 1 in the normalized dimensions
  sorted,              ///< as `same`, and int64 indices: sort
  topk,                ///< as `sorted`, with another size in one dimension: topk
  reduced,             ///< without the reduced dimensions: mean
  summed,              ///< likewise, an int64 for integers: sum
  reduced_to_bool,     ///< as `reduced`, a bool: any
  reduced_to_index,    ///< as `reduced`, an int64: argmax
  reduced_with_index,  ///< as `reduced`, over one dimension also int64 indices: max
  viewed,              ///< the sizes are an argument, with -1 allowed: view
  expanded,
  repeated,
  factory,  ///< the sizes are the first argument, a float: zeros
  filled,   ///< likewise, with the dtype of the second argument: full
  scalar,   ///< a float without dimensions: scalar_tensor
  arange,
  permuted,
  transposed,
  matrix_transposed,
  unsqueezed,
  squeezed,
  selected,
  sliced,
  concatenated,  ///< cat
  stacked,       ///< stack
  padded,
  gathered,         ///< the sizes of the indices: gather
  index_selected,   ///< index_select
  embedded,         ///< embedding
  indexed,          ///< index.Tensor
  matrix_product,   ///< mm
  batched_product,  ///< bmm
  product,          ///< of vectors, matrices, or batches of matrices: matmul
  product_added,    ///< of the second and third argument, plus the first: addmm
  linear,
  complex_of_parts,  ///< complex, polar
  pairs_of_complex,  ///< view_as_real
  complex_of_pairs,  ///< view_as_complex
};

/// Bound of the magnitude of an operator's results, from the magnitudes of its operands.
enum class RangeBound : std::uint8_t {
  unknown,           ///< may produce infinities or NaN from finite numbers
  maximum,           ///< at most the largest operand or number argument
  maximum_scaled,    ///< at most that, or its product with the numbers: leaky_relu
  embedding,         ///< as `maximum`, of the operands other than indices: embedding
  sum,               ///< the sum of the operands
  product,           ///< the product of the operands
  product_or_first,  ///< as `product`, or at most the first operand: prelu
  power,             ///< a square of the operand; unknown for other exponents
  quotient,          ///< the quotient by a number; unknown for a tensor
  reduced_sum,       ///< a sum over dimensions
  unit,              ///< at most 1, of either sign
  unit_interval,     ///< at most 1, not negative
  softmax,           ///< likewise
  dot_product,       ///< a sum of products of the first two of three operands
  convolution,
  linear,
  bias_first,  ///< as `dot_product`, the bias first
  layer_norm,
  group_norm,
  batch_norm,
  scaled,  ///< bytes minus a zero point, times a scale: a number or the second operand
};

/// Dtype of an operator's results before they are written to an argument: for add_, and for add with out=. Source:
/// torch's type promotion.
enum class ResultRule : std::uint8_t {
  unknown,             ///< promoted, for floats only
  promoted,            ///< promoted
  floating,            ///< promoted, a float for integers
  boolean,             ///< a bool
  index,               ///< an int64 index
  promoted_and_index,  ///< promoted, and an int64 index
  unknown_and_index,   ///< promoted, for floats only, and an int64 index
  dtype_argument,      ///< the dtype of an argument
};

/// Precision of an operator under autocast: unchanged, the lower precision, or float32. Source:
/// aten/src/ATen/autocast_mode.cpp, CPU; composites such as einsum, which are not in its lists, follow from their
/// parts.
enum class AutocastPolicy : std::uint8_t { none, lower, full };

/// Facts about an operator that hold for all its overloads and for every backend.
struct OperatorFacts {
  std::string_view name;  ///< "aten.add"
  /// Source: the alias annotations of torch's operator schemas, and for operators without them the aliasing of torch
  /// 2.6's kernels (data_ptr): dropout returns its input when not training, einsum of one tensor returns a view.
  ViewKind view = ViewKind::none;
  bool apart = false;  ///< functionalize decomposes it first, because its parts have more precise alias facts
  ShapeRule shape = ShapeRule::unknown;
  RangeBound range = RangeBound::unknown;
  bool keeps_nonfinite = false;  ///< every library propagates NaN and infinities from its operands
  ResultRule result = ResultRule::unknown;
  bool promotes = false;  ///< its in-place form computes in the promoted dtype of its operands, not in its own dtype
  AutocastPolicy autocast = AutocastPolicy::none;
  bool takes_number = false;   ///< either of its two tensors may be a number: 1 - x
  bool commutes = false;       ///< its two tensors may be exchanged: x * y is y * x
  bool data_movement = false;  ///< computes nothing but is no view: a copy, a concatenation, a fill
  bool computes = false;       ///< may return a view, but computes in other cases
  bool pure = false;           ///< of another library than aten, and a function of its arguments alone
  bool random = false;         ///< draws random numbers, or returns uninitialized memory
};

}  // namespace davit
