// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/torch_save.hpp"

#include <doctest/doctest.h>

#include <string>

#include "support/pickle_text.hpp"

using namespace davit;
using namespace davit::formats;
using namespace pickle_text;

namespace {

Result<TorchDict> read(const ZipFile& file) {
  Result<TorchSave> opened = TorchSave::open(file.bytes(), "s.pt");
  if (!opened) return error_of(std::move(opened));
  return opened->dict();
}

std::string one(std::int64_t offset) { return tensor(storage("FloatStorage", "0", 4), offset, {2}, {1}); }
ZipFile with_storage(const std::string& value) { return saved(value).add("archive/data/0", "0123456789abcdef"); }

void check_refused(const ZipFile& file, std::string_view what, ErrorCode code = ErrorCode::corrupt_data) {
  const auto dict = read(file);
  REQUIRE(!dict);
  CHECK(dict.error().code == code);
  CHECK_MESSAGE(dict.error().what.view().find(what) != std::string_view::npos, to_string(dict.error()));
}

}  // namespace

TEST_CASE("a dictionary of tensors keeps its order and shares storages") {
  const auto dict = read(with_storage(pickle_text::dict({text("b"), parameter(one(2)), text("a"), one(0)})));
  REQUIRE(dict);
  REQUIRE(dict->tensors.size() == 2);
  CHECK(dict->tensors[0].name == "b");
  CHECK(dict->tensors[1].name == "a");
  CHECK(dict->tensors[0].tensor.storage.data() == dict->tensors[1].tensor.storage.data());
}

TEST_CASE("an ordered dictionary is one too, and an empty one") {
  const std::string ordered = call("collections", "OrderedDict", ")") + "(" + text("w") + one(0) + "u";
  CHECK(read(with_storage(ordered))->tensors.size() == 1);
  CHECK(read(saved("}"))->tensors.empty());
}

TEST_CASE("script objects keep their class and state") {
  const std::string script_object =
      global("torch", "ScriptObject") + ")\x81" + tuple({"K\x07", text("__torch__.ns.Foo")}) + "b";
  const auto dict = read(saved(pickle_text::dict({text("o"), script_object})));
  REQUIRE(dict);
  REQUIRE(dict->objects.size() == 1);
  CHECK(dict->objects[0].name == "o");
  CHECK(dict->objects[0].class_fqn == "__torch__.ns.Foo");
  CHECK(text_of(dict->objects[0].state) == tuple({"K\x07", text("__torch__.ns.Foo")}));
}

TEST_CASE("other pickles are refused") {
  check_refused(saved("N"), "not a dictionary");
  check_refused(saved("]"), "not a dictionary");
  check_refused(with_storage(dict({"K\x01", one(0)})), "a key is not text");
  check_refused(with_storage(dict({text("a"), one(0), text("a"), one(1)})), "entry 'a' is there twice");
  check_refused(saved(dict({text("a"), "K\x01"})), "not a tensor");
  check_refused(saved(dict({text("o"), global("torch", "ScriptObject") + ")\x81"})), "no state and class");
  check_refused(ZipFile().add("model/code/x.py", ""), "has no data.pkl");
  ZipFile big_endian = saved("}");
  big_endian.members[1].data = "biggie";
  big_endian.members[1].crc = ZipFile::crc_of("biggie");
  check_refused(big_endian, "byte order 'biggie'", ErrorCode::unsupported_argument);
  ZipFile damaged = with_storage(dict({text("a"), one(0)}));
  damaged.members.back().data[3] = 'x';
  check_refused(damaged, "CRC-32");
}

TEST_CASE("cut and changed files are errors or dictionaries, never more") {
  const std::string whole = with_storage(dict({text("b"), parameter(one(2)), text("a"), one(0)})).text();
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK(!TorchSave::open(bytes_of(whole.substr(0, size)), "cut"));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff, 0x28, 0x52}) {
      std::string changed = whole;
      changed[i] = static_cast<char>(value);
      auto file = TorchSave::open(bytes_of(changed), "changed", {.verify_checksums = false});
      if (!file) continue;
      const auto dict = file->dict();
      if (!dict) continue;
      for (const NamedTensor& entry : dict->tensors)
        CHECK(entry.tensor.storage.size() >= static_cast<std::size_t>(entry.tensor.numel()) * 4);
    }
  }
}
