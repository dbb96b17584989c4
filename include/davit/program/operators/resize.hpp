// SPDX-License-Identifier: MIT
#pragma once

#include "davit/program/operators/arguments.hpp"

namespace davit::operators {

/// A resize of images (N, C, H, W) as its call says it.
struct ResizeView {
  ValueId input = no_id;
  bool linear = false;                      ///< else the nearest element
  bool aligned = false;                     ///< the centres of the corners stay where they are
  std::array<std::int64_t, 2> out{-1, -1};  ///< height and width; -1 where they are in the sizes of the result alone
  std::array<double, 2> factor{};           ///< 0: that of the sizes

  friend constexpr bool operator==(const ResizeView&, const ResizeView&) = default;
};

/// One of ATen's: input, output_size, align_corners if it is linear, scale_factors.
struct ResizeOperator {
  const char* target;
  bool linear = false;
  [[nodiscard]] constexpr Parameter factors() const noexcept { return {"scale_factors", linear ? 3u : 2u}; }
};

inline constexpr std::array resize_operators{
    ResizeOperator{"aten.upsample_nearest2d.vec"},
    ResizeOperator{"aten.upsample_bilinear2d.vec", true},
};

/// Reads a call of that resize, which is by sizes or by factors. Errors: invalid_argument, invalid_shape.
/// Source: upsample::compute_output_size and upsample_2d_common_check of ATen.
template <CallArguments Call>
constexpr Refusal read_resize(const Call& call, const ResizeOperator& op, ResizeView& view) noexcept {
  view.linear = op.linear;
  view.input = call.value({"input", 0});
  if (view.input == no_id || call.rank(view.input) != 4) return {"upsample: the input must have four dimensions", ErrorCode::invalid_shape};
  const auto* const sizes = call.find({"output_size", 1});
  const auto* const factors = call.find(op.factors());
  if ((sizes == nullptr) == (factors == nullptr)) return {"upsample: give either output_size or scale_factors"};
  const auto list = call.items(sizes != nullptr ? *sizes : *factors);
  if (list.size() != 2) return {"upsample: output_size or scale_factors needs two elements"};
  const auto* const numbers = list.data();
  for (std::size_t d = 0; d < 2; ++d) {
    if (factors != nullptr && !call.read_number(numbers[d], view.factor[d])) return {"upsample: a factor is not a number"};
    const std::int64_t in = call.size(view.input, 2 + d);
    double size = 0;
    if (factors != nullptr ? in < 0 : !call.read_number(numbers[d], size)) continue;
    if (factors != nullptr) size = static_cast<double>(in) * view.factor[d];
    if (!(size >= 1 && size <= 0x1p40)) return {"upsample: an output size is less than one or too large", ErrorCode::invalid_shape};
    view.out[d] = static_cast<std::int64_t>(size);
  }
  return !op.linear || read_flag(call, {"align_corners", 2}, false, view.aligned) ? Refusal{} : Refusal{"upsample: align_corners is not known"};
}
/// Reads a call of any resize.
template <CallArguments Call>
constexpr Refusal read_resize(const Call& call, ResizeView& view) noexcept {
  const ResizeOperator* const op = find_row(resize_operators, call);
  return op == nullptr ? Refusal{"the operator resizes no images"} : read_resize(call, *op, view);
}

}  // namespace davit::operators
