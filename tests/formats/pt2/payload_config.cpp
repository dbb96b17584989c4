// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/payload_config.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <string>

#include "support/pickle_text.hpp"
#include "support/program_json.hpp"

using namespace davit;
using namespace davit::formats;

namespace {

std::string entry(std::string_view name, std::string_view path, const std::string& meta, bool use_pickle = false) {
  return '"' + std::string(name) + R"(": {"path_name": ")" + std::string(path) +
         R"(", "is_param": true, "use_pickle": )" + (use_pickle ? "true" : "false") + R"(, "tensor_meta": )" + meta +
         "}";
}

/// Reads a configuration with an archive that has a storage of six floats, an empty one, and a pickled tensor.
Result<TorchDict> read(const std::string& entries) {
  using namespace pickle_text;
  const std::string pickled =
      saved(tensor(storage("FloatStorage", "0", 2), 0, {2}, {1})).add("archive/data/0", "01234567").text();
  const ZipFile file = ZipFile()
                           .add("m/data/weights/weight_0", std::string(24, '\1'))
                           .add("m/data/weights/weight_1", "")
                           .add("m/data/weights/weight_2", pickled)
                           .add("m/data/weights/custom_obj_0", "object");
  auto archive = ZipArchive::open(file.bytes(), "m.pt2");
  REQUIRE(archive);
  const auto document = parse_json(R"({"config": {)" + entries + "}}", "config");
  REQUIRE(document);
  return PayloadReader(*archive, "m/data/weights/", {}).read(document->root());
}

void check_refused(const std::string& entries, std::string_view where, ErrorCode code = ErrorCode::corrupt_data) {
  const auto dict = read(entries);
  REQUIRE(!dict);
  CHECK(dict.error().code == code);
  CHECK(dict.error().where == where);
}

}  // namespace

using program_json::meta;

TEST_CASE("tensors view the storages of the archive") {
  const auto dict = read(entry("w", "weight_0", meta("2, 3", "3, 1")) + ", " +
                         entry("v", "weight_0", meta("3, 2", "1, 3")) + ", " + entry("e", "weight_1", meta("0", "1")));
  REQUIRE(dict);
  REQUIRE(dict->tensors.size() == 3);
  CHECK(dict->tensors[0].name == "w");
  CHECK(dict->tensors[0].tensor.sizes == std::vector<std::int64_t>{2, 3});
  CHECK(dict->tensors[1].tensor.strides == std::vector<std::int64_t>{1, 3});
  CHECK(dict->tensors[0].tensor.storage.data() == dict->tensors[1].tensor.storage.data());
  CHECK(dict->tensors[2].tensor.numel() == 0);
}

TEST_CASE("pickled tensors and objects") {
  const auto dict = read(entry("p", "weight_2", "null", true) + ", " + entry("o", "custom_obj_0", "null", true));
  REQUIRE(dict);
  REQUIRE(dict->tensors.size() == 1);
  CHECK(dict->tensors[0].tensor.sizes == std::vector<std::int64_t>{2});
  REQUIRE(dict->objects.size() == 1);
  CHECK(dict->objects[0].name == "o");
  CHECK(text_of(dict->objects[0].state) == "object");
}

TEST_CASE("a member is read once, however many entries name it") {
  std::string large(std::size_t{1} << 22, '\7');
  ZipFile file;
  file.add("m/data/weights/custom_obj_0", large);
  file.add("m/data/weights/weight_2",
           pickle_text::saved(pickle_text::tensor(pickle_text::storage("ByteStorage", "0", 1 << 22), 0, {2}, {1}))
               .add("archive/data/0", large)
               .text());
  auto archive = ZipArchive::open(file.bytes(), "m.pt2");
  REQUIRE(archive);
  std::string entries = entry("a", "custom_obj_0", "null", true) + ", " + entry("b", "weight_2", "null", true);
  for (int i = 0; i < 20000; ++i)
    entries += ", " + entry("o" + std::to_string(i), "custom_obj_0", "null", true) + ", " +
               entry("p" + std::to_string(i), "weight_2", "null", true);
  const auto document = parse_json(R"({"config": {)" + entries + "}}", "config");
  REQUIRE(document);
  const auto start = std::chrono::steady_clock::now();
  const auto dict = PayloadReader(*archive, "m/data/weights/", {}).read(document->root());
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));  // 160 GB of checksums otherwise
  REQUIRE(dict);
  REQUIRE(dict->objects.size() == 20001);
  REQUIRE(dict->tensors.size() == 20001);
  CHECK(dict->objects.front().state.data() == dict->objects.back().state.data());
  CHECK(dict->tensors.front().tensor.storage.data() == dict->tensors.back().tensor.storage.data());
}

TEST_CASE("a tensor without data is zeros, if it is not too large") {
  const auto dict = read(entry("z", "weight_1", meta("2, 3", "1, 2")));
  REQUIRE(dict);
  CHECK(dict->tensors[0].tensor.storage.size() == 24);
  check_refused(entry("z", "weight_1", meta("1000000, 1000000", "1000000, 1")), "m.pt2/m/data/weights/weight_1",
                ErrorCode::out_of_memory);
  std::string many = entry("z", "weight_1", meta("10000000", "1"));
  for (int i = 0; i < 10; ++i) many += ", " + entry("y" + std::to_string(i), "weight_1", meta("10000000", "1"));
  check_refused(many, "m.pt2/m/data/weights/weight_1", ErrorCode::out_of_memory);
}

TEST_CASE("damaged configurations are refused with their place") {
  const std::string storage = "m.pt2/m/data/weights/weight_0";
  check_refused(entry("w", "weight_0", meta("7", "1")), storage, ErrorCode::invalid_shape);
  check_refused(entry("w", "weight_0", meta("2", "-1")), storage, ErrorCode::invalid_shape);
  check_refused(entry("w", "weight_0", meta("-2", "1")), storage, ErrorCode::invalid_shape);
  check_refused(entry("w", "weight_0", meta("2, 2", "1")), storage, ErrorCode::invalid_shape);
  check_refused(entry("w", "weight_0", meta("2, 2", "1, 9223372036854775807")), storage, ErrorCode::invalid_shape);
  check_refused(entry("w", "weight_9", meta("2", "1")), "m.pt2/m/data/weights/weight_9", ErrorCode::not_found);
  check_refused(entry("w", "../../version", meta("2", "1")), "m.pt2/m/data/weights/../../version",
                ErrorCode::not_found);
  check_refused(entry("w", "weight_0", "null"), "config.config.w.tensor_meta");
  check_refused(entry("w", "weight_0", meta("2", "1", "0")), "config.config.w.tensor_meta.dtype");
  check_refused(entry("w", "weight_0", "null", true), storage);
  check_refused("\"w\": 3", "config.config.w");
}
