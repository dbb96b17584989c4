// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "davit/backend/embed_contract.hpp"
#include "davit/core/error.hpp"
#include "davit/embed/control_flow.hpp"
#include "davit/embed/planned_program.hpp"

namespace davit {

/// @name Options of a static_module. They precede the backends: static_module<P, external_arena, portable>.
/// @{

/// The arena is the caller's: `forward(arena, inputs..., outputs...)`. The module itself holds only the state.
///
/// Several modules may share an arena of `max_arena<A, B, ...>` bytes if they do not run at the same time.
struct external_arena {};

/// Inputs and outputs are in the arena: `module.input<0>()`, `module.output<0>()`; forward takes none.
///
/// forward reuses the inputs' memory for intermediate values: write every input before every run. Outputs are valid
/// from the end of a run until an input, or anything else in the arena, is written. Inputs that the program mutates
/// hold their new value after the run. Not for constant evaluation.
struct tensors_in_arena {};

/// `Hook::before(step)` and `Hook::after(step)`, static functions, are called around each step with a `StepInfo`; a
/// missing function costs nothing. Not called in constant evaluation, nor for the copies after the steps.
///
///     struct cycles {  // of each step, by a Cortex-M's cycle counter
///       static inline std::uint32_t begin, of[Model::step_count];  // Model: the module without a hook
///       static void before(const davit::StepInfo&) { begin = DWT->CYCCNT; }
///       static void after(const davit::StepInfo& step) { of[step.index] += DWT->CYCCNT - begin; }
///     };
///     davit::static_module<digits_cnn, davit::step_hook<cycles>, davit::portable> module;
template <class Hook>
struct step_hook {};
/// @}

/// The description of a step for a step_hook.
struct StepInfo {
  std::uint32_t index =
      0;                ///< below step_count, in the order of execution but for loops and branches; method by method
  NodeId node = no_id;  ///< the node whose outputs it computes, the debug handle of its errors
  const char* target = "";  ///< the node's operator
};

/// Memory for a static_module's arena, with its alignment.
template <std::size_t Bytes>
struct alignas(static_alignment) static_arena {
  std::array<std::byte, Bytes> bytes;
};

/// An arena that is large enough for each of these static modules.
template <class... Modules>
inline constexpr std::size_t max_arena = std::max({std::size_t{0}, Modules::arena_bytes...});

struct portable;

namespace detail {

/// Separates the options of a static_module from its backends.
template <class... Backends>
struct StaticSettings {
  static constexpr bool owns_arena = true;
  static constexpr bool has_tensors = false;  ///< inputs and outputs are in the arena
  using Hook = void;

  static constexpr std::size_t backend_count = sizeof...(Backends);
  static constexpr bool are_backends = (StaticBackend<typename static_backend_of<Backends>::type> && ...);
  /// True if davit::portable is a backend, but its header for static programs is not included.
  template <class BackendType>
  static constexpr bool lacks_header = std::is_same_v<BackendType, portable> && !StaticBackend<BackendType>;
  static constexpr bool lacks_portable = (lacks_header<typename static_backend_of<Backends>::type> || ...);
  using StaticBackends =
      std::tuple<typename static_backend_of<Backends>::type..., control_flow>;  // control flow comes last
  using Policies = std::tuple<typename static_backend_of<Backends>::policy..., for_size>;
  /// Made<P, InArena, backends' faces...>.
  template <template <class, bool, class...> class Made, class P, bool InArena>
  using with_backends = Made<P, InArena, typename static_backend_of<Backends>::type...>;
  static constexpr auto names() {
    return std::array<std::string_view, sizeof...(Backends)>{
        std::string_view(static_backend_of<Backends>::type::name)...};
  }
};
template <class... Rest>
struct StaticSettings<external_arena, Rest...> : StaticSettings<Rest...> {
  static constexpr bool owns_arena = false;
};
template <class... Rest>
struct StaticSettings<tensors_in_arena, Rest...> : StaticSettings<Rest...> {
  static constexpr bool has_tensors = true;
};
template <class H, class... Rest>
struct StaticSettings<step_hook<H>, Rest...> : StaticSettings<Rest...> {
  using Hook = H;
};

/// A caller's arena; `is_aligned` if its type guarantees the alignment.
template <std::size_t Extent, bool is_aligned>
struct GivenArena {
  static constexpr std::size_t extent = Extent;
  std::span<std::byte, Extent> bytes;
  /// Checks size and alignment at run time, where the type does not guarantee them.
  [[nodiscard]] ErrorCode check(std::size_t needed) const noexcept {
    if (Extent == std::dynamic_extent && bytes.size() < needed) return ErrorCode::out_of_memory;
    if (!is_aligned && reinterpret_cast<std::uintptr_t>(bytes.data()) % static_alignment != 0)
      return ErrorCode::invalid_argument;
    return ErrorCode::ok;
  }
};
template <std::size_t N>
[[nodiscard]] constexpr GivenArena<N, true> given_arena(static_arena<N>& arena) noexcept {
  return {std::span<std::byte, N>(arena.bytes)};
}
template <class Bytes>
  requires requires(Bytes& bytes) { std::span(bytes); }
[[nodiscard]] constexpr auto given_arena(Bytes& bytes) noexcept {
  const std::span memory(bytes);
  static_assert(
      std::is_same_v<typename decltype(memory)::element_type, std::byte>,
      "davit: an arena is a davit::static_arena<N>, or a std::span, an array of std::byte that can be written");
  return GivenArena<decltype(memory)::extent, false>{memory};
}
template <class T>
concept ArenaMemory = requires(T& arena) { given_arena(arena); };

}  // namespace detail

}  // namespace davit
