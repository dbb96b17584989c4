// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "davit/backend/embed_contract.hpp"
#include "davit/embed/run_step.hpp"

namespace davit {

/// The state of a static_module's run that uses a device.
enum class RunState : std::uint8_t {
  idle,     ///< no run was started
  running,  ///< the CPU computes, in another `step`
  waiting,  ///< the device computes
  done,     ///< the run has ended, and its outputs are valid
  failed,   ///< the run has ended with an error
};

namespace detail {

/// The position of a run.
struct RunProgress {
  std::uint32_t at = 0;  ///< row of the device's current command, or the next row to run
  RunState state = RunState::idle;
  Fault fault{};
};

/// Flags the kernels of a list that run on a device.
template <class List>
inline constexpr std::array<bool, 1> device_kernels{};
template <class... Ks>
inline constexpr std::array<bool, sizeof...(Ks) + 1> device_kernels<kernel_list<Ks...>>{DeviceKernel<Ks>..., false};

/// True if some kernel of these faces runs on a device.
template <class StaticBackends>
inline constexpr bool have_devices = false;
template <class... StaticBackends>
inline constexpr bool have_devices<std::tuple<StaticBackends...>> = [] {
  bool any = false;
  const auto search = [&](const auto& kernels) {
    for (const bool is_device : kernels) any |= is_device;
  };
  (search(device_kernels<typename StaticBackends::Kernels>), ...);
  return any;
}();

/// Flags the rows of a plan that are commands for a device.
template <class Planned, class StaticBackends, bool = have_devices<StaticBackends>>
struct DeviceRows {
  static constexpr bool any = false;
};
template <class Planned, class StaticBackends>
struct DeviceRows<Planned, StaticBackends, true> {
  static constexpr auto flags = [] {
    std::array<bool, Planned::sizes.steps + 1> all{};
    const auto mark = [&]<std::size_t B>() {
      using Kernels = typename std::tuple_element_t<B, StaticBackends>::Kernels;
      for (std::size_t i = 0; i < Planned::sizes.steps; ++i) {
        const std::uint32_t kernel = Planned::rows.kernels[i];
        if (kernel >> 16 == B && (kernel & 0xffff) < Kernels::size) all[i] = device_kernels<Kernels>[kernel & 0xffff];
      }
    };
    [&]<std::size_t... B>(std::index_sequence<B...>) {
      (mark.template operator()<B>(), ...);
    }(std::make_index_sequence<std::tuple_size_v<StaticBackends> - 1>{});  // the last face is control flow's
    return all;
  }();
  static constexpr bool any = [] {
    for (const bool flag : flags)
      if (flag) return true;
    return false;
  }();
};

/// The code of a program's steps that stops at commands for a device, and continues when they are done. A row's number
/// is all that it needs to continue: everything else, also loop counters, is in memory.
template <class P, class Planned, class StaticBackends, class Policies, class Memory, class Hook,
          std::uint32_t first_call = 0>
struct DeviceCode : StepCode<P, Planned, StaticBackends, Policies, Memory, Hook, first_call> {
  using Code = StepCode<P, Planned, StaticBackends, Policies, Memory, Hook, first_call>;
  using Rows = typename Code::Rows;
  static constexpr std::uint32_t count = Planned::sizes.steps;

  /// Continues an unfinished run until it ends or waits. Returns at once if the device is not done yet.
  static constexpr void advance(Memory& memory, RunProgress& p) {
    if (p.state == RunState::waiting) {
      bool done = false;
      at_device(p.at, [&]<std::uint32_t I>() { done = finish<I>(memory, p); });
      if (!done) return;
    }
    while (p.state == RunState::running)
      [&]<std::size_t... E>(std::index_sequence<E...>) {
        (void)((p.at == entries[E] ? (block<entries[E]>(memory, p), true) : false) || ...);
      }(std::make_index_sequence<entry_count>{});
  }
  /// Lets the backend of the current command sleep.
  static constexpr void wait(const RunProgress& p) {
    at_device(p.at, []<std::uint32_t I>() {
      if constexpr (requires { BackendType<I>::wait(); })
        if (!Kernel<I>::done()) BackendType<I>::wait();
    });
  }
  /// True if the device has finished a waiting run's command.
  static constexpr bool is_done(const RunProgress& p) {
    bool done = false;
    at_device(p.at, [&]<std::uint32_t I>() { done = Kernel<I>::done(); });
    return done;
  }

 private:
  using Device = DeviceRows<Planned, StaticBackends>;
  template <std::uint32_t I>
  using BackendType = std::tuple_element_t<(Planned::rows.kernels[I] >> 16), StaticBackends>;
  template <std::uint32_t I>
  using Kernel = kernel_at<typename BackendType<I>::Kernels, (Planned::rows.kernels[I] & 0xffff)>;

  static constexpr bool is_call(std::uint32_t i) {
    return Planned::rows.control(i) == StaticControl::none && !Device::flags[i];
  }
  /// The loop that a `repeat` ends.
  static constexpr std::uint32_t head_of(std::uint32_t repeat) {
    constexpr auto& r = Planned::rows;
    std::uint32_t i = repeat;
    while (i-- > 0) {
      const StaticControl c = r.control(i);
      if ((c == StaticControl::loop && r.jumps[r.jumps[i]] == repeat) ||
          (c == StaticControl::count && r.jumps[i] == repeat))
        break;
    }
    return i;
  }
  /// The row after row `i` (a control or a command), and its alternative.
  static constexpr std::array<std::uint32_t, 2> next(std::uint32_t i) {
    if constexpr (Planned::sizes.controls == 0) {
      return {i + 1, i + 1};
    } else {
      constexpr auto& r = Planned::rows;
      switch (r.control(i)) {
        case StaticControl::branch:
        case StaticControl::test:
        case StaticControl::count: return {i + 1, r.jumps[i] + 1};
        case StaticControl::otherwise: return {r.jumps[i] + 1, r.jumps[i] + 1};
        case StaticControl::repeat: return {head_of(i) + 1, i + 1};
        default: return {i + 1, i + 1};
      }
    }
  }
  static constexpr auto is_entry = [] {
    std::array<bool, count + 1> all{};
    all[0] = true;
    for (std::uint32_t i = 0; i < count; ++i)
      if (!is_call(i))
        for (const std::uint32_t to : next(i)) all[to] = true;
    return all;
  }();
  static constexpr std::size_t entry_count = [] {
    std::size_t n = 0;
    for (const bool entry : is_entry) n += entry ? 1 : 0;
    return n;
  }();
  static constexpr auto entries = [] {
    std::array<std::uint32_t, entry_count> all{};
    std::size_t n = 0;
    for (std::uint32_t i = 0; i <= count; ++i)
      if (is_entry[i]) all[n++] = i;
    return all;
  }();
  template <std::uint32_t First>
  static consteval std::uint32_t end_of_calls() {
    std::uint32_t i = First;
    while (i < count && is_call(i)) ++i;
    return i;
  }

  /// Calls `f.operator()<I>()` for the command of row `at`.
  template <class F>
  static constexpr void at_device(std::uint32_t at, F&& f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (void)([&] {
        if constexpr (Device::flags[I])
          if (at == I) return f.template operator()<static_cast<std::uint32_t>(I)>(), true;
        return false;
      }() || ...);
    }(std::make_index_sequence<count>{});
  }

  static constexpr void fail(RunProgress& p) noexcept { p.state = RunState::failed; }

  /// Runs from row `First` until the run waits, fails, ends or jumps.
  template <std::uint32_t First>
  static constexpr void block(Memory& memory, RunProgress& p) {
    constexpr std::uint32_t at = end_of_calls<First>();
    if constexpr (at > First)
      if (!Code::template run_calls<First, at - First>(memory, p.fault)) return fail(p);
    if constexpr (at == count) {
      Code::run_copies(memory);
      p.at = count;
      p.state = RunState::done;
    } else if constexpr (Device::flags[at]) {
      start<at>(memory, p);
    } else {
      constexpr std::array<std::uint32_t, 2> to = next(at);
      p.at = goes_on<at>(memory) ? to[0] : to[1];
    }
  }
  /// Evaluates the direction of a control.
  template <std::uint32_t I>
  static constexpr bool goes_on(Memory& memory) {
    constexpr auto& r = Planned::rows;
    constexpr StaticControl control = r.control(I);
    if constexpr (control == StaticControl::branch || control == StaticControl::test) {
      return Code::template truth<I>(memory);
    } else if constexpr (control == StaticControl::count) {
      *round<I>(memory) = 0;
      return rounds<I> > 0;
    } else if constexpr (control == StaticControl::repeat) {
      constexpr std::uint32_t head = head_of(I);
      if constexpr (r.control(head) == StaticControl::count) return ++*round<head>(memory) < rounds<head>;
    }
    return true;
  }
  template <std::uint32_t I>
  [[nodiscard]] static constexpr std::int32_t* round(Memory& memory) {
    return Code::template pointer_of<Planned::rows.codes[I * Rows::width]>(memory);
  }
  template <std::uint32_t I>
  static constexpr std::int32_t rounds = Planned::frozen.params[Planned::rows.params[I]];

  /// Calls `call(params, pointers...)` with the arguments of row I's command.
  template <std::uint32_t I, class Call>
  static constexpr auto with_operands(Memory& memory, Call&& call) {
    constexpr auto& r = Planned::rows;
    return [&]<std::size_t... O>(std::index_sequence<O...>) {
      return call(Planned::template params<Kernel<I>, r.params[I]>,
                  Code::template pointer_of<r.codes[I * Rows::width + O]>(memory)...);
    }(std::make_index_sequence<r.counts[I]>{});
  }
  /// Calls the backend's clean (for memory that the CPU may have cached) or invalidate (for memory that the device
  /// writes).
  template <std::uint32_t I, bool Invalidate>
  static constexpr void maintain_cache(Memory& memory) {
    if constexpr (MaintainsCache<BackendType<I>>)
      if !consteval {
        [&]<std::size_t... O>(std::index_sequence<O...>) {
          (maintain<I, O, Invalidate>(memory), ...);
        }(std::make_index_sequence<Planned::rows.counts[I]>{});
      }
  }
  template <std::uint32_t I, std::size_t O, bool Invalidate>
  static void maintain(Memory& memory) {
    constexpr std::uint64_t code = Planned::rows.codes[I * Rows::width + O];
    constexpr auto place = static_cast<StaticPlace>(code >> 16 & 0xff);
    constexpr std::size_t bytes = Planned::frozen.bytes[Planned::frozen.steps[I].first_operand + O];
    if constexpr (bytes == 0 ||
                  (place != StaticPlace::arena && place != StaticPlace::argument && place != StaticPlace::state))
      return;
    else if constexpr (!Invalidate)
      BackendType<I>::clean(Code::template pointer_of<code>(memory), bytes);
    else if constexpr ((code & 1) != 0)
      BackendType<I>::invalidate(Code::template pointer_of<code>(memory), bytes);
  }

  template <std::uint32_t I>
  static constexpr void start(Memory& memory, RunProgress& p) {
    constexpr NodeId node = Planned::rows.nodes[I];
    if constexpr (requires { Hook::before(info<I>()); })
      if !consteval {
        Hook::before(info<I>());
      }
    maintain_cache<I, false>(memory);
    const ErrorCode code = with_operands<I>(memory, [](const auto& params, auto... pointers) {
      if constexpr (std::is_void_v<decltype(Kernel<I>::start(params, pointers...))>)
        return Kernel<I>::start(params, pointers...), ErrorCode::ok;
      else
        return Kernel<I>::start(params, pointers...);
    });
    if (!passed(code, p.fault, node)) return fail(p);
    p.at = I;
    p.state = RunState::waiting;
  }
  /// Finishes a command; false if the device is not done.
  template <std::uint32_t I>
  static constexpr bool finish(Memory& memory, RunProgress& p) {
    if (!Kernel<I>::done()) return false;
    maintain_cache<I, true>(memory);
    const ErrorCode code = with_operands<I>(memory, [](const auto& params, auto... pointers) {
      if constexpr (requires { Kernel<I>::finish(params, pointers...); })
        return Kernel<I>::finish(params, pointers...);
      else
        return ErrorCode::ok;
    });
    if constexpr (requires { Hook::after(info<I>()); })
      if !consteval {
        Hook::after(info<I>());
      }
    if (!passed(code, p.fault, Planned::rows.nodes[I])) return fail(p), true;
    p.at = I + 1;
    p.state = RunState::running;
    return true;
  }
  template <std::uint32_t I>
  static consteval StepInfo info() {
    return {Code::template calls_before<I>(), Planned::rows.nodes[I], P::tables.nodes[Planned::rows.nodes[I]].target};
  }
};

}  // namespace detail

}  // namespace davit
