// SPDX-License-Identifier: MIT
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "davit/core/scalar_type.hpp"
#include "davit/core/target.hpp"

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

inline constexpr std::size_t max_dims = DNNL_MAX_NDIMS;

/// The CPU engine; made at the first call, safe from several threads. Throws dnnl::error.
[[nodiscard]] inline const dnnl::engine& cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

/// True if the loaded library has the same major version as the headers, at least 2.6, and finds a CPU engine.
[[nodiscard]] inline bool library_works() noexcept try {
  const dnnl_version_t* loaded = dnnl_version();
  const bool recent = loaded->major > 2 || (loaded->major == 2 && loaded->minor >= 6);
  return loaded->major == major_version && recent && dnnl::engine::get_count(dnnl::engine::kind::cpu) > 0 &&
         static_cast<bool>(cpu());
} catch (...) {
  return false;
}

[[nodiscard]] inline std::int64_t count_of(const Dims& dims) noexcept {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1},
                         [](std::int64_t a, std::int64_t b) { return a * b; });
}

/// The library's data type for a dtype; undef if it has none.
[[nodiscard]] constexpr DataType data_type_of(ScalarType type) noexcept {
  switch (type) {
    case ScalarType::float32: return DataType::f32;
    case ScalarType::bfloat16: return DataType::bf16;
    case ScalarType::int8: return DataType::s8;
    case ScalarType::uint8: return DataType::u8;
    default: return DataType::undef;
  }
}
/// Bytes of an element.
[[nodiscard]] constexpr std::size_t size_of(DataType type) noexcept {
  return type == DataType::f32 || type == DataType::s32 ? 4 : type == DataType::bf16 ? 2 : 1;
}

/// A descriptor of these sizes in the primitive's preferred layout.
[[nodiscard]] inline MemoryDesc any(const Dims& dims, DataType type) {
  return {dims, type, dnnl::memory::format_tag::any};
}

/// A descriptor with these strides, in elements.
[[nodiscard]] inline MemoryDesc strided(const Dims& dims, const Dims& strides, DataType type) {
  return {dims, type, strides};
}

[[nodiscard]] inline Dims row_major_strides(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * std::max<std::int64_t>(dims[d], 1);
  return strides;
}
/// A descriptor in row-major order.
[[nodiscard]] inline MemoryDesc plain(const Dims& dims, DataType type) {
  return strided(dims, row_major_strides(dims), type);
}
/// A descriptor with the channels, dimension 1, innermost.
[[nodiscard]] inline MemoryDesc channels_last(const Dims& dims, DataType type) {
  Dims strides(dims.size(), 1);
  std::int64_t stride = dims.size() > 1 ? dims[1] : 1;
  for (std::size_t d = dims.size(); d-- > 2; stride *= dims[d]) strides[d] = stride;
  strides[0] = stride;
  return strided(dims, strides, type);
}

/// True if the library uses 512-bit vectors.
[[nodiscard]] inline bool has_wide_vectors() {
  constexpr auto avx512 = static_cast<unsigned>(dnnl::cpu_isa::avx512_core);  // one bit per instruction set extension
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & avx512) == avx512;
}

/// True if products of bfloat16 take less time than float32: on CPUs that multiply pairs, except Intel's without tiles,
/// on which pairs take twice as long (measured on Sapphire Rapids).
[[nodiscard]] inline bool has_fast_bfloat16() {
#if DAVIT_TARGET_X86_64
  const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto has = [isa](dnnl::cpu_isa all) {
    return (isa & static_cast<unsigned>(all)) == static_cast<unsigned>(all);
  };
  return has(dnnl::cpu_isa::avx512_core_bf16) && (has(dnnl::cpu_isa::avx512_core_amx) || !__builtin_cpu_is("intel"));
#else
  return true;
#endif
}

/// A layout: strides of the outer dimensions, and inner blocks of some of them.
struct Blocking {
  bool known = false;  ///< false for layouts that only the library understands
  Dims strides;
  Dims blocks;  ///< innermost last
  Dims axes;    ///< the dimension of each block

  [[nodiscard]] bool is_plain() const noexcept { return known && blocks.empty(); }
  /// The number of elements of `axis` in one block.
  [[nodiscard]] std::int64_t block_of(std::int64_t axis) const noexcept {
    std::int64_t size = 1;
    for (std::size_t i = 0; i < blocks.size(); ++i)
      if (axes[i] == axis) size *= blocks[i];
    return size;
  }
};

[[nodiscard]] inline Blocking blocking_of(const MemoryDesc& md) {
  if (!has_strides(md)) return {};
  auto [blocks, axes] = blocks_of(md);
  return {true, strides_of(md), std::move(blocks), std::move(axes)};
}

/// The layout with another dtype; row-major if the layout has no such form.
[[nodiscard]] inline MemoryDesc with_type(const MemoryDesc& md, DataType type) {
  MemoryDesc made = retyped(md, type);
  return dims_of(made) == dims_of(md) ? made : plain(dims_of(md), type);
}

/// True for row-major order without gaps; strides of dimensions of size 1 do not matter.
[[nodiscard]] inline bool is_row_major(const MemoryDesc& md) {
  const Blocking b = blocking_of(md);
  if (!b.is_plain()) return false;
  const Dims dims = dims_of(md);
  const Dims strides = row_major_strides(dims);
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (dims[d] != 1 && b.strides[d] != strides[d]) return false;
  return true;
}

}  // namespace davit::onednn_ops
