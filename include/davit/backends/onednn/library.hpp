// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <utility>
#include <vector>

#include "davit/backends/onednn/versions.hpp"
#include "davit/core/scalar_type.hpp"
#include "davit/core/target.hpp"

namespace davit::onednn_ops {

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
