// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/products/split_floats.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "davit/kernels/instruction_set.hpp"

using namespace davit;
using namespace davit::portable_kernels::detail;

namespace {

[[nodiscard]] DotForm form(std::int64_t bits) {
  return dot_form(takes_split_floats(dot_set()) ? dot_set() : DotSet::vnni, bits);
}

/// A row that was cut, and whether it could be.
struct Cut {
  PackedWeights weights;
  std::vector<float> x;
  std::vector<std::int8_t> tile;
  std::vector<std::int32_t> starts;
  std::vector<float> scales;
  bool good;

  template <int Bits>
  static Cut of(std::vector<float> numbers, std::int64_t groups) {
    const auto depth = static_cast<std::int64_t>(numbers.size());
    Cut cut{{.outputs = 16, .depth = depth, .groups = groups, .bits = Bits}, std::move(numbers), {}, {}, {}, false};
    cut.tile.resize(3 * cut.x.size());
    cut.starts.resize(static_cast<std::size_t>(3 * groups));
    cut.scales.resize(static_cast<std::size_t>(groups));
    const SplitRow row{cut.x.data(), cut.weights, form(Bits), cut.tile.data(), cut.starts.data(), cut.scales.data()};
    cut.good = kernels::run_widest<SplitFloats<Bits>>(&row);
    return cut;
  }
  /// A byte of input `i`: 0 is the lowest.
  [[nodiscard]] std::int32_t byte(std::int64_t i, std::int64_t part) const {
    const std::int64_t fields = weights.fields();
    std::int64_t place = 0;
    while (form(weights.bits).order[static_cast<std::size_t>(place)] != i % fields) ++place;
    return tile[static_cast<std::size_t>((i / fields * 3 + part) * fields + place)];
  }
  [[nodiscard]] double value(std::int64_t i) const {
    const double integer = byte(i, 0) + 256.0 * byte(i, 1) + 65536.0 * byte(i, 2);
    return integer * static_cast<double>(scales[static_cast<std::size_t>(i / weights.group_size())]);
  }
};

template <int Bits>
void check_cuts() {
  for (const auto& [depth, groups] : {std::pair<std::int64_t, std::int64_t>{64, 2}, {32, 1}, {24, 1}, {80, 2}}) {
    std::vector<float> x;
    for (std::int64_t i = 0; i < depth; ++i) x.push_back(static_cast<float>(i * 37 % 101 - 50) * 0.013f);
    x[3] = 0;
    const Cut cut = Cut::of<Bits>(x, groups);
    REQUIRE(cut.good);
    std::vector<std::int32_t> sums(cut.starts.size());
    for (std::int64_t i = 0; i < depth; ++i) {
      const float number = x[static_cast<std::size_t>(i)];
      CHECK(cut.value(i) == doctest::Approx(static_cast<double>(number)).epsilon(1e-5));
      CHECK(std::abs(cut.value(i) - static_cast<double>(number)) <= 0.65 * std::ldexp(1.0, -23));
      for (std::int64_t part = 0; part < 3; ++part)
        sums[static_cast<std::size_t>(i / cut.weights.group_size() * 3 + part)] += cut.byte(i, part);
    }
    for (std::size_t i = 0; i < sums.size(); ++i) CHECK(cut.starts[i] == form(Bits).start(sums[i]));
  }
}

}  // namespace

TEST_CASE("split floats: three bytes hold the 24 bits of a float, relative to the largest of its group") {
  if (kernels::widest_vectors() < 16) return;
  check_cuts<4>();
  check_cuts<8>();
}

TEST_CASE("split floats: numbers that would lose bits, or are not finite, are refused; zeros are not") {
  if (kernels::widest_vectors() < 16) return;
  const auto can_cut = [](float first, float others) {
    std::vector<float> x(32, others);
    x[0] = first;
    return Cut::of<4>(x, 1).good;
  };
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(can_cut(0, 0));
  CHECK(can_cut(1, 0));
  CHECK(can_cut(1, 0.001f));
  CHECK(!can_cut(1e5f, 1));
  CHECK(!can_cut(infinity, 1));
  CHECK(!can_cut(-infinity, 0));
  CHECK(!can_cut(nan, 0));
  CHECK(!can_cut(1e-30f, 1e-30f));
  CHECK(!can_cut(1e31f, 1e31f));
}
