// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string_view>

namespace davit {

/// Schemas of composite operators that a backend may take whole, which have rules as well (decomposition_rules.hpp),
/// and of one that this project makes itself: a bilinear resize in the arithmetic of decomposed programs. Sorted by
/// name. Source: as operator_schemas.
inline constexpr auto composite_schemas = [] {
  using namespace std::string_view_literals;
  return std::to_array<std::string_view>({
      // clang-format off
    "aten._upsample_bicubic2d_aa.default(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"sv,
    "aten._upsample_bicubic2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor"sv,
    "aten._upsample_bilinear2d_aa.default(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"sv,
    "aten._upsample_bilinear2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor"sv,
    "aten._upsample_nearest_exact1d.default(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor"sv,
    "aten._upsample_nearest_exact1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor"sv,
    "aten._upsample_nearest_exact2d.default(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor"sv,
    "aten._upsample_nearest_exact2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor"sv,
    "aten._upsample_nearest_exact3d.default(Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor"sv,
    "aten._upsample_nearest_exact3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor"sv,
    "aten.special_ndtri.default(Tensor self) -> Tensor"sv,
    "aten.std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor"sv,
    "aten.std.default(Tensor self, bool unbiased=True) -> Tensor"sv,
    "aten.std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor"sv,
    "aten.std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)"sv,
    "aten.std_mean.default(Tensor self, bool unbiased=True) -> (Tensor, Tensor)"sv,
    "aten.std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)"sv,
    "aten.upsample_bicubic2d.default(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"sv,
    "aten.upsample_bicubic2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor"sv,
    "aten.upsample_bilinear2d.lerp(Tensor input, SymInt[] output_size, bool align_corners) -> Tensor"sv,
      // clang-format on
  });
}();

}  // namespace davit
