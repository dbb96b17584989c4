// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <utility>
#include <vector>

/// All differences between versions 2 and 3 of the library; the rest of the backend serves both. Source: the
/// "Transition from v2.x to v3.x" page of oneDNN's developer guide.
namespace davit::onednn_ops {

using MemoryDesc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;
using DataType = dnnl::memory::data_type;

inline constexpr int major_version = DNNL_VERSION_MAJOR;

/// The scales and zero points of a primitive on bytes.
struct ByteScales {
  std::vector<float> factors;  ///< of the sums: one, or one per channel of the result
  std::int32_t source_zero = 0, made_zero = 0;
};
/// An argument of numbers that a primitive takes at each execution.
struct NumbersArgument {
  int role;  ///< DNNL_ARG_*
  DataType type;
  std::int64_t count;
  const void* data;
};

/// Known faults of the library, which the backend avoids.
struct Faults {
  bool repeated_functions =
      false;  ///< jit kernels run the second of two post-operations of one function with the first one's numbers
  bool narrow_blocks = false;  ///< its "jit:uni" binary miscomputes blocks of channels that are not as wide as vectors,
                               ///< which they do not fill
  bool padded_in_place = false;  ///< over padded blocks it computes the last block of channels twice
};

#if DNNL_VERSION_MAJOR >= 3

inline constexpr Faults faults;

using Pooling = dnnl::pooling_forward;

[[nodiscard]] inline DataType type_of(const MemoryDesc& md) { return md.get_data_type(); }
[[nodiscard]] inline Dims dims_of(const MemoryDesc& md) { return md.get_dims(); }
/// False for opaque layouts of the library.
[[nodiscard]] inline bool has_strides(const MemoryDesc& md) {
  return md.get_format_kind() == dnnl::memory::format_kind::blocked;
}
[[nodiscard]] inline Dims strides_of(const MemoryDesc& md) { return md.get_strides(); }
/// The inner blocks, innermost last, and their dimensions.
[[nodiscard]] inline std::pair<Dims, Dims> blocks_of(const MemoryDesc& md) {
  return {md.get_inner_blks(), md.get_inner_idxs()};
}
/// The layout with another dtype; empty if the layout has no such form.
[[nodiscard]] inline MemoryDesc retyped(const MemoryDesc& md, DataType type) {
  return has_strides(md) && md.get_inner_nblks() == 0 ? MemoryDesc(md.get_dims(), type, md.get_strides())
                                                      : MemoryDesc();
}

/// Returns use(descriptor) of an operation.
template <class P, class Use, class... Args>
[[nodiscard]] auto with_descriptor(const dnnl::engine& engine, const dnnl::primitive_attr& attr, Use&& use,
                                   const Args&... args) {
  return use(typename P::primitive_desc(engine, args..., attr));
}
/// Calls `describe` with the layouts and numbers of an operation whose source and destination share the layout.
template <class Describe, class... Args>
[[nodiscard]] auto in_one_layout(Describe&& describe, const MemoryDesc& md, const Args&... args) {
  return describe(md, md, args...);
}
[[nodiscard]] inline dnnl::concat::primitive_desc concat_descriptor(const dnnl::engine& engine,
                                                                    const dnnl::primitive_attr& attr, int axis,
                                                                    const std::vector<MemoryDesc>& sources) {
  return {engine, axis, sources, attr};
}

inline void append_eltwise(dnnl::post_ops& ops, dnnl::algorithm a, float alpha, float beta) {
  ops.append_eltwise(a, alpha, beta);
}
/// Appends a depthwise convolution of float32, with its own weights. Source: oneDNN's guide to "Depthwise" post-ops.
inline void append_depthwise(dnnl::post_ops& ops, DataType bias, std::int64_t kernel, std::int64_t stride,
                             std::int64_t pad) {
  ops.append_dw(DataType::f32, bias, DataType::f32, kernel, stride, pad);
}

/// True if the bias is added after the sums of products are scaled.
inline constexpr bool bias_follows_scales = true;
inline void set_byte_scales(dnnl::primitive_attr& attributes, const ByteScales& scales, bool grouped) {
  attributes.set_scales_mask(DNNL_ARG_WEIGHTS, scales.factors.size() == 1 ? 0 : grouped ? 3 : 1);
  if (scales.source_zero != 0) attributes.set_zero_points_mask(DNNL_ARG_SRC, 0);
  if (scales.made_zero != 0) attributes.set_zero_points_mask(DNNL_ARG_DST, 0);
}
/// The arguments beside the primitive: views of `scales`.
[[nodiscard]] inline std::vector<NumbersArgument> byte_scale_arguments(const ByteScales& scales) {
  std::vector<NumbersArgument> made{{DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, DataType::f32,
                                     static_cast<std::int64_t>(scales.factors.size()), scales.factors.data()}};
  if (scales.source_zero != 0)
    made.push_back({DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, DataType::s32, 1, &scales.source_zero});
  if (scales.made_zero != 0)
    made.push_back({DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_DST, DataType::s32, 1, &scales.made_zero});
  return made;
}

/// hardswish(x) = x * clamp(alpha * x + beta, 0, 1).
inline constexpr float hardswish_alpha = 1.0f / 6, hardswish_beta = 0.5f;

#else

inline constexpr Faults faults{.repeated_functions = true, .narrow_blocks = true, .padded_in_place = true};

using Pooling = dnnl::pooling_v2_forward;

[[nodiscard]] inline DataType type_of(const MemoryDesc& md) { return md.data_type(); }
[[nodiscard]] inline Dims dims_of(const MemoryDesc& md) { return md.dims(); }
[[nodiscard]] inline bool has_strides(const MemoryDesc& md) { return md.data.format_kind == dnnl_blocked; }
[[nodiscard]] inline Dims strides_of(const MemoryDesc& md) {
  return {md.data.format_desc.blocking.strides, md.data.format_desc.blocking.strides + md.data.ndims};
}
[[nodiscard]] inline std::pair<Dims, Dims> blocks_of(const MemoryDesc& md) {
  const dnnl_blocking_desc_t& b = md.data.format_desc.blocking;
  return {{b.inner_blks, b.inner_blks + b.inner_nblks}, {b.inner_idxs, b.inner_idxs + b.inner_nblks}};
}
[[nodiscard]] inline MemoryDesc retyped(MemoryDesc md, DataType type) {
  md.data.data_type = dnnl::memory::convert_to_c(type);
  return md;
}

template <class P, class Use, class... Args>
[[nodiscard]] auto with_descriptor(const dnnl::engine& engine, const dnnl::primitive_attr& attr, Use&& use,
                                   const Args&... args) {
  const typename P::desc operation(args...);  // each implementation reads it again
  return use(typename P::primitive_desc(operation, attr, engine));
}
template <class Describe, class... Args>
[[nodiscard]] auto in_one_layout(Describe&& describe, const MemoryDesc& md, const Args&... args) {
  return describe(md, args...);
}
[[nodiscard]] inline dnnl::concat::primitive_desc concat_descriptor(const dnnl::engine& engine,
                                                                    const dnnl::primitive_attr& attr, int axis,
                                                                    const std::vector<MemoryDesc>& sources) {
  return {axis, sources, engine, attr};
}

inline void append_eltwise(dnnl::post_ops& ops, dnnl::algorithm a, float alpha, float beta) {
  ops.append_eltwise(1.0f, a, alpha, beta);
}
inline void append_depthwise(dnnl::post_ops& ops, DataType bias, std::int64_t kernel, std::int64_t stride,
                             std::int64_t pad) {
  ops.append_dw(DataType::f32, bias, DataType::f32, kernel, stride, pad, 0, {});
}

inline constexpr bool bias_follows_scales = false;
inline void set_byte_scales(dnnl::primitive_attr& attributes, const ByteScales& scales, bool) {
  attributes.set_output_scales(scales.factors.size() == 1 ? 0 : 2, scales.factors);
  if (scales.source_zero != 0) attributes.set_zero_points(DNNL_ARG_SRC, 0, {scales.source_zero});
  if (scales.made_zero != 0) attributes.set_zero_points(DNNL_ARG_DST, 0, {scales.made_zero});
}
[[nodiscard]] inline std::vector<NumbersArgument> byte_scale_arguments(const ByteScales&) { return {}; }

inline constexpr float hardswish_alpha = 0, hardswish_beta = 0;  // its factors are fixed

#endif

}  // namespace davit::onednn_ops
