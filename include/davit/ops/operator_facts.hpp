// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace davit {

/// How an operator's outputs show the storage of its first argument.
enum class ViewKind : std::uint8_t {
  none,         ///< they do not
  same,         ///< all of it, as it is
  maybe_same,   ///< as it is, or a copy
  shape,        ///< the elements in their order, with other sizes
  maybe_shape,  ///< the same, or a copy
  transpose,    ///< doing it again undoes it; conj too
  permute,
  movedim,
  select,
  slice,
  diagonal,
  unbind,   ///< a list of selections
  split,    ///< a list of slices
  other,    ///< in another way
  unknown,  ///< all of them, parts, or a copy, and not of the first argument alone: its parts tell
};

/// How sizes and dtypes of the outputs follow from the arguments; an argument `dtype` prevails.
enum class ShapeRule : std::uint8_t {
  unknown,
  promoted,          ///< sizes broadcast, dtype promoted: add
  quotient,          ///< the same, a float: div; with a rounding mode as `promoted`
  compared,          ///< the same, a bool: eq
  chosen,            ///< sizes of all broadcast, dtype promoted of all but the first: where
  same,              ///< like the first tensor: neg
  magnitude,         ///< the same, real of complex: abs
  floating,          ///< the same, a float: exp
  tested,            ///< the same, a bool: isnan
  accumulated,       ///< the same, an int64 of integers: cumsum
  batch_norm,        ///< the same, and two empty statistics
  layer_norm,        ///< the same, and two statistics of size 1 where it normalizes
  sorted,            ///< the same, and places
  largest_k,         ///< the same with another size, and places: topk
  reduced,           ///< without the reduced dimensions: mean
  summed,            ///< the same, an int64 of integers: sum
  reduced_to_bool,   ///< the same, a bool: any
  reduced_to_place,  ///< the same, an int64: argmax
  extreme,           ///< the same, of one dimension also places: max
  viewed,            ///< the sizes are an argument, -1 among them: view
  expanded,
  repeated,
  made,    ///< the sizes are the first argument, a float: zeros
  filled,  ///< the same, the dtype that of the second: full
  scalar,  ///< without dimensions, a float: scalar_tensor
  arange,
  permuted,
  transposed,
  matrix_transposed,
  unsqueezed,
  squeezed,
  selected,
  sliced,
  joined,   ///< cat
  stacked,  ///< stack
  padded,
  gathered,         ///< the sizes of the indices: gather
  index_selected,   ///< index_select
  embedded,         ///< embedding
  indexed,          ///< index.Tensor
  matrix_product,   ///< mm
  batched_product,  ///< bmm
  product,          ///< of vectors, matrices, or batches of them: matmul
  product_added,    ///< of the second and third argument: addmm
  linear,
  complex_of_parts,  ///< complex, polar
  pairs_of_complex,  ///< view_as_real
  complex_of_pairs,  ///< view_as_complex
};

/// How large an operator's results are, by its operands' magnitudes.
enum class RangeBound : std::uint8_t {
  unknown,           ///< it may make infinities or NaN of ordinary numbers
  largest,           ///< no larger than the largest operand, or than a number that is an argument
  largest_scaled,    ///< the same, or than the product of it with the numbers: leaky_relu
  looked_up,         ///< the same of operands that are no indices: embedding
  sum,               ///< of its operands
  product,           ///< of its operands
  product_or_first,  ///< the same, or the first of them: prelu
  power,             ///< of its operand: squares; unknown for other exponents
  quotient,          ///< by a number; unknown by a tensor
  total,             ///< a sum over dimensions
  one,               ///< at most 1, of either sign
  fraction,          ///< at most 1, not negative
  softmax,           ///< the same
  products,          ///< sums of products of the first two operands of three
  convolution,
  linear,
  bias_first,  ///< as `products`, the bias first
  layer_norm,
  group_norm,
  batch_norm,
  scaled,  ///< bytes less a zero point, times a scale that is a number or the second operand
};

/// The dtype of an operator's results before they are stored in an argument: of add_, and of add with out=. Source:
/// torch's type promotion.
enum class ResultRule : std::uint8_t {
  unknown,            ///< promoted, of floats
  same,               ///< promoted
  floating,           ///< promoted, a float of integers
  boolean,            ///< a bool
  place,              ///< an int64
  same_and_place,     ///< promoted, and an int64
  unknown_and_place,  ///< promoted, of floats, and an int64
  as_asked,           ///< an argument says it
};

/// In what autocast computes an operator: as it is, in the lower precision, or in float32. Source:
/// aten/src/ATen/autocast_mode.cpp, CPU; einsum and the like, which are not in its lists, are made of what is.
enum class AutocastPolicy : std::uint8_t { none, lower, full };

/// Facts about an operator that hold for all its overloads, and for backends of whatever kind.
struct OperatorFacts {
  std::string_view name;  ///< "aten.add"
  /// Source: the alias annotations of torch's operator schemas, and what the kernels of those without answer in torch
  /// 2.6 (data_ptr): dropout its input when not training, einsum of one tensor a view.
  ViewKind view = ViewKind::none;
  bool apart = false;  ///< its parts tell more of what it shows: functionalize takes it apart first
  ShapeRule shape = ShapeRule::unknown;
  RangeBound range = RangeBound::unknown;
  bool keeps_nonfinite = false;  ///< no library turns NaN or an infinity in its operands into something else
  ResultRule result = ResultRule::unknown;
  bool promotes = false;  ///< its in-place form computes in the promoted dtype of its operands, not in its own
  AutocastPolicy autocast = AutocastPolicy::none;
  bool takes_number = false;  ///< each of its two tensors may be a number: 1 - x
  bool commutes = false;      ///< of its two tensors either may be the first: x * y is y * x
  bool moves = false;     ///< computes nothing, though it is no view: a copy, what puts tensors together or fills one
  bool computes = false;  ///< may answer a view, but computes in other cases
  bool random = false;    ///< draws random numbers, or answers what memory happens to hold
};

}  // namespace davit
