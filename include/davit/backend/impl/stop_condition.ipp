// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

#include "davit/backend/stop_condition.hpp"

namespace davit {

const char* StopCondition::reason() const noexcept {
  if (requested_ != nullptr && requested_(token_)) return "the run was cancelled: a stop was requested";
  if (deadline_ == never) return nullptr;
  const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
  return now.count() >= deadline_ ? "the run was cancelled: its deadline has passed" : nullptr;
}

}  // namespace davit
