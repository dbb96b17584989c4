// SPDX-License-Identifier: MIT
#include "davit/formats/zip/zip.hpp"

#include <doctest/doctest.h>

#include <string>

#include "support/zip_file.hpp"

using namespace davit;
using namespace davit::formats;

namespace {

Result<SharedBytes> inflated(std::string_view deflated, std::uint64_t size) {
  return inflate_bytes(std::as_bytes(std::span(deflated)), size, "member");
}

}  // namespace

TEST_CASE("a deflate stream gives its original bytes") {
  std::string content;
  for (int i = 0; i < 10000; ++i) content += std::to_string(i * i);
  const auto bytes = inflated(ZipFile::deflated(content), content.size());
  REQUIRE(bytes);
  CHECK(text_of(*bytes) == content);
  CHECK(inflated(ZipFile::deflated(""), 0).has_value());
}

TEST_CASE("another size than claimed is an error") {
  const std::string deflated = ZipFile::deflated(std::string(1000, 'a') + "b");
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000}, std::uint64_t{1002},
                                   std::uint64_t{1} << 20, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    const auto bytes = inflated(deflated, size);
    REQUIRE(!bytes);
    CHECK(bytes.error().code == ErrorCode::corrupt_data);
    CHECK(bytes.error().where == "member");
  }
}

TEST_CASE("damaged streams are errors") {
  const std::string deflated = ZipFile::deflated("some text that is not very long, is not very long");
  for (std::size_t size = 0; size < deflated.size(); ++size) CHECK(!inflated(deflated.substr(0, size), 49));
  CHECK(!inflated(std::string(100, '\xff'), 10));
}
