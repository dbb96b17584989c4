// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "davit/core/error.hpp"
#include "davit/embed/freeze_plan.hpp"
#include "davit/embed/static_settings.hpp"

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
/// A class, so that the compiler searches the table once per kernel.
template <class List, std::size_t I>
struct KernelAt {
  using type = typename decltype(kernel_of<I>(std::declval<const typename TableOf<List>::type&>()))::type;
};
template <class List, std::size_t I>
using kernel_at = typename KernelAt<List, I>::type;

/// The result of a kernel's run: void or ErrorCode.
template <class K, class... Ts>
using run_result = decltype(K::run(std::declval<const typename K::Params&>(), std::declval<Ts>()...));

/// A kernel's code, shared by all steps with these pointer types.
template <class K, class... Ts>
[[gnu::noinline]] constexpr run_result<K, Ts...> call_shared(const typename K::Params& params, Ts... pointers) {
  return K::run(params, pointers...);
}
template <class K, class... Ts>
[[gnu::always_inline]] constexpr ErrorCode call(const typename K::Params& params, Ts... pointers) {
  if constexpr (std::is_void_v<run_result<K, Ts...>>) {
    call_shared<K, Ts...>(params, pointers...);
    return ErrorCode::ok;
  } else {
    return call_shared<K, Ts...>(params, pointers...);
  }
}
/// A kernel's code for constant parameters.
template <class K, auto params, class... Ts>
[[gnu::always_inline]] constexpr ErrorCode call_special(Ts... pointers) {
  if constexpr (std::is_void_v<run_result<K, Ts...>>) {
    K::run(Constant<params>{}, pointers...);
    return ErrorCode::ok;
  } else {
    return K::run(Constant<params>{}, pointers...);
  }
}

[[gnu::always_inline]] constexpr bool passed(ErrorCode code, Fault& fault, NodeId node) noexcept {
  if (code == ErrorCode::ok) [[likely]]
    return true;
  fault = Fault(code, static_cast<DebugHandle>(node));
  return false;
}

/// The code of a program's steps. StaticBackends are the backends' static faces, Policies their policies; a hook counts
/// calls from `first_call` on.
///
/// To save compile time, steps are plain arrays of numbers, a step is one function (equal steps share it), code that
/// does not depend on the program is outside, and calls are generated in chunks.
template <class P, class Planned, class StaticBackends, class Policies, class Memory, class Hook = void,
          std::uint32_t first_call = 0>
struct StepCode {
  using Rows = decltype(Planned::rows);
  static constexpr std::size_t chunk = 32;

  /// The pointer of an operand, from the two halves of its operand_code.
  template <std::uint32_t Kind>
  [[nodiscard, gnu::always_inline]] static constexpr auto pointer(Memory& memory, std::uint32_t offset) noexcept {
    constexpr auto place = static_cast<StaticPlace>(Kind >> 16 & 0xff);
    using T = element_of<static_cast<ScalarType>(Kind >> 8 & 0xff)>;
    using Pointer = std::conditional_t<(Kind & 1) != 0, T*, const T*>;
    if constexpr (place == StaticPlace::arena)
      return static_cast<Pointer>(memory.template in_arena<T>(offset));
    else if constexpr (place == StaticPlace::argument)
      return static_cast<Pointer>(memory.template argument<T>(offset));
    else if constexpr (place == StaticPlace::state)
      return static_cast<Pointer>(memory.state->template of<T>() + offset);
    else if constexpr (place == StaticPlace::array)
      return P::inputs.data()[offset].data.template as<T>();
    else if constexpr (place == StaticPlace::blob)
      return reinterpret_cast<Pointer>(P::weights() + offset);
    else if constexpr (place == StaticPlace::table)
      return Planned::template table<T>() + offset;
    else
      return Pointer(nullptr);
  }
  template <std::uint64_t Code>
  [[nodiscard, gnu::always_inline]] static constexpr auto pointer_of(Memory& memory) noexcept {
    return pointer<static_cast<std::uint32_t>(Code)>(memory, static_cast<std::uint32_t>(Code >> 32));
  }

  /// True for plans of several sizes (SizedPlan): numbers that differ are looked up by `memory.size`.
  static constexpr bool has_sizes = requires { Planned::template offset<0, 0>(0); };
  /// Operand O of step I.
  template <std::uint32_t I, std::size_t O>
  [[nodiscard, gnu::always_inline]] static constexpr auto operand(Memory& memory) noexcept {
    constexpr std::uint64_t code = Planned::rows.codes[I * Rows::width + O];
    if constexpr (has_sizes)
      return pointer<static_cast<std::uint32_t>(code)>(memory, Planned::template offset<I, O>(memory.size));
    else
      return pointer_of<code>(memory);
  }

  /// The function of that row; equal steps share one. Operands are spelled out, which compiles faster than a pack.
  template <std::uint32_t I>
  [[gnu::always_inline]] static constexpr ErrorCode run_row(Memory& memory) {
    constexpr auto& r = Planned::rows;
    constexpr std::uint32_t kernel = r.kernels[I], count = r.counts[I];
    constexpr std::size_t at = I * Rows::width;
    using BackendType = std::tuple_element_t<(kernel >> 16), StaticBackends>;
    static_assert((kernel & 0xffff) < BackendType::Kernels::size,
                  "davit: a backend wrote a step of a kernel that is not in its Kernels; add it to the kernel_list");
    using K = kernel_at<typename BackendType::Kernels, (kernel & 0xffff)>;
    constexpr auto& params = Planned::template params<K, r.params[I]>;
    if constexpr (has_sizes || std::tuple_element_t<(kernel >> 16), Policies>::template specialise<K> || count == 0 ||
                  count > 6)
      return run_any<K, I>(memory, std::make_index_sequence<count>{});
    else if constexpr (count == 1)
      return call<K>(params, pointer<std::uint32_t(r.codes[at])>(memory, r.codes[at] >> 32));
    else if constexpr (count == 2)
      return call<K>(params, pointer<std::uint32_t(r.codes[at])>(memory, r.codes[at] >> 32),
                     pointer<std::uint32_t(r.codes[at + 1])>(memory, r.codes[at + 1] >> 32));
    else if constexpr (count == 3)
      return call<K>(params, pointer<std::uint32_t(r.codes[at])>(memory, r.codes[at] >> 32),
                     pointer<std::uint32_t(r.codes[at + 1])>(memory, r.codes[at + 1] >> 32),
                     pointer<std::uint32_t(r.codes[at + 2])>(memory, r.codes[at + 2] >> 32));
    else if constexpr (count == 4)
      return call<K>(params, pointer<std::uint32_t(r.codes[at])>(memory, r.codes[at] >> 32),
                     pointer<std::uint32_t(r.codes[at + 1])>(memory, r.codes[at + 1] >> 32),
                     pointer<std::uint32_t(r.codes[at + 2])>(memory, r.codes[at + 2] >> 32),
                     pointer<std::uint32_t(r.codes[at + 3])>(memory, r.codes[at + 3] >> 32));
    else if constexpr (count == 5)
      return call<K>(params, pointer<std::uint32_t(r.codes[at])>(memory, r.codes[at] >> 32),
                     pointer<std::uint32_t(r.codes[at + 1])>(memory, r.codes[at + 1] >> 32),
                     pointer<std::uint32_t(r.codes[at + 2])>(memory, r.codes[at + 2] >> 32),
                     pointer<std::uint32_t(r.codes[at + 3])>(memory, r.codes[at + 3] >> 32),
                     pointer<std::uint32_t(r.codes[at + 4])>(memory, r.codes[at + 4] >> 32));
    else
      return call<K>(params, pointer<std::uint32_t(r.codes[at])>(memory, r.codes[at] >> 32),
                     pointer<std::uint32_t(r.codes[at + 1])>(memory, r.codes[at + 1] >> 32),
                     pointer<std::uint32_t(r.codes[at + 2])>(memory, r.codes[at + 2] >> 32),
                     pointer<std::uint32_t(r.codes[at + 3])>(memory, r.codes[at + 3] >> 32),
                     pointer<std::uint32_t(r.codes[at + 4])>(memory, r.codes[at + 4] >> 32),
                     pointer<std::uint32_t(r.codes[at + 5])>(memory, r.codes[at + 5] >> 32));
  }
  template <class K, std::uint32_t I, std::size_t... O>
  [[gnu::always_inline]] static constexpr ErrorCode run_any(Memory& memory, std::index_sequence<O...>) {
    constexpr auto& r = Planned::rows;
    constexpr auto& params = Planned::template params<K, r.params[I]>;
    if constexpr (has_sizes)
      return call<K>(Planned::template params_in<K, I>(memory.size), operand<I, O>(memory)...);
    else if constexpr (std::tuple_element_t<(r.kernels[I] >> 16), Policies>::template specialise<K>)
      return call_special<K, params>(operand<I, O>(memory)...);
    else
      return call<K>(params, operand<I, O>(memory)...);
  }
  template <std::uint32_t I>
  static consteval std::uint32_t calls_before() {
    std::uint32_t calls = first_call;
    for (std::uint32_t i = 0; i < I; ++i) calls += Planned::rows.control(i) == StaticControl::none ? 1 : 0;
    return calls;
  }
  /// Runs step I, between the hook's functions.
  template <std::uint32_t I>
  [[gnu::always_inline]] static constexpr bool step(Memory& memory, Fault& fault) {
    constexpr auto& r = Planned::rows;
    constexpr StepInfo info{calls_before<I>(), r.nodes[I], P::tables.nodes[r.nodes[I]].target};
    if constexpr (requires { Hook::before(info); })
      if !consteval {
        Hook::before(info);
      }
    const bool ok = passed(run_row<r.like[I]>(memory), fault, r.nodes[I]);
    if constexpr (requires { Hook::after(info); })
      if !consteval {
        Hook::after(info);
      }
    return ok;
  }
  template <std::size_t First, std::size_t... I>
  [[gnu::always_inline]] static constexpr bool steps(Memory& memory, Fault& fault, std::index_sequence<I...>) {
    if constexpr (std::is_void_v<Hook>) {
      constexpr auto& r = Planned::rows;
      return (passed(run_row<r.like[First + I]>(memory), fault, r.nodes[First + I]) && ...);
    } else {
      return (step<First + I>(memory, fault) && ...);
    }
  }
  /// Runs up to `chunk` steps in one function, so that the compiler's time per step stays constant.
  template <std::size_t First, std::size_t Count>
  [[gnu::noinline]] static constexpr bool run_chunk(Memory& memory, Fault& fault) {
    return steps<First>(memory, fault, std::make_index_sequence<Count>{});
  }

  template <std::size_t I>
  [[gnu::always_inline]] static constexpr void copy(Memory& memory) {
    constexpr StaticCopy c = Planned::frozen.copies[I];
    std::uint32_t from_offset = c.from.offset, to_offset = c.to.offset, count = c.count;
    if constexpr (has_sizes) {
      from_offset = Planned::template copy_number<I, 0>(memory.size);
      to_offset = Planned::template copy_number<I, 1>(memory.size);
      count = Planned::template copy_number<I, 2>(memory.size);
    }
    const auto* from = pointer<static_cast<std::uint32_t>(operand_code(c.from))>(memory, from_offset);
    auto* to = pointer<static_cast<std::uint32_t>(operand_code(c.to))>(memory, to_offset);
    if consteval {
      for (std::uint32_t i = 0; i < count; ++i) to[i] = from[i];
    } else {
      __builtin_memcpy(to, from, count * sizeof *to);
    }
  }

  /// Runs steps that are all calls.
  template <std::size_t First, std::size_t Count>
  [[gnu::always_inline]] static constexpr bool run_calls(Memory& memory, Fault& fault) {
    if constexpr (Count <= chunk)
      return steps<First>(memory, fault, std::make_index_sequence<Count>{});
    else
      return [&]<std::size_t... C>(std::index_sequence<C...>) {
        return (run_chunk<First + C * chunk, (Count - C * chunk < chunk ? Count - C * chunk : chunk)>(memory, fault) &&
                ...);
      }(std::make_index_sequence<(Count + chunk - 1) / chunk>{});
  }

  /// The first control step from `First` on; `Last` if there is none.
  template <std::uint32_t First, std::uint32_t Last>
  static consteval std::uint32_t next_control() {
    std::uint32_t i = First;
    while (i < Last && Planned::rows.control(i) == StaticControl::none) ++i;
    return i;
  }
  /// The bool that the step reads.
  template <std::uint32_t I>
  [[nodiscard, gnu::always_inline]] static constexpr bool truth(Memory& memory) {
    return *operand<I, 0>(memory) != 0;
  }
  /// Runs steps with control flow among them.
  template <std::uint32_t First, std::uint32_t Last>
  static constexpr bool run_region(Memory& memory, Fault& fault) {
    constexpr auto& r = Planned::rows;
    constexpr std::uint32_t at = next_control<First, Last>();
    if constexpr (at > First)
      if (!run_calls<First, at - First>(memory, fault)) return false;
    if constexpr (at < Last) {
      constexpr StaticControl control = r.control(at);
      constexpr std::uint32_t next = r.jumps[at];
      if constexpr (control == StaticControl::nothing) {
        return run_region<at + 1, Last>(memory, fault);
      } else if constexpr (control == StaticControl::branch) {
        if (!(truth<at>(memory) ? run_region<at + 1, next>(memory, fault)
                                : run_region<next + 1, r.jumps[next]>(memory, fault)))
          return false;
        return run_region<r.jumps[next] + 1, Last>(memory, fault);
      } else if constexpr (control == StaticControl::loop) {
        while (true) {
          if (!run_region<at + 1, next>(memory, fault)) return false;
          if (!truth<next>(memory)) break;
          if (!run_region<next + 1, r.jumps[next]>(memory, fault)) return false;
        }
        return run_region<r.jumps[next] + 1, Last>(memory, fault);
      } else {
        static_assert(control == StaticControl::count);
        std::int32_t* const round = operand<at, 0>(memory);
        constexpr std::int32_t same_rounds = Planned::frozen.params[r.params[at]];
        std::int32_t rounds = same_rounds;
        if constexpr (has_sizes) rounds = Planned::template first_param_in<at>(memory.size);
        for (*round = 0; *round < rounds; ++*round)
          if (!run_region<at + 1, next>(memory, fault)) return false;
        return run_region<next + 1, Last>(memory, fault);
      }
    }
    return true;
  }

  /// Runs all steps, then the copies.
  static constexpr bool run(Memory& memory, Fault& fault) {
    constexpr std::size_t count = Planned::sizes.steps;
    bool ok = true;
    if constexpr (Planned::sizes.controls == 0)
      ok = run_calls<0, count>(memory, fault);
    else
      ok = run_region<0, count>(memory, fault);
    if (!ok) return false;
    run_copies(memory);
    return true;
  }
  [[gnu::always_inline]] static constexpr void run_copies(Memory& memory) {
    if constexpr (Planned::sizes.copies != 0) {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (copy<I>(memory), ...);
      }(std::make_index_sequence<Planned::sizes.copies>{});
    }
  }
};

}  // namespace davit::detail
