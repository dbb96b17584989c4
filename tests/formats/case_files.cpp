// SPDX-License-Identifier: MIT
#include "davit/formats/case_files.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string_view>

#include "davit/formats/zip/zip.hpp"
#include "support/data.hpp"
#include "support/zip_file.hpp"

using namespace davit;
using formats::CaseFiles;
using formats::ZipArchive;

TEST_CASE("the files of a case lie in a folder") {
  const CaseFiles files = CaseFiles::folder(test_data("models/seed"));
  CHECK(files.read("case.json"));
  CHECK(files.place("case.json").ends_with("seed/case.json"));
  CHECK_FALSE(files.read("nosuch.npy"));
}
TEST_CASE("or below a folder of an archive") {
  const ZipFile file = ZipFile().add("c/a.txt", "inside").add("b.txt", "outside");
  Result<ZipArchive> archive = ZipArchive::open(file.bytes(), "cases.zip");
  REQUIRE(archive);
  const CaseFiles files = CaseFiles::member(*archive, "c/");
  const Result<SharedBytes> bytes = files.read("a.txt");
  REQUIRE(bytes);
  CHECK(text_of(*bytes) == "inside");
  CHECK(files.place("a.txt") == "cases.zip/c/a.txt");
  CHECK_FALSE(files.read("b.txt"));
}
TEST_CASE("names that leave the folder are refused") {
  for (const std::string_view name : {"../seed/case.json", "/etc/hostname", "x/../../y"}) {
    const Result<SharedBytes> bytes = CaseFiles::folder(test_data("models/seed")).read(name);
    REQUIRE(!bytes);
    CHECK(bytes.error().code == ErrorCode::corrupt_data);
    CHECK(bytes.error().what == "the name leaves the folder of the case");
  }
}
