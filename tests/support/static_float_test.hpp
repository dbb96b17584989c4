// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "davit/core/evalue.hpp"
#include "kernel_test.hpp"

/// Random tensors for portable's kernels and for those of static programs, whose results are compared bit by bit.
struct StaticFloatTest : KernelTest {
  /// A contiguous float32 tensor of these sizes with random elements, some of them zero.
  davit::EValue random_tensor(const Integers& sizes) {
    std::int64_t count = 1;
    for (const std::int64_t size : sizes) count *= size;
    Numbers values(static_cast<std::size_t>(count));
    for (double& v : values) v = pick(0, 7) == 0 ? 0.0 : static_cast<double>(uniform(random));
    return tensor(davit::ScalarType::float32, sizes, values);
  }
  std::int32_t pick(std::int32_t low, std::int32_t high) {
    return std::uniform_int_distribution<std::int32_t>(low, high)(random);
  }

  /// How many elements of output 0 differ from these in any bit, all if there are other many.
  [[nodiscard]] std::size_t differences(std::span<const float> values) const {
    const davit::TensorView& t = outputs[0].tensor();
    if (static_cast<std::size_t>(t.numel()) != values.size()) return values.size() + 1;
    std::size_t count = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (std::bit_cast<std::uint32_t>(t.as<float>()[i]) != std::bit_cast<std::uint32_t>(values[i])) ++count;
    return count;
  }
  /// How many elements of output 0 are further from these than functions on wide vectors may be, all if there are other many.
  [[nodiscard]] std::size_t far(std::span<const float> values) const {
    const davit::TensorView& t = outputs[0].tensor();
    if (static_cast<std::size_t>(t.numel()) != values.size()) return values.size() + 1;
    std::size_t count = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float a = t.as<float>()[i];
      const float b = values[i];
      if (!(a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 1e-6f * std::abs(b) + 2e-7f)) ++count;
    }
    return count;
  }
  [[nodiscard]] std::vector<float> room() const { return room_for(outputs[0]); }
  [[nodiscard]] static std::vector<float> room_for(const davit::EValue& like) {
    return std::vector<float>(static_cast<std::size_t>(like.tensor().numel()));
  }

  std::mt19937 random{20261121};
  std::uniform_real_distribution<float> uniform{-1, 1};
};

inline const float* floats(const davit::EValue& v) {
  return v.tensor().as<float>();
}
inline float* floats_of(const davit::EValue& v) {
  return v.tensor().as<float>();
}

/// The elements of a weight (out, in...) as (in..., out), the outputs padded to a multiple of 8.
inline std::vector<float> output_inner(const davit::EValue& weight) {
  const davit::TensorView& t = weight.tensor();
  const auto out = static_cast<std::size_t>(t.size(0));
  const std::size_t padded = (out + 7) / 8 * 8;
  const std::size_t in = static_cast<std::size_t>(t.numel()) / out;
  std::vector<float> packed(in * padded);
  for (std::size_t o = 0; o < out; ++o)
    for (std::size_t i = 0; i < in; ++i) packed[i * padded + o] = t.as<float>()[o * in + i];
  return packed;
}
