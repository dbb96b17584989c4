// SPDX-License-Identifier: MIT
#include "davit/lowering/detail/affine_weights.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

using namespace davit;
using namespace davit::detail;

namespace {

/// A matrix with its elements.
struct Made : WeightMatrix {
  std::vector<float> elements{};

  [[nodiscard]] float at(std::int64_t n, std::int64_t k) const {
    return elements[static_cast<std::size_t>(transposed ? k * outputs + n : n * depth + k)];
  }
};
/// (3 x 32) weights, integer(n, k) * scale(n, group) + offset(n, group), in two groups.
template <class Integer, class Scale, class Offset>
Made made(Integer&& integer, Scale&& scale, Offset&& offset, bool transposed = false) {
  Made m{{.outputs = 3, .depth = 32, .step = 3, .transposed = transposed, .rounding = 1e-6f}};
  m.elements.resize(96);
  for (std::int64_t n = 0; n < 3; ++n)
    for (std::int64_t k = 0; k < 32; ++k)
      m.elements[static_cast<std::size_t>(transposed ? k * 3 + n : n * 32 + k)] =
          static_cast<float>(integer(n, k)) * scale(n, k / 16) + offset(n, k / 16);
  return m;
}
std::optional<PackedTensors> pack_affine(const Made& m, std::span<const std::vector<float>> candidates) {
  const auto read = [&](std::int64_t first, std::int64_t count, std::vector<float>& elements) {
    const auto from = m.elements.begin() + first * m.depth;
    elements.assign(from, from + count * m.depth);
    return true;
  };
  return detail::pack_affine(m, read, candidates);
}
/// The largest difference between packed weights and the matrix.
float difference(const Made& m, const PackedTensors& packed) {
  const PackedWeights& w = packed.layout;
  const auto bits = static_cast<int>(w.bits), fields = static_cast<int>(w.fields());
  float most = 0;
  for (std::int64_t n = 0; n < m.outputs; ++n)
    for (std::int64_t k = 0; k < m.depth; ++k) {
      const auto word = static_cast<std::uint32_t>(packed.words.view().as<std::int32_t>()[w.place_of_word(n, k)]);
      const int integer = static_cast<std::int32_t>(word << (32 - bits * (k % fields + 1))) >> (32 - bits);
      const std::int64_t place = w.place_of_scale(n, k / w.group_size());
      const float offset = packed.offsets.storage.empty() ? 0 : packed.offsets.view().as<float>()[place];
      const float value = static_cast<float>(integer) * packed.scales.view().as<float>()[place] + offset;
      most = std::max(most, std::fabs(value - m.at(n, k)));
    }
  return most;
}
constexpr auto nothing = [](std::int64_t, std::int64_t) { return 0.0f; };
constexpr auto group_scale = [](std::int64_t n, std::int64_t g) {
  return 0.03f + 0.01f * static_cast<float>(n + 5 * g);
};

}  // namespace

TEST_CASE("pack_affine: integers of 4 bits with a scale per group of inputs, whichever way these lie") {
  const auto fours = [](std::int64_t n, std::int64_t k) { return (n * 7 + k * 3) % 16 - 8; };
  std::vector<float> rows, columns;
  for (std::int64_t n = 0; n < 3; ++n)
    for (std::int64_t g = 0; g < 2; ++g) rows.push_back(group_scale(n, g));
  for (std::int64_t g = 0; g < 2; ++g)
    for (std::int64_t n = 0; n < 3; ++n) columns.push_back(group_scale(n, g));
  for (const bool transposed : {false, true})
    for (const auto& scales : {rows, columns}) {
      const Made m = made(fours, group_scale, nothing, transposed);
      const std::optional<PackedTensors> packed = pack_affine(m, std::vector{std::vector{0.7f}, scales});
      REQUIRE(packed);
      CHECK(packed->layout.bits == 4);
      CHECK(packed->layout.groups == 2);
      CHECK(packed->offsets.storage.empty());
      CHECK(difference(m, *packed) < 1e-6f);
    }
}
TEST_CASE("pack_affine: rows of bytes, in which groups of 4 bits need only be even") {
  const auto fours = [](std::int64_t n, std::int64_t k) { return (n * 7 + k * 3) % 16 - 8; };
  Made m = made(fours, group_scale, nothing);
  m.layout = PackedLayout::rows;
  std::vector<float> scales;
  for (std::int64_t n = 0; n < 3; ++n)
    for (std::int64_t g = 0; g < 2; ++g) scales.push_back(group_scale(n, g));
  const std::optional<PackedTensors> packed = pack_affine(m, std::span(&scales, 1));
  REQUIRE(packed);
  CHECK(packed->words.dtype == ScalarType::uint8);
  CHECK(packed->words.sizes == std::vector<std::int64_t>{3, 16});
  CHECK(packed->scales.sizes == std::vector<std::int64_t>{2, 3});
  CHECK(packed->scales.view().as<float>()[4] == group_scale(1, 1));
  const std::uint8_t byte = packed->words.view().as<std::uint8_t>()[16 + 8 + 3];  // inputs 19 and 27 of output 1
  CHECK(byte == ((fours(1, 19) & 15) | (fours(1, 27) & 15) << 4));
  Made narrow{{.outputs = 2, .depth = 6, .step = 2, .rounding = 1e-6f}};
  for (const bool odd : {false, true}) {
    narrow.depth = odd ? 5 : 6;
    narrow.elements.assign(static_cast<std::size_t>(2 * narrow.depth), -4.0f);
    for (const PackedLayout layout : {PackedLayout::words, PackedLayout::rows}) {
      narrow.layout = layout;
      const std::optional<PackedTensors> of = pack_affine(narrow, std::vector<std::vector<float>>{{0.5f}});
      CHECK(of.has_value() == (layout == PackedLayout::rows));
      if (of) CHECK(of->words.dtype == (odd ? ScalarType::int8 : ScalarType::uint8));
      if (of) CHECK(of->scales.sizes == std::vector<std::int64_t>{2});
    }
  }
}
TEST_CASE("pack_affine: integers of 8 bits, and those that have zero points") {
  const auto bytes = [](std::int64_t n, std::int64_t k) { return (n * 71 + k * 37) % 256 - 128; };
  const auto scale = [](std::int64_t n, std::int64_t) { return 0.01f * static_cast<float>(n + 1); };
  const std::vector<std::vector<float>> candidates{{0.01f, 0.02f, 0.03f}};
  const Made centred = made(bytes, scale, nothing);
  const std::optional<PackedTensors> of_bytes = pack_affine(centred, candidates);
  REQUIRE(of_bytes);
  CHECK(of_bytes->layout.bits == 8);
  CHECK(of_bytes->offsets.storage.empty());
  CHECK(difference(centred, *of_bytes) < 1e-6f);
  const Made moved = made([&](std::int64_t n, std::int64_t k) { return bytes(n, k) + 100 * n; }, scale, nothing);
  const std::optional<PackedTensors> with_zeros = pack_affine(moved, candidates);
  REQUIRE(with_zeros);
  CHECK_FALSE(with_zeros->offsets.storage.empty());
  CHECK(difference(moved, *with_zeros) < 1e-5f);
}
TEST_CASE("pack_affine: zero points that are floats") {
  const auto offset = [](std::int64_t n, std::int64_t g) {
    return 0.013f * static_cast<float>(n) - 0.05f * static_cast<float>(g);
  };
  std::vector<float> scales, offsets;
  for (std::int64_t n = 0; n < 3; ++n)
    for (std::int64_t g = 0; g < 2; ++g) {
      scales.push_back(group_scale(n, g));
      offsets.push_back(offset(n, g));
    }
  const Made m = made([](std::int64_t n, std::int64_t k) { return (n + k * 5) % 16 - 8; }, group_scale, offset);
  const std::optional<PackedTensors> packed = pack_affine(m, std::vector{offsets, scales});
  REQUIRE(packed);
  CHECK(packed->layout.bits == 4);
  CHECK(difference(m, *packed) < 1e-6f);
}
TEST_CASE("pack_affine: weights that are read an output at a time, of which later ones need more bits, or offsets") {
  const auto scale = [](std::int64_t n, std::int64_t) { return 0.01f * static_cast<float>(n + 1); };
  const std::vector<std::vector<float>> candidates{{0.5f, 0.5f, 0.5f}, {0.01f, 0.02f, 0.03f}};
  for (const auto& [factor, shift, bits, has_offsets] : {std::tuple(0, 0, 4, false), std::tuple(3, 0, 8, false),
                                                         std::tuple(0, 3, 4, true), std::tuple(6, 30, 8, true)}) {
    Made m = made([=](std::int64_t n, std::int64_t k) { return (k % 16 - 8) * (1 + factor * n) + shift * n; }, scale,
                  nothing);
    const std::optional<PackedTensors> whole = pack_affine(m, candidates);
    m.step = 1;
    const std::optional<PackedTensors> packed = pack_affine(m, candidates);
    REQUIRE(packed);
    CHECK(packed->layout.bits == bits);
    CHECK(packed->offsets.storage.empty() != has_offsets);
    CHECK(difference(m, *packed) < 1e-5f);
    REQUIRE(whole);
    CHECK(std::ranges::equal(packed->words.storage.bytes(), whole->words.storage.bytes()));
  }
}
TEST_CASE("pack_affine: weights that are no integers of 8 bits times a scale stay") {
  const auto scale = [](std::int64_t, std::int64_t) { return 0.5f; };
  Made m = made([](std::int64_t, std::int64_t k) { return k; }, scale, nothing);
  const std::vector<std::vector<float>> half{{0.5f}};
  CHECK(pack_affine(m, half));
  CHECK_FALSE(pack_affine(m, std::vector<std::vector<float>>{{0.3f}}));
  m.elements[95] = 0.25f;  // the last one
  CHECK_FALSE(pack_affine(m, half));
  m.elements[95] = 200.0f;  // 400 halves
  CHECK_FALSE(pack_affine(m, half));
  m.elements[95] = std::numeric_limits<float>::quiet_NaN();
  CHECK_FALSE(pack_affine(m, half));
  m.elements[95] = 0;
  CHECK(pack_affine(m, half));
  CHECK_FALSE(pack_affine(m, std::vector<std::vector<float>>{{std::numeric_limits<float>::infinity()}}));
  CHECK_FALSE(pack_affine(m, std::vector<std::vector<float>>{}));
}
TEST_CASE("float_elements: any strides, floats alone") {
  Tensor t = Tensor::zeros(ScalarType::bfloat16, std::vector<std::int64_t>{2, 3});
  for (int i = 0; i < 6; ++i) t.view().as<BFloat16>()[i] = BFloat16(static_cast<float>(i));
  t.sizes = {3, 2};
  t.strides = {1, 3};
  CHECK(float_elements(t.view()) == std::vector<float>{0, 3, 1, 4, 2, 5});
  CHECK_FALSE(float_elements(Tensor::zeros(ScalarType::int8, std::vector<std::int64_t>{2}).view()));
  CHECK(float_elements(Tensor::zeros(ScalarType::float64, std::vector<std::int64_t>{0}).view())->empty());
}
