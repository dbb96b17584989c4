// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/descriptors.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

using namespace davit;
using onednn_ops::DataType;
using onednn_ops::Dims;
using onednn_ops::MemoryDesc;
using onednn_ops::primitive_attr;

namespace {

/// The offset of element `i` in row-major order.
[[nodiscard]] std::size_t place_of(std::int64_t i, const Dims& dims, const Dims& strides) {
  std::int64_t at = 0;
  for (std::size_t d = dims.size(); d-- > 0; i /= dims[d]) at += i % dims[d] * strides[d];
  return static_cast<std::size_t>(at);
}

/// Copies a tensor, and compares its elements and the gaps between them.
[[nodiscard]] bool copies(const Dims& dims, const Dims& from, const Dims& to) {
  primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const MemoryDesc source = onednn_ops::strided(dims, from, DataType::f32),
                   made = onednn_ops::strided(dims, to, DataType::f32);
  const auto pd = onednn_ops::reorder_descriptor(attributes, source, made);
  if (!pd) return false;
  constexpr float untouched = std::numeric_limits<float>::quiet_NaN();  // a sum with 0 times it would give a NaN
  std::vector<float> x(source.get_size() / sizeof(float)), y(made.get_size() / sizeof(float), untouched), expected = y;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  const std::int64_t count = onednn_ops::count_of(dims);
  for (std::int64_t i = 0; i < count; ++i) expected[place_of(i, dims, to)] = x[place_of(i, dims, from)];
  const dnnl::memory a(source, onednn_ops::cpu(), x.data()), b(made, onednn_ops::cpu(), y.data()),
      scratch(pd.scratchpad_desc(), onednn_ops::cpu());
  dnnl::stream stream(onednn_ops::cpu());
  dnnl::reorder(pd).execute(stream, {{DNNL_ARG_FROM, a}, {DNNL_ARG_TO, b}, {DNNL_ARG_SCRATCHPAD, scratch}});
  stream.wait();
  return std::ranges::equal(y, expected, [](float p, float q) { return p == q || (std::isnan(p) && std::isnan(q)); });
}

}  // namespace

TEST_CASE("a copy writes the elements, and nothing between them") {
  CHECK(copies({1, 2, 1, 8}, {32, 16, 16, 1}, {32, 16, 16, 1}));  // half rows into half rows
  std::mt19937 numbers(5);
  const auto random = [&](unsigned low, unsigned high) {
    return static_cast<std::int64_t>(low + numbers() % (high - low + 1));
  };
  for (int i = 0; i < 300; ++i) {
    CAPTURE(i);
    Dims dims(static_cast<std::size_t>(random(1, 4)));
    for (std::int64_t& d : dims) d = random(0, 2) != 0 ? random(1, 9) : 1;
    const auto strides = [&] {
      Dims made(dims.size());
      std::int64_t next = 1;
      for (std::size_t d = dims.size(); d-- > 0;) {
        made[d] = next;
        next = next * dims[d] + (random(0, 2) == 0 ? random(1, 9) : 0);
      }
      return made;
    };
    const Dims from = strides();
    CHECK(copies(dims, from, random(0, 1) != 0 ? from : strides()));
  }
}
