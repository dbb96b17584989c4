// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "davit/core/error.hpp"
#include "davit/embed/freeze_plan.hpp"

namespace davit::detail {

template <std::size_t I, class K>
struct IndexedKernel {
  using type = K;
};
template <class Indices, class... Ks>
struct KernelTable;
template <std::size_t... I, class... Ks>
struct KernelTable<std::index_sequence<I...>, Ks...> : IndexedKernel<I, Ks>... {};
template <std::size_t I, class K>
IndexedKernel<I, K> kernel_of(const IndexedKernel<I, K>&);
template <class List>
struct TableOf;
template <class... Ks>
struct TableOf<kernel_list<Ks...>> {
  using type = KernelTable<std::index_sequence_for<Ks...>, Ks...>;
};
template <class List, std::size_t I>
using kernel_at = typename decltype(kernel_of<I>(std::declval<const typename TableOf<List>::type&>()))::type;

/// What a kernel's run answers: void or ErrorCode.
template <class K, class... Ts>
using run_result = decltype(K::run(std::declval<const typename K::Params&>(), std::declval<Ts>()...));

/// One copy of a kernel's code for all steps with these pointer types.
template <class K, class... Ts>
[[gnu::noinline]] constexpr run_result<K, Ts...> call_shared(const typename K::Params& params, Ts... pointers) {
  return K::run(params, pointers...);
}

/// The code of a program's steps. Faces are the backends' static faces, Policies their policies.
///
/// Compile time per node: what a step is stands in plain arrays of numbers, a step is one function template over these
/// numbers (equal steps share it), no template arguments are deduced, and calls are generated in chunks.
template <class P, class Planned, class Faces, class Policies, class Memory>
struct StepCode {
  using Rows = decltype(Planned::rows);
  static constexpr std::size_t chunk = 32;

  /// The pointer that an operand stands for.
  template <std::uint64_t Code>
  [[nodiscard, gnu::always_inline]] static constexpr auto pointer(Memory& memory) noexcept {
    constexpr auto place = static_cast<StaticPlace>(Code >> 16 & 0xff);
    constexpr auto offset = static_cast<std::uint32_t>(Code >> 32);
    using T = element_of<static_cast<ScalarType>(Code >> 8 & 0xff)>;
    using Pointer = std::conditional_t<(Code & 1) != 0, T*, const T*>;
    if constexpr (place == StaticPlace::arena) {
      if constexpr (Memory::is_bytes)
        return reinterpret_cast<Pointer>(memory.arena + offset);
      else
        return static_cast<Pointer>(memory.template in_arena<T>(offset));
    } else if constexpr (place == StaticPlace::argument) {
      return static_cast<Pointer>(memory.template argument<T>(offset));
    } else if constexpr (place == StaticPlace::state) {
      return static_cast<Pointer>(memory.state->template of<T>() + offset);
    } else if constexpr (place == StaticPlace::array) {
      constexpr Pointer p = P::inputs[offset].data.template as<T>();
      return p;
    } else if constexpr (place == StaticPlace::blob) {
      return reinterpret_cast<Pointer>(P::weights() + offset);
    } else if constexpr (place == StaticPlace::table) {
      return Planned::template table<T>() + offset;
    } else {
      return Pointer(nullptr);
    }
  }

  template <class K, class... Ts>
  [[gnu::always_inline]] static constexpr ErrorCode call(const typename K::Params& params, Ts... pointers) {
    if constexpr (std::is_void_v<run_result<K, Ts...>>) {
      call_shared<K, Ts...>(params, pointers...);
      return ErrorCode::ok;
    } else {
      return call_shared<K, Ts...>(params, pointers...);
    }
  }
  template <class K, auto params, class... Ts>
  [[gnu::always_inline]] static constexpr ErrorCode call_special(Ts... pointers) {
    if constexpr (std::is_void_v<run_result<K, Ts...>>) {
      K::run(Constant<params>{}, pointers...);
      return ErrorCode::ok;
    } else {
      return K::run(Constant<params>{}, pointers...);
    }
  }

  /// A step: its kernel (backend << 16 | index), its parameters, and its operands until the first 0.
  template <std::uint32_t Kernel, std::uint32_t FirstParam, std::uint64_t... Codes>
  [[gnu::always_inline]] static constexpr ErrorCode run_step(Memory& memory) {
    using Face = std::tuple_element_t<(Kernel >> 16), Faces>;
    static_assert((Kernel & 0xffff) < Face::Kernels::size,
                  "davit: a backend wrote a step of a kernel that is not in its Kernels; add it to the kernel_list");
    using K = kernel_at<typename Face::Kernels, (Kernel & 0xffff)>;
    if constexpr (std::tuple_element_t<(Kernel >> 16), Policies>::template specialise<K>) {
      return call_special<K, Planned::template params<K, FirstParam>>(pointer<Codes>(memory)...);
    } else {
      return call<K>(Planned::template params<K, FirstParam>, pointer<Codes>(memory)...);
    }
  }
  /// The same with operands that end at the first 0.
  template <std::uint32_t Kernel, std::uint32_t FirstParam, std::uint64_t A, std::uint64_t B, std::uint64_t C,
            std::uint64_t D>
  [[gnu::always_inline]] static constexpr ErrorCode run4(Memory& memory) {
    if constexpr (B == 0)
      return run_step<Kernel, FirstParam, A>(memory);
    else if constexpr (C == 0)
      return run_step<Kernel, FirstParam, A, B>(memory);
    else if constexpr (D == 0)
      return run_step<Kernel, FirstParam, A, B, C>(memory);
    else
      return run_step<Kernel, FirstParam, A, B, C, D>(memory);
  }
  template <std::uint32_t Kernel, std::uint32_t FirstParam, std::uint32_t Count, std::uint64_t... Codes>
  [[gnu::always_inline]] static constexpr ErrorCode run_many(Memory& memory) {
    constexpr std::array<std::uint64_t, sizeof...(Codes)> codes{Codes...};
    return [&]<std::size_t... O>(std::index_sequence<O...>) __attribute__((always_inline)) {
      return run_step<Kernel, FirstParam, codes[O]...>(memory);
    }(std::make_index_sequence<Count>{});
  }

  [[gnu::always_inline]] static constexpr bool passed(ErrorCode code, Fault& fault, NodeId node) noexcept {
    if (code == ErrorCode::ok) [[likely]]
      return true;
    fault = Fault(code, static_cast<DebugHandle>(node));
    return false;
  }

  /// The step of that row; steps that do the same share one.
  template <std::uint32_t I>
  [[gnu::always_inline]] static constexpr ErrorCode run_row(Memory& memory) {
    constexpr auto& r = Planned::rows;
    if constexpr (Rows::width == 4) {
      return run4<r.kernels[I], r.params[I], r.codes[I * 4], r.codes[I * 4 + 1], r.codes[I * 4 + 2],
                  r.codes[I * 4 + 3]>(memory);
    } else {
      static_assert(Rows::width == 12);
      return run_many<r.kernels[I], r.params[I], r.counts[I], r.codes[I * 12], r.codes[I * 12 + 1], r.codes[I * 12 + 2],
                      r.codes[I * 12 + 3], r.codes[I * 12 + 4], r.codes[I * 12 + 5], r.codes[I * 12 + 6],
                      r.codes[I * 12 + 7], r.codes[I * 12 + 8], r.codes[I * 12 + 9], r.codes[I * 12 + 10],
                      r.codes[I * 12 + 11]>(memory);
    }
  }
  template <std::size_t First, std::size_t... I>
  [[gnu::always_inline]] static constexpr bool steps(Memory& memory, Fault& fault, std::index_sequence<I...>) {
    constexpr auto& r = Planned::rows;
    return (passed(run_row<r.like[First + I]>(memory), fault, r.nodes[First + I]) && ...);
  }
  /// Up to `chunk` steps as one function, so that the compiler's time per step stays the same.
  template <std::size_t First, std::size_t Count>
  [[gnu::noinline]] static constexpr bool run_chunk(Memory& memory, Fault& fault) {
    return steps<First>(memory, fault, std::make_index_sequence<Count>{});
  }

  template <std::size_t I>
  [[gnu::always_inline]] static constexpr void copy(Memory& memory) {
    constexpr StaticCopy c = Planned::frozen.copies[I];
    const auto* from = pointer<operand_code(c.from)>(memory);
    auto* to = pointer<operand_code(c.to)>(memory);
    if consteval {
      for (std::uint32_t i = 0; i < c.count; ++i) to[i] = from[i];
    } else {
      __builtin_memcpy(to, from, c.count * sizeof *to);
    }
  }

  /// Runs all steps, then the copies.
  static constexpr bool run(Memory& memory, Fault& fault) {
    constexpr std::size_t count = Planned::sizes.steps;
    bool ok = true;
    if constexpr (count <= chunk) {
      ok = steps<0>(memory, fault, std::make_index_sequence<count>{});
    } else {
      ok = [&]<std::size_t... C>(std::index_sequence<C...>) {
        return (run_chunk<C * chunk, (count - C * chunk < chunk ? count - C * chunk : chunk)>(memory, fault) && ...);
      }(std::make_index_sequence<(count + chunk - 1) / chunk>{});
    }
    if (!ok) return false;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (copy<I>(memory), ...);
    }(std::make_index_sequence<Planned::sizes.copies>{});
    return true;
  }
};

}  // namespace davit::detail
