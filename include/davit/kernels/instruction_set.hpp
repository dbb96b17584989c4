// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "davit/core/target.hpp"
#include "davit/kernels/vectors.hpp"
#if DAVIT_TARGET_ARM64 && DAVIT_TARGET_LINUX && __has_include(<sys/auxv.h>)
#include <sys/auxv.h>
#define DAVIT_ARM64_FEATURES 1
#else
#define DAVIT_ARM64_FEATURES 0
#endif

/// Kernels that are compiled for several instruction sets; the CPU's widest one is chosen at run time.
///
/// A kernel is a type with `template <std::size_t Bytes> static R run(arguments)`, always inlined, on vectors of
/// `Bytes` bytes. `run_widest<Kernel>(arguments)` calls it in a function that is compiled for the instruction set with
/// such vectors. Functions that the kernel calls must be always inlined too; others are compiled for the translation
/// unit's target and must not take vectors.
///
/// AVX2 and AVX-512 come with fused multiply-add, so that results differ from one machine to another in their last
/// places. With DAVIT_ONE_INSTRUCTION_SET defined in every file, kernels use the target of the compiler's options: the
/// same bits on every machine, as far as the C library's functions agree.
#if DAVIT_TARGET_X86_64 && DAVIT_TARGET_WIDE_STACK && __STDC_HOSTED__ && !defined(DAVIT_ONE_INSTRUCTION_SET) && \
    !defined(__AVX512F__)
#define DAVIT_WIDER_VECTORS 1
#else
#define DAVIT_WIDER_VECTORS 0
#endif

namespace davit::kernels {

/// True if kernels use the target of the compiler's options.
#if defined(DAVIT_ONE_INSTRUCTION_SET)
inline constexpr bool one_instruction_set = true;
#else
inline constexpr bool one_instruction_set = false;
#endif

/// The bytes of `run_widest`'s vectors.
[[nodiscard]] inline std::size_t widest_vectors() noexcept {
#if DAVIT_WIDER_VECTORS
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return 64;
  if (vector_bytes < 32 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 32;
#endif
  return vector_bytes;
}

/// True if this CPU of ARM64 adds four products of bytes to a sum in one instruction (dotprod of ARMv8.2), as Linux
/// says.
[[nodiscard]] inline bool has_byte_dots() noexcept {
#if DAVIT_ARM64_FEATURES
  static const bool has = (::getauxval(AT_HWCAP) & 1ul << 20) != 0;
  return has;
#else
  return false;
#endif
}

/// Calls Kernel::run<Bytes>(arguments); this CPU must have such vectors.
#if DAVIT_WIDER_VECTORS
template <class Kernel, std::size_t Bytes, class... Arguments>
  requires(Bytes == 64)
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]] auto run_on(Arguments... arguments) {
  return Kernel::template run<64>(arguments...);
}
template <class Kernel, std::size_t Bytes, class... Arguments>
  requires(Bytes == 32 && vector_bytes < 32)
[[gnu::target("avx2,fma")]] auto run_on(Arguments... arguments) {
  return Kernel::template run<32>(arguments...);
}
#endif
template <class Kernel, std::size_t Bytes, class... Arguments>
  requires(Bytes == vector_bytes)
auto run_on(Arguments... arguments) {
  return Kernel::template run<vector_bytes>(arguments...);
}

/// Calls Kernel::run with the CPU's widest vectors.
template <class Kernel, class... Arguments>
auto run_widest(Arguments... arguments) {
#if DAVIT_WIDER_VECTORS
  const std::size_t bytes = widest_vectors();
  if (bytes == 64) return run_on<Kernel, 64>(arguments...);
  if constexpr (vector_bytes < 32)
    if (bytes == 32) return run_on<Kernel, 32>(arguments...);
#endif
  return run_on<Kernel, vector_bytes>(arguments...);
}

/// run_widest for kernels on type T; only those on float are compiled for other instruction sets.
template <class T>
inline constexpr bool has_wider_kernels = std::is_same_v<T, float>;
template <class T, class Kernel, class... Arguments>
auto run_widest_for(Arguments... arguments) {
  if constexpr (has_wider_kernels<T>)
    return run_widest<Kernel>(arguments...);
  else
    return run_on<Kernel, vector_bytes>(arguments...);
}
/// Elements of T in `run_widest_for<T>`'s vectors.
template <class T>
[[nodiscard]] inline std::int64_t widest_lanes() noexcept {
  return static_cast<std::int64_t>((has_wider_kernels<T> ? widest_vectors() : vector_bytes) / sizeof(T));
}

}  // namespace davit::kernels
