// SPDX-License-Identifier: MIT
#include "../../tools/davit/recorded_case.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "davit/formats/zip/zip.hpp"
#include "support/data.hpp"
#include "support/zip_file.hpp"

using namespace davit;
using formats::CaseFiles;
using formats::ZipArchive;

TEST_CASE("the files of a case are in a folder") {
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
TEST_CASE("links out of the folder are refused, others are followed") {
  namespace fs = std::filesystem;
  const fs::path top = fs::temp_directory_path() / ("davit_case_files_" + std::to_string(::getpid()));
  fs::create_directories(top / "a" / "case");
  fs::copy(test_data("models/seed/case.json"), top / "a" / "own");
  fs::copy(test_data("models/seed/case.json"), top / "outside");
  fs::create_symlink("../own", top / "a" / "case" / "inside");
  fs::create_symlink("../../outside", top / "a" / "case" / "out");
  fs::create_symlink("nowhere", top / "a" / "case" / "dangling");
  fs::create_symlink("a", top / "link");
  for (const fs::path& given : {top / "a", top / "link"}) {
    const CaseFiles files = CaseFiles::folder(given / "case", given);
    CHECK(files.read("inside"));
    REQUIRE(!files.read("out"));
    CHECK(files.read("out").error().what == "it is a link to a file outside of the folder");
    CHECK(files.read("dangling").error().code == ErrorCode::io_error);
  }
  CHECK(!CaseFiles::folder(top / "a" / "case").read("inside"));
  CHECK(formats::lies_in(top / "a" / "case" / "inside", top / "a"));
  CHECK(!formats::lies_in(top / "a", top / "a" / "case"));
  fs::remove_all(top);
}
