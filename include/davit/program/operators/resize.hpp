// SPDX-License-Identifier: MIT
#pragma once

#include "davit/ops/families/resizing.hpp"
#include "davit/program/operators/arguments.hpp"

namespace davit::operators {

/// Arguments of a resize of images (N, C, H, W), lines (N, C, W) or volumes (N, C, D, H, W).
struct ResizeView {
  ValueId input = no_id;
  ResizeFunction function = ResizeFunction::nearest;
  bool aligned = false;                         ///< align_corners: corner centres keep their places
  std::size_t dims = 2;                         ///< number of resized dimensions: the last ones
  std::array<std::int64_t, 3> out{-1, -1, -1};  ///< their sizes; -1 if only the result's sizes tell
  std::array<double, 3> factor{};               ///< scale factor; 0: the ratio of the sizes

  friend constexpr bool operator==(const ResizeView&, const ResizeView&) = default;
};

/// Reads a call of that resize, by sizes or by factors. Errors: invalid_argument, invalid_shape. Source:
/// upsample::compute_output_size and upsample_2d_common_check of ATen.
template <CallArguments Call>
constexpr Refusal read_resize(const Call& call, const ResizeOperator& op, ResizeView& view) noexcept {
  view.function = op.function;
  view.dims = op.dims;
  view.input = call.value({op.by_sizes && op.function != ResizeFunction::linear_by_difference ? "self" : "input", 0});
  constexpr const char* wrong_rank[] = {"upsample: the input must have three dimensions",
                                        "upsample: the input must have four dimensions",
                                        "upsample: the input must have five dimensions"};
  if (view.input == no_id || call.rank(view.input) != op.dims + 2)
    return {wrong_rank[op.dims - 1], ErrorCode::invalid_shape};
  const auto* const sizes = call.find({"output_size", 1});
  const auto* const factors = op.by_sizes ? nullptr : call.find(op.factors());
  if ((sizes == nullptr) == (factors == nullptr)) return {"upsample: give either output_size or scale_factors"};
  const auto list = call.items(sizes != nullptr ? *sizes : *factors);
  if (list.size() != op.dims)
    return {"upsample: output_size or scale_factors needs an element for each dimension that is resized"};
  const auto* const numbers = list.data();
  for (std::size_t d = 0; d < op.dims; ++d) {
    if (factors != nullptr && !call.read_number(numbers[d], view.factor[d]))
      return {"upsample: a factor is not a number"};
    if (op.by_sizes && op.function != ResizeFunction::linear_by_difference &&
        !read_number(call, op.scale(d), 0, view.factor[d]))
      return {"upsample: a scale is not a number"};
    const std::int64_t in = call.size(view.input, 2 + d);
    double size = 0;
    if (factors != nullptr ? in < 0 : !call.read_number(numbers[d], size)) continue;
    if (factors != nullptr) size = static_cast<double>(in) * view.factor[d];
    if (!(size >= 1 && size <= 0x1p40))
      return {"upsample: an output size is less than one or too large", ErrorCode::invalid_shape};
    view.out[d] = static_cast<std::int64_t>(size);
  }
  return !op.has_corners() || read_flag(call, {"align_corners", 2}, false, view.aligned)
             ? Refusal{}
             : Refusal{"upsample: align_corners is not known"};
}
/// Reads a call of any resize.
template <CallArguments Call>
constexpr Refusal read_resize(const Call& call, ResizeView& view) noexcept {
  const ResizeOperator* const op = find_row(resize_operators, call);
  return op == nullptr ? Refusal{"the operator resizes no images"} : read_resize(call, *op, view);
}

}  // namespace davit::operators
