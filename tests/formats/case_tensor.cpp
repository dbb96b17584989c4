// SPDX-License-Identifier: MIT
#include "../../tools/davit/recorded_case.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "davit/formats/zip/zip.hpp"
#include "support/zip_file.hpp"

using namespace davit;
using namespace davit::formats;

namespace {

/// Reads the array of a value with that JSON, beside `four.npy`: [1, 2, 3, 4] as uint16.
Result<Tensor> read(std::string_view json) {
  const std::string header = "{'descr': '<u2', 'fortran_order': False, 'shape': (4,)}";
  const std::string npy = "\x93NUMPY\1" + ZipFile::number(0, 1) + ZipFile::number(header.size(), 2) + header +
                          std::string("\1\0\2\0\3\0\4\0", 8);
  const ZipFile file = ZipFile().add("four.npy", npy);
  Result<ZipArchive> archive = ZipArchive::open(file.bytes(), "cases.zip");
  REQUIRE(archive);
  const Result<JsonDocument> document = parse_json(json);
  REQUIRE(document);
  return formats::detail::read_case_tensor(CaseFiles::member(*archive, ""), document->root());
}

}  // namespace

TEST_CASE("a whole array") {
  const Result<Tensor> tensor = read(R"({"dtype": "uint16", "shape": [4], "file": "four.npy"})");
  REQUIRE(tensor);
  CHECK(tensor->sizes == std::vector<std::int64_t>{4});
  CHECK(tensor->view().as<std::uint16_t>()[3] == 4);
}
TEST_CASE("a view of a storage") {
  const Result<Tensor> tensor = read(
      R"({"dtype": "uint16", "shape": [2, 2], "storage_file": "four.npy", "strides": [1, 2], "storage_offset": 0})");
  REQUIRE(tensor);
  CHECK(tensor->strides == std::vector<std::int64_t>{1, 2});
  CHECK(tensor->view().as<std::uint16_t>()[2] == 3);
}
TEST_CASE("lists of integers and plausible sizes") {
  const Result<JsonDocument> document = parse_json(R"([[1, -2], [1, "2"], 3])");
  REQUIRE(document);
  const Result<JsonArray> list = document->root().array();
  REQUIRE(list);
  auto at = list->begin();
  CHECK(formats::detail::read_integers(*at) == std::vector<std::int64_t>{1, -2});
  CHECK_FALSE(formats::detail::read_integers(*++at));
  CHECK_FALSE(formats::detail::read_integers(*++at));
  using Sizes = std::vector<std::int64_t>;
  CHECK(formats::detail::plausible_sizes(Sizes{}));
  CHECK(formats::detail::plausible_sizes(Sizes{0, 1LL << 50}));
  CHECK_FALSE(formats::detail::plausible_sizes(Sizes{2, -1}));
  CHECK_FALSE(formats::detail::plausible_sizes(Sizes{1LL << 32, 1LL << 32}));
  CHECK_FALSE(formats::detail::plausible_sizes(Sizes(max_rank + 1, 1)));
}
