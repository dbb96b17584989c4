// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "support/static_toy.hpp"

/// A backend for additions whose device works on request, and records its commands.
namespace static_device {

using davit::ErrorCode;

/// A range of a clean or invalidate call.
struct Range {
  const void* first = nullptr;
  std::size_t bytes = 0;
  friend constexpr bool operator==(const Range&, const Range&) = default;
};

struct Device {
  const float *a = nullptr, *b = nullptr;
  float* y = nullptr;
  std::int32_t count = 0;
  bool busy = false;
  bool is_quick = false;  ///< finishes a command before `start` returns
  bool refuses = false;   ///< the next command
  bool fails = false;     ///< the next command, when it is done
  int commands = 0, sleeps = 0, polls = 0;
  std::vector<Range> cleaned, invalidated;

  void finish() {
    for (std::int32_t i = 0; i < count; ++i) y[i] = a[i] + b[i];
    busy = false;
    ++commands;
  }
};
inline Device device;

struct add_kernel {
  using Params = static_toy::Count;
  static ErrorCode start(const Params& p, float* y, const float* a, const float* b) noexcept {
    if (device.refuses) return ErrorCode::not_available;
    device.y = y;
    device.a = a;
    device.b = b;
    device.count = p.count;
    device.busy = true;
    if (device.is_quick) device.finish();
    return ErrorCode::ok;
  }
  static bool done() noexcept {
    ++device.polls;
    return !device.busy;
  }
  static ErrorCode finish(const Params&, float*, const float*, const float*) noexcept {
    return device.fails ? ErrorCode::failed : ErrorCode::ok;
  }
};

/// Additions on the device; sleeping, it finishes them.
struct asynchronous_adder : static_toy::adder_on<add_kernel> {
  static constexpr std::string_view name = "asynchronous_adder";
  static void wait() {
    ++device.sleeps;
    device.finish();
  }
  static void clean(const void* first, std::size_t bytes) { device.cleaned.push_back({first, bytes}); }
  static void invalidate(void* first, std::size_t bytes) { device.invalidated.push_back({first, bytes}); }
};

}  // namespace static_device
