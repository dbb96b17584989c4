// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/packed_constants.hpp"

#include <doctest/doctest.h>

using namespace davit;
using onednn_ops::PackedConstants;
using onednn_ops::plain;

TEST_CASE("what is made of the same bytes in the same layout is made once; its source is kept") {
  PackedConstants packed;
  int made = 0;
  const auto make = [&] {
    ++made;
    return SharedBytes::allocate(64);
  };
  const SharedBytes source = SharedBytes::allocate(64), other = SharedBytes::allocate(64);
  const SharedBytes first = packed.get({source, 0, {}, plain({4, 4}), plain({4, 4})}, make);
  CHECK(packed.get({source, 0, {}, plain({4, 4}), plain({4, 4})}, make).data() == first.data());
  CHECK(made == 1);
  CHECK(packed.get({source, 16, {}, plain({4, 4}), plain({4, 4})}, make).data() != first.data());
  const auto* const mean = reinterpret_cast<const float*>(other.data());
  const PackedConstants::Others with_mean{{nullptr, mean}, 0}, with_bias_too{{mean, mean}, 0}, with_a_number{{nullptr, mean}, 1};
  for (const PackedConstants::Others& others : {with_mean, with_bias_too, with_a_number})
    CHECK(packed.get({source, 0, others, plain({4, 4}), plain({4, 4})}, make).data() != first.data());
  CHECK(packed.get({source, 0, {}, plain({4, 4}), plain({2, 8})}, make).data() != first.data());
  CHECK(packed.get({other, 0, {}, plain({4, 4}), plain({4, 4})}, make).data() != first.data());
  CHECK(made == 7);
}
