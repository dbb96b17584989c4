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
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/multiply_add.hpp"
#include "kernel_test.hpp"

/// a * b + c, rounded as in kernels on the widest vectors.
struct ProductAndSum {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static float run(float a, float b, float c) {
    davit::kernels::Vector<float, Bytes> sum = davit::kernels::Vector<float, Bytes>{} + c;
    sum += (davit::kernels::Vector<float, Bytes>{} + a) * b;
    return sum[0];
  }
};
/// True if portable's kernels round a product and a sum once, as AVX2 and AVX-512 can; or if single floats do, as on
/// ARM64, where g++ below -O2 does not fuse vectors.
[[nodiscard]] inline bool fuses_products() {
  const volatile float a = 1 + 0x1p-12f;
  constexpr float c = -(1 + 0x1p-11f);
  return davit::kernels::run_widest<ProductAndSum>(float{a}, float{a}, float{c}) != 0 ||
         davit::kernels::multiply_add(float{a}, float{a}, float{c}) != 0;
}

/// Random tensors for portable's kernels and for static ones, whose results are compared bit by bit; if portable's are
/// fused, as closely as sums of some hundred such products allow.
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

  /// The number of elements of output 0 that differ from these; all if the numbers of elements differ.
  [[nodiscard]] std::size_t differences(std::span<const float> values) const {
    if (fused) return far(values, 2e-5f);
    return count_where(
        values, [](float a, float b) { return std::bit_cast<std::uint32_t>(a) != std::bit_cast<std::uint32_t>(b); });
  }
  /// The number of elements of output 0 that differ by more than functions on wide vectors may; all if the numbers of
  /// elements differ.
  [[nodiscard]] std::size_t far(std::span<const float> values, float tolerance = 2e-7f) const {
    return count_where(values, [=](float a, float b) {
      return !(a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 1e-6f * std::abs(b) + tolerance);
    });
  }
  [[nodiscard]] std::vector<float> room() const { return room_for(outputs[0]); }
  [[nodiscard]] static std::vector<float> room_for(const davit::EValue& like) {
    return std::vector<float>(static_cast<std::size_t>(like.tensor().numel()));
  }

  std::mt19937 random{20261121};
  std::uniform_real_distribution<float> uniform{-1, 1};

 private:
  template <class Differ>
  [[nodiscard]] std::size_t count_where(std::span<const float> values, Differ differ) const {
    const davit::TensorView& t = outputs[0].tensor();
    if (static_cast<std::size_t>(t.numel()) != values.size()) return values.size() + 1;
    std::size_t count = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (differ(t.as<float>()[i], values[i])) ++count;
    return count;
  }
  bool fused = fuses_products();
};

inline const float* floats(const davit::EValue& v) { return v.tensor().as<float>(); }
inline float* floats_of(const davit::EValue& v) { return v.tensor().as<float>(); }

/// Reorders a weight (out, in...) to (in..., out), with outputs padded to a multiple of 8.
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
