// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/file_tensor.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/zip_file.hpp"

using namespace davit;
using namespace davit::formats;

namespace {

using Numbers = std::vector<std::int64_t>;
constexpr std::int64_t huge = std::int64_t{1} << 40;

Result<void> checked(Numbers sizes, Numbers strides, std::int64_t offset, std::size_t bytes) {
  Tensor tensor{.dtype = ScalarType::float32,
                .sizes = std::move(sizes),
                .strides = std::move(strides),
                .storage_offset = offset,
                .storage = SharedBytes::allocate(bytes)};
  return check_file_tensor(tensor, "weight");
}

constexpr bool check_numel() {
  const std::int64_t sizes[] = {2, 3, 4};
  const std::int64_t empty[] = {huge, 0, huge};
  const std::int64_t large[] = {huge, huge};
  const std::int64_t negative[] = {2, -1};
  return checked_numel(sizes) == 24 && checked_numel({}) == 1 && checked_numel(empty) == -1 &&
         checked_numel(large) == -1 && checked_numel(negative) == -1;
}
static_assert(check_numel());

}  // namespace

TEST_CASE("the number of elements is bounded") { CHECK(check_numel()); }

TEST_CASE("tensors stay inside their storage") {
  CHECK(checked({2, 3}, {3, 1}, 0, 24));
  CHECK(checked({3, 2}, {1, 3}, 0, 24));
  CHECK(checked({2, 3}, {0, 1}, 1, 16));
  CHECK(checked({}, {}, 5, 24));
  CHECK(checked({0, 4}, {4, 1}, 0, 0));
  CHECK(!checked({2, 3}, {3, 1}, 0, 23));
  CHECK(!checked({2, 3}, {3, 1}, 1, 24));
  CHECK(!checked({}, {}, 6, 24));
  CHECK(!checked({}, {}, 0, 0));
  CHECK(!checked({2, 3}, {3}, 0, 24));
  CHECK(!checked({2, 3}, {-3, 1}, 3, 24));
  CHECK(!checked({-2, 3}, {3, 1}, 0, 24));
  CHECK(!checked({2, 3}, {3, 1}, -1, 24));
  CHECK(!checked({huge, huge}, {0, 0}, 0, 24));
  CHECK(!checked({2}, {INT64_MAX}, 0, 24));
  CHECK(!checked({2}, {1}, INT64_MAX, 24));
  const auto rank = checked(Numbers(17, 1), Numbers(17, 1), 0, 24);
  REQUIRE(!rank);
  CHECK(rank.error().code == ErrorCode::invalid_shape);
  CHECK(rank.error().where == "weight");
}

TEST_CASE("an empty tensor outside its storage loses its offset") {
  Tensor tensor{.dtype = ScalarType::float32, .sizes = {0}, .strides = {1}, .storage_offset = 100, .storage = {}};
  REQUIRE(check_file_tensor(tensor, "weight"));
  CHECK(tensor.storage_offset == 0);
}

TEST_CASE("storages are shared, and copied if they are misaligned") {
  const SharedBytes file = bytes_of("0123456789abcdef0123456789abcdef");
  FileStorages storages;
  int reads = 0;
  const auto get = [&](std::string_view name, ScalarType dtype, std::size_t offset) {
    return storages.get(name, dtype, "place", [&]() -> Result<SharedBytes> {
      ++reads;
      return file.part(offset, 8);
    });
  };
  CHECK(get("aligned", ScalarType::float32, 8)->data() == file.data() + 8);
  CHECK(get("bytes", ScalarType::int8, 3)->data() == file.data() + 3);
  const auto copy = get("odd", ScalarType::float32, 9);
  REQUIRE(copy);
  CHECK(copy->data() != file.data() + 9);
  CHECK(reinterpret_cast<std::uintptr_t>(copy->data()) % 8 == 0);
  CHECK(text_of(*copy) == "9abcdef0");
  CHECK(get("odd", ScalarType::float32, 9)->data() == copy->data());
  CHECK(reads == 3);
}

TEST_CASE("bools of a file become 0 or 1") {
  FileStorages storages;
  const SharedBytes file = bytes_of(std::string("\0\1\2\xff", 4));
  const auto get = [&](std::size_t size) {
    return storages.get(std::to_string(size), ScalarType::bool_, "place",
                        [&]() -> Result<SharedBytes> { return file.part(0, size); });
  };
  CHECK(get(2)->data() == file.data());
  CHECK(text_of(get(4).value()) == std::string("\0\1\1\1", 4));
}

TEST_CASE("a storage that cannot be read is an error") {
  FileStorages storages;
  const auto bytes = storages.get("x", ScalarType::float32, "place",
                                  []() -> Result<SharedBytes> { return corrupt("member", "damaged"); });
  REQUIRE(!bytes);
  CHECK(bytes.error().where == "member");
}
