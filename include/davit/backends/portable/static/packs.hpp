// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "davit/core/target.hpp"
#include "davit/kernels/multiply_add.hpp"
#include "davit/kernels/vectors.hpp"

/// Kernels of static programs are types with `Params`, a small struct, and a static function `run(params, outputs...,
/// inputs...)` on pointers, without heap or type erasure. They sum in the order of portable's other kernels, so that
/// both give the same bits if those run on the same instruction set (DAVIT_ONE_INSTRUCTION_SET, see
/// kernels/instruction_set.hpp).
///
/// `run` takes the Params (one copy of the code for all calls) or a type that holds them (code for these parameters
/// alone, see is_constant). It also runs in constant evaluation. Tensors are contiguous and do not overlap unless a
/// kernel says otherwise.
namespace davit::static_kernels {

using Index = std::ptrdiff_t;

/// True for parameters that are a type (davit::Constant, or any with a constant `value`): the kernel is specialized on
/// them.
template <class P>
inline constexpr bool is_constant = requires { typename std::bool_constant<(static_cast<void>(P::value), true)>; };

/// Returns the parameter struct from either form.
template <class P>
[[gnu::always_inline]] constexpr const auto& numbers_of(const P& params) noexcept {
  if constexpr (is_constant<P>) {
    return P::value;
  } else {
    return params;
  }
}

/// Floats that one instruction adds; at most 8, the multiple to which output-inner weights are padded.
inline constexpr Index simd = kernels::vector_bytes >= 32 ? 8 : kernels::vector_bytes >= 16 ? 4 : 1;

/// True if memcpy of a few bytes would be a call, and add the function to the image.
#if DAVIT_TARGET_ARM32
inline constexpr bool calls_memcpy = true;
#else
inline constexpr bool calls_memcpy = false;
#endif

/// The type of sums that must keep their digits: double where the hardware has it.
#if DAVIT_TARGET_FLOAT_ONLY
using Wide = float;
#else
using Wide = double;
#endif

namespace detail {
template <Index N>
struct PackOf {
  typedef float type __attribute__((vector_size(N * sizeof(float))));
};
template <>
struct PackOf<1> {
  using type = float;
};
}  // namespace detail

/// N floats with elementwise arithmetic; one float for N = 1.
template <Index N>
using Pack = typename detail::PackOf<N>::type;

template <Index N>
[[nodiscard, gnu::always_inline]] constexpr Pack<N> load(const float* from) noexcept {
  if constexpr (N == 1) {
    return *from;
  } else {
    Pack<N> v;
    std::memcpy(&v, from, sizeof v);
    return v;
  }
}
/// Loads the first `count` floats, all if there are N or more; the others are 0.
template <Index N>
[[nodiscard, gnu::always_inline]] constexpr Pack<N> load_some(const float* from, Index count) noexcept {
  if constexpr (N == 1) {
    return *from;
  } else {
    if (count >= N) return load<N>(from);
    Pack<N> v{};
#if DAVIT_TARGET_HELIUM_FLOAT && !defined(__clang__)
    if !consteval {
      asm("vctp.32 %2\n\tvpst\n\tvldrwt.32 %q0, [%1]" : "=w"(v) : "r"(from), "r"(count) : "memory", "p0");
      return v;
    }
#endif
    if constexpr (calls_memcpy) {
      for (Index i = 0; i < count; ++i) v[i] = from[i];
    } else {
      std::memcpy(&v, from, static_cast<std::size_t>(count) * sizeof(float));
    }
    return v;
  }
}
template <Index N>
[[gnu::always_inline]] constexpr void store(float* to, const Pack<N>& v) noexcept {
  if constexpr (N == 1) {
    *to = v;
  } else {
    std::memcpy(to, &v, sizeof v);
  }
}
/// Stores the first `count` floats, all if there are N or more.
template <Index N>
[[gnu::always_inline]] constexpr void store_some(float* to, const Pack<N>& v, Index count) noexcept {
  if constexpr (N == 1) {
    *to = v;
  } else if (count >= N) {
    store<N>(to, v);
  } else if constexpr (calls_memcpy) {
#if DAVIT_TARGET_HELIUM_FLOAT && !defined(__clang__)
    // an element with a variable index would keep the vector in memory
    asm volatile("vctp.32 %2\n\tvpst\n\tvstrwt.32 %q0, [%1]" : : "w"(v), "r"(to), "r"(count) : "memory", "p0");
#else
    for (Index i = 0; i < count; ++i) to[i] = v[i];
#endif
  } else {
    std::memcpy(to, &v, static_cast<std::size_t>(count) * sizeof(float));
  }
}

/// sum + a * b, in loops that are chains of such sums. Products are rounded alike in packs and in single floats.
template <class V>
[[nodiscard, gnu::always_inline]] constexpr V add_product(V sum, V a, float b) noexcept {
#if DAVIT_TARGET_HELIUM_FLOAT && !defined(__clang__)
  if constexpr (sizeof(V) == 16) return __builtin_mve_vfmaq_n_fv4sf(sum, a, b);  // g++ 12 does not fuse these itself
#endif
  sum += a * b;
  if !consteval {
    if constexpr (std::is_same_v<V, float>) kernels::sum_in_order(sum);
  }
  return sum;
}

/// Loads a float once that several packs are multiplied with: g++ 12 would load it for each.
[[nodiscard, gnu::always_inline]] constexpr float load_once(const float* from) noexcept {
  float v = *from;
#if DAVIT_TARGET_HELIUM
  if !consteval {
    asm("" : "+r"(v));
  }
#endif
  return v;
}

/// Calls `f.template operator()<I>()` for I from 0 to N - 1, unrolled.
template <Index N, class F>
[[gnu::always_inline]] constexpr void unroll(F&& f) {
  [&]<Index... I>(std::integer_sequence<Index, I...>)
      __attribute__((always_inline)) { (f.template operator()<I>(), ...); }(std::make_integer_sequence<Index, N>{});
}

/// Calls `f.template operator()<N>(i)` so that the ranges [i, i + N) cover [0, count) in order; N is `simd` if it fits.
/// `Unrolled`: four such ranges at once.
template <bool Unrolled, class F>
[[gnu::always_inline]] constexpr void for_packs(Index count, F&& f) {
  Index done = 0;
  if !consteval {
    if constexpr (simd > 1) {
      constexpr Index step = Unrolled ? 4 : 1;
      const Index packs = count / simd, steps = packs / step;
      for (Index i = 0; i < steps; ++i)
        unroll<step>([&]<Index I>()
                         __attribute__((always_inline)) { f.template operator()<simd>((i * step + I) * simd); });
      for (Index i = 0; i < packs % step; ++i) f.template operator()<simd>((steps * step + i) * simd);
      done = packs * simd;
    }
    if constexpr (simd > 4)
      if (count - done >= 4) {
        f.template operator()<4>(done);
        done += 4;
      }
  }
  const Index rest = count - done;
  for (Index i = 0; i < rest; ++i) f.template operator()<1>(done + i);
}

}  // namespace davit::static_kernels
