// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/pt2_layout.hpp"

#include <doctest/doctest.h>

#include "support/zip_file.hpp"

using namespace davit;
using namespace davit::formats;

namespace {

Result<Pt2Layout> layout(const ZipFile& file, std::string_view model = {}) {
  auto archive = ZipArchive::open(file.bytes(), "m.pt2");
  REQUIRE(archive);
  return find_pt2_layout(*archive, model);
}

ZipFile archive(std::string_view root, std::initializer_list<const char*> models) {
  ZipFile file;
  file.add(std::string(root) + "archive_format", "pt2").add(std::string(root) + "byteorder", "little");
  for (const std::string model : models) {
    file.add(std::string(root) + "models/" + model + ".json", "{}");
    file.add(std::string(root) + "data/weights/" + model + ".pt", "");
  }
  return file;
}

void check_refused(const ZipFile& file, ErrorCode code, std::string_view what, std::string_view model = {}) {
  const auto found = layout(file, model);
  REQUIRE(!found);
  CHECK(found.error().code == code);
  CHECK_MESSAGE(found.error().what.view().find(what) != std::string_view::npos, to_string(found.error()));
}

}  // namespace

TEST_CASE("the layout of torch up to 2.7") {
  ZipFile file;
  file.add("serialized_exported_program.json", "{}").add("serialized_state_dict.pt", "").add("version", "8.2");
  const auto found = layout(file);
  REQUIRE(found);
  CHECK(found->state_dict == "serialized_state_dict.pt");
  CHECK(found->constants.empty());
  CHECK(found->version == "version");
  file = {};
  file.add("serialized_exported_program.json", "{}").add("serialized_state_dict.json", "");
  CHECK(layout(file)->state_dict == "serialized_state_dict.json");
}

TEST_CASE("archives, with a root folder and without") {
  for (const std::string root : {"net/", ""}) {
    const auto found = layout(archive(root, {"model"}));
    REQUIRE(found);
    CHECK(found->program == root + "models/model.json");
    CHECK(found->state_dict == root + "data/weights/model.pt");
    CHECK(found->weights_config.empty());
  }
  ZipFile newer = archive("net/", {"model"});
  newer.add("net/data/weights/model_weights_config.json", "{}");
  CHECK(layout(newer)->weights_config == "net/data/weights/model_weights_config.json");
}

TEST_CASE("one of several models") {
  CHECK(layout(archive("", {"only"}))->program == "models/only.json");
  CHECK(layout(archive("", {"a", "model"}))->program == "models/model.json");
  CHECK(layout(archive("", {"a", "b"}), "b")->program == "models/b.json");
  check_refused(archive("", {"a", "b"}), ErrorCode::not_found, "no model 'model'");
  check_refused(archive("", {"a"}), ErrorCode::not_found, "no model 'b'", "b");
  ZipFile plain;
  plain.add("serialized_exported_program.json", "{}");
  check_refused(plain, ErrorCode::not_found, "no model 'b': it holds one program, without a name", "b");
  check_refused(archive("", {}), ErrorCode::not_found, "no exported program");
}

TEST_CASE("other archives are refused") {
  check_refused(ZipFile().add("archive/data.pkl", ""), ErrorCode::corrupt_data, "not one of torch.export.save");
  check_refused(ZipFile().add("a/b/archive_format", "pt2"), ErrorCode::corrupt_data, "not one of torch.export.save");
  ZipFile file;
  check_refused(file.add("m/archive_format", "pt3"), ErrorCode::version_mismatch, "found 'pt3'");
  check_refused(archive("m/", {"model"}).add("m/archive_version", "1"), ErrorCode::version_mismatch, "found '1'");
}
