// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "davit/core/config.hpp"

namespace davit {

namespace detail {

/// A std::stop_token or std::stop_source, or a type with the same member.
template <class T>
concept StopToken = requires(const T& token) {
  { token.stop_requested() } -> std::convertible_to<bool>;
};
/// A std::chrono::steady_clock::time_point. (No header here includes <chrono>.)
template <class T>
concept SteadyTime = requires(T at) {
  requires T::clock::is_steady;
  { at.time_since_epoch().count() } -> std::convertible_to<std::int64_t>;
};

}  // namespace detail

/// When to cancel a run: when another thread asks for it, at a time, or at the earlier of both.
///
/// A token (std::stop_token, std::stop_source) is referred to, and must outlive the condition.
class StopCondition {
 public:
  /// Never.
  constexpr StopCondition() = default;
  template <detail::StopToken T>
  constexpr StopCondition(const T& token) noexcept
      : token_(std::addressof(token)),
        requested_([](const void* self) noexcept -> bool { return static_cast<const T*>(self)->stop_requested(); }) {}
  template <detail::SteadyTime T>
  constexpr StopCondition(T deadline) noexcept : deadline_(nanoseconds(deadline)) {}
  template <detail::StopToken T, detail::SteadyTime At>
  constexpr StopCondition(const T& token, At deadline) noexcept : StopCondition(token) {
    deadline_ = nanoseconds(deadline);
  }
  /// A temporary token would end before the run.
  template <class T, class... At>
    requires(detail::StopToken<T> && !std::is_lvalue_reference_v<T>)
  StopCondition(T&& token, At... deadline) = delete;

  /// True unless the condition is "never".
  [[nodiscard]] constexpr bool is_set() const noexcept { return requested_ != nullptr || deadline_ != never; }
  /// Returns the reason to stop now, as the sentence of an Error; nullptr if there is none. Reads the clock if there is
  /// a deadline.
  [[nodiscard]] const char* reason() const noexcept;

 private:
  static constexpr std::int64_t never = INT64_MAX;
  template <class T>
  [[nodiscard]] static constexpr std::int64_t nanoseconds(T at) noexcept {
    using Period = typename T::period;
    static_assert(Period::num == 1 && 1'000'000'000 % Period::den == 0, "davit: the deadline is no steady_clock time");
    std::int64_t scaled = 0;
    return __builtin_mul_overflow(static_cast<std::int64_t>(at.time_since_epoch().count()),
                                  std::int64_t{1'000'000'000 / Period::den}, &scaled)
               ? never
               : scaled;
  }

  const void* token_ = nullptr;
  bool (*requested_)(const void*) noexcept = nullptr;
  std::int64_t deadline_ = never;  ///< nanoseconds of std::chrono::steady_clock
};

}  // namespace davit
