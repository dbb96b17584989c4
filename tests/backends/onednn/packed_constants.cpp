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
  const SharedBytes first = packed.get({source, 0, nullptr, plain({4, 4}), plain({4, 4})}, make);
  CHECK(packed.get({source, 0, nullptr, plain({4, 4}), plain({4, 4})}, make).data() == first.data());
  CHECK(made == 1);
  CHECK(packed.get({source, 16, nullptr, plain({4, 4}), plain({4, 4})}, make).data() != first.data());
  CHECK(packed.get({source, 0, other.data(), plain({4, 4}), plain({4, 4})}, make).data() != first.data());
  CHECK(packed.get({source, 0, nullptr, plain({4, 4}), plain({2, 8})}, make).data() != first.data());
  CHECK(packed.get({other, 0, nullptr, plain({4, 4}), plain({4, 4})}, make).data() != first.data());
  CHECK(made == 5);
}
