// SPDX-License-Identifier: MIT
#pragma once

#include "davit/program/operators/arguments.hpp"

namespace davit::operators {

/// What an output element is made of: the nearest input element, or a weighted sum of its neighbours along each axis.
enum class ResizeFunction : std::uint8_t {
  nearest,
  nearest_exact,
  linear,
  linear_by_difference,  ///< a + (b - a) * w, as decomposed programs compute it: of two infinities NaN
  cubic,
  smooth_linear,  ///< with antialiasing
  smooth_cubic,
};

/// A resize of images (N, C, H, W), lines (N, C, W) or volumes (N, C, D, H, W) as its call says it.
struct ResizeView {
  ValueId input = no_id;
  ResizeFunction function = ResizeFunction::nearest;
  bool aligned = false;                         ///< the centres of the corners stay where they are
  std::size_t dims = 2;                         ///< that are resized: the last ones
  std::array<std::int64_t, 3> out{-1, -1, -1};  ///< their sizes; -1 where they are in the sizes of the result alone
  std::array<double, 3> factor{};               ///< 0: that of the sizes

  friend constexpr bool operator==(const ResizeView&, const ResizeView&) = default;
};

/// One of ATen's. `.vec`: input, output_size, align_corners if it has it, scale_factors, one of sizes and factors;
/// `.default`: self, output_size, align_corners, and a scale for each dimension.
struct ResizeOperator {
  const char* target;
  ResizeFunction function = ResizeFunction::nearest;
  std::size_t dims = 2;
  bool by_sizes = false;  ///< `.default`
  [[nodiscard]] constexpr bool has_corners() const noexcept {
    return function != ResizeFunction::nearest && function != ResizeFunction::nearest_exact;
  }
  [[nodiscard]] constexpr Parameter factors() const noexcept { return {"scale_factors", has_corners() ? 3u : 2u}; }
  [[nodiscard]] constexpr Parameter scale(std::size_t d) const noexcept {
    constexpr const char* names[] = {"scales_d", "scales_h", "scales_w"};
    return {dims == 1 ? "scales" : names[3 - dims + d], static_cast<std::uint32_t>((has_corners() ? 3u : 2u) + d)};
  }
};

inline constexpr std::array resize_operators{
    ResizeOperator{"aten.upsample_nearest2d.vec"},
    ResizeOperator{"aten.upsample_bilinear2d.vec", ResizeFunction::linear},
    ResizeOperator{"aten.upsample_bilinear2d.lerp", ResizeFunction::linear_by_difference, 2, true},
    ResizeOperator{"aten.upsample_bicubic2d.vec", ResizeFunction::cubic},
    ResizeOperator{"aten.upsample_bicubic2d.default", ResizeFunction::cubic, 2, true},
    ResizeOperator{"aten._upsample_bilinear2d_aa.vec", ResizeFunction::smooth_linear},
    ResizeOperator{"aten._upsample_bilinear2d_aa.default", ResizeFunction::smooth_linear, 2, true},
    ResizeOperator{"aten._upsample_bicubic2d_aa.vec", ResizeFunction::smooth_cubic},
    ResizeOperator{"aten._upsample_bicubic2d_aa.default", ResizeFunction::smooth_cubic, 2, true},
    ResizeOperator{"aten._upsample_nearest_exact1d.vec", ResizeFunction::nearest_exact, 1},
    ResizeOperator{"aten._upsample_nearest_exact1d.default", ResizeFunction::nearest_exact, 1, true},
    ResizeOperator{"aten._upsample_nearest_exact2d.vec", ResizeFunction::nearest_exact, 2},
    ResizeOperator{"aten._upsample_nearest_exact2d.default", ResizeFunction::nearest_exact, 2, true},
    ResizeOperator{"aten._upsample_nearest_exact3d.vec", ResizeFunction::nearest_exact, 3},
    ResizeOperator{"aten._upsample_nearest_exact3d.default", ResizeFunction::nearest_exact, 3, true},
};

/// Reads a call of that resize, which is by sizes or by factors. Errors: invalid_argument, invalid_shape.
/// Source: upsample::compute_output_size and upsample_2d_common_check of ATen.
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
