// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "davit/core/config.hpp"

namespace davit {

/// The threads of one run of programs of backend B that are compiled from now on and whose spec gives no number.
template <class B>
inline constinit std::atomic<std::uint32_t> default_threads{1};

/// Implements B::set_threads: at least 1, at most the limit of compile specs.
template <class B>
void set_default_threads(std::uint32_t threads) noexcept {
  default_threads<B> = std::clamp<std::uint32_t>(threads, 1, 1024);
}

/// The threads of a run by its compile spec, where 0 means the default.
template <class B>
[[nodiscard]] std::uint32_t threads_of(const typename B::CompileSpec& spec) noexcept {
  return spec.threads != 0 ? spec.threads : default_threads<B>.load();
}

}  // namespace davit
