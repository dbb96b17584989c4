// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/packed_constants.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

using namespace davit;
using onednn_ops::DataType;
using onednn_ops::PackedConstants;
using onednn_ops::plain;

namespace {

SharedBytes bytes_of(unsigned char value) {
  SharedBytes bytes = SharedBytes::allocate(80);
  std::fill_n(bytes.writable(), bytes.size(), static_cast<std::byte>(value));
  return bytes;
}

}  // namespace

TEST_CASE("constants from equal bytes in the same layout are made once, wherever the bytes are") {
  PackedConstants packed;
  int made = 0;
  const auto make = [&] {
    ++made;
    return SharedBytes::allocate(64);
  };
  const SharedBytes source = bytes_of(1), equal = bytes_of(1), other = bytes_of(2);
  const SharedBytes first =
      packed.get({source, 0, {}, plain({4, 4}, DataType::f32), plain({4, 4}, DataType::f32)}, make);
  CHECK(packed.get({source, 0, {}, plain({4, 4}, DataType::f32), plain({4, 4}, DataType::f32)}, make).data() ==
        first.data());
  CHECK(packed.get({source, 16, {}, plain({4, 4}, DataType::f32), plain({4, 4}, DataType::f32)}, make).data() ==
        first.data());
  CHECK(packed.get({equal, 0, {}, plain({4, 4}, DataType::f32), plain({4, 4}, DataType::f32)}, make).data() ==
        first.data());
  CHECK(made == 1);
  const SharedBytes two = bytes_of(3).part(0, 8), others_two = bytes_of(4).part(0, 8);
  const std::uint64_t partition = PackedConstants::new_partition();
  const PackedConstants::Others others[] = {{.partition = partition, .more = {source}, .literals = {1, 2}},
                                            {.partition = partition, .more = {source}, .literals = {1, 3}},
                                            {.partition = partition, .more = {other}, .literals = {1, 2}},
                                            {.partition = partition, .more = {}, .literals = {1, 2}},
                                            {.more = {SharedBytes(), two}},
                                            {.more = {two, two}},
                                            {.more = {SharedBytes(), others_two}},
                                            {.number = 1, .more = {SharedBytes(), two}},
                                            {.partition = PackedConstants::new_partition()},
                                            {.partition = PackedConstants::new_partition()}};
  std::vector<SharedBytes> kept;
  for (const PackedConstants::Others& each : others)
    kept.push_back(packed.get({source, 0, each, plain({4, 4}, DataType::f32), plain({4, 4}, DataType::f32)}, make));
  kept.push_back(packed.get({source, 0, {}, plain({4, 4}, DataType::f32), plain({2, 8}, DataType::f32)}, make));
  kept.push_back(packed.get({source, 0, {}, plain({2, 8}, DataType::f32), plain({4, 4}, DataType::f32)}, make));
  kept.push_back(packed.get({other, 0, {}, plain({4, 4}, DataType::f32), plain({4, 4}, DataType::f32)}, make));
  CHECK(made == 14);
  for (std::size_t i = 0; i < std::size(others); ++i)
    CHECK(packed.get({equal, 0, others[i], plain({4, 4}, DataType::f32), plain({4, 4}, DataType::f32)}, make).data() ==
          kept[i].data());
  CHECK(made == 14);
}

TEST_CASE("a packed constant is freed with its last user, and may outlive its maker") {
  std::optional<PackedConstants> packed(std::in_place);
  int made = 0;
  const auto make = [&] {
    ++made;
    return SharedBytes::allocate(64);
  };
  SharedBytes source = bytes_of(1);
  const PackedConstants::Key key{source, 0, {}, plain({4, 4}, DataType::f32), plain({4, 4}, DataType::f32)};
  (void)packed->get(key, make);
  (void)packed->get(key, make);
  CHECK(made == 2);
  const SharedBytes kept = packed->get(key, make);
  CHECK(packed->get(key, make).data() == kept.data());
  CHECK(made == 3);
  packed.reset();
  CHECK(kept.size() == 64);
}
