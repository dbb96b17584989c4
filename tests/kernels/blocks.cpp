// SPDX-License-Identifier: MIT
#include "davit/kernels/blocks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

using namespace davit;
using kernels::Conversion;
using Integers = std::vector<std::int64_t>;

namespace {

/// The blocks of a reader for float elements 0, 1, ..., in parts of `part`, as doubles.
std::vector<double> read(const Integers& sizes, const Integers& strides, std::int64_t part) {
  std::vector<float> data(2000);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  Walk walk(sizes);
  walk.add(strides, sizeof(float)).collapse();
  kernels::BlockReader reader;
  reader.start(walk, 0, data.data(), sizeof(float), Conversion::between(ScalarType::float32, ScalarType::float64));
  kernels::Block own;
  kernels::Block scratch;
  std::vector<double> all;
  for (std::int64_t left = walk.count; left > 0; left -= part) {
    const std::int64_t n = std::min(left, part);
    const auto* block = static_cast<const double*>(reader.next(n, own, scratch));
    all.insert(all.end(), block, block + n);
  }
  return all;
}

}  // namespace

TEST_CASE("blocks of dense, turned and repeated elements, within rows and across them") {
  CHECK(read({2, 2}, {2, 1}, 4) == std::vector<double>{0, 1, 2, 3});
  CHECK(read({2, 3}, {1, 2}, 4) == std::vector<double>{0, 2, 4, 1, 3, 5});
  CHECK(read({2, 2}, {0, 0}, 3) == std::vector<double>{0, 0, 0, 0});
  CHECK(read({2, 3}, {1, 0}, 3) == std::vector<double>{0, 0, 0, 1, 1, 1});
  CHECK(read({2, 3}, {0, 5}, 2) == std::vector<double>{0, 5, 10, 0, 5, 10});
  CHECK(read({2, 800}, {1000, 1}, 512).back() == 1799);
}
TEST_CASE("tensors convert between any strides") {
  const std::array<std::int64_t, 4> from{1, 2, 3, 0};
  std::array<float, 4> to{};
  CHECK(kernels::convert_elements(Integers{2, 2}, from.data(), ScalarType::int64, Integers{1, 2}, to.data(),
                                  ScalarType::float32, Integers{2, 1}));
  CHECK(to == std::array<float, 4>{1, 3, 2, 0});
  std::array<bool, 4> truth{};
  CHECK(kernels::convert_elements(Integers{4}, from.data(), ScalarType::int64, Integers{1}, truth.data(),
                                  ScalarType::bool_, Integers{1}));
  CHECK(truth == std::array<bool, 4>{true, true, true, false});
  CHECK_FALSE(kernels::convert_elements(Integers{1}, from.data(), ScalarType::complex64, Integers{1}, to.data(),
                                        ScalarType::float32, Integers{1}));
}
