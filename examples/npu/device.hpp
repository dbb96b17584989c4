// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

/// An imaginary accelerator's registers, played by a struct. On a chip they would lie at a fixed address, and a write
/// to `command` would start the work that `start` does here.
struct NpuDevice {
  const float* x = nullptr;
  const float* weight = nullptr;  ///< (in, out); transposed: (out, in)
  const float* bias = nullptr;
  float* y = nullptr;
  std::int32_t rows = 0, in = 0, out = 0;
  bool transposed = false;
  bool clamp = false;  ///< negative results become zero
  bool busy = false;
  int commands = 0;  ///< so far

  void start() noexcept {
    for (std::int32_t r = 0; r < rows; ++r)
      for (std::int32_t j = 0; j < out; ++j) {
        float sum = 0;
        for (std::int32_t k = 0; k < in; ++k) sum += x[r * in + k] * weight[transposed ? j * in + k : k * out + j];
        sum += bias[j];
        y[r * out + j] = clamp && sum < 0 ? 0 : sum;
      }
    ++commands;
  }
};

inline constinit NpuDevice npu_device;
