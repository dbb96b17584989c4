// SPDX-License-Identifier: MIT
#include "davit/formats/mapped_file.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "support/data.hpp"
#include "support/zip_file.hpp"

using namespace davit;
using namespace davit::formats;

namespace {

/// A folder that goes with the test.
struct Folder {
  Folder() : path(std::filesystem::temp_directory_path() / ("davit_test_" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

void check_refused(const std::filesystem::path& path, std::string_view what) {
  const auto bytes = map_file(path);
  REQUIRE(!bytes);
  CHECK(bytes.error().code == ErrorCode::io_error);
  CHECK(bytes.error().where == path.string());
  CHECK(bytes.error().what == what);
}

}  // namespace

TEST_CASE("a file is mapped, and stays while a part of it lives") {
  const std::string content = test_file("pt2/cond_nested.pt2");
  REQUIRE(!content.empty());
  SharedBytes tail;
  {
    const auto bytes = map_file(test_data("pt2/cond_nested.pt2"));
    REQUIRE(bytes);
    CHECK(text_of(*bytes) == content);
    tail = bytes->part(content.size() - 4, 4);
  }
  CHECK(text_of(tail) == content.substr(content.size() - 4));
}

TEST_CASE("a write to the mapped bytes stays in this process: neither the file nor another mapping of it changes") {
  const Folder folder;
  std::ofstream(folder.path / "file") << "unchanged";
  const auto bytes = map_file(folder.path / "file");
  const auto other = map_file(folder.path / "file");
  REQUIRE(bytes);
  REQUIRE(other);
  bytes->writable()[0] = std::byte{'U'};
  CHECK(text_of(*bytes) == "Unchanged");
  CHECK(text_of(*other) == "unchanged");
  CHECK(text_of(*map_file(folder.path / "file")) == "unchanged");
}

TEST_CASE("what cannot be mapped is an error that names the path") {
  const Folder folder;
  check_refused(folder.path / "missing", "No such file or directory");
  check_refused(folder.path, "it is a directory");
  std::ofstream(folder.path / "empty").close();
  check_refused(folder.path / "empty", "the file is empty");
  REQUIRE(::mkfifo((folder.path / "pipe").c_str(), 0600) == 0);
  check_refused(folder.path / "pipe", "it is not a regular file");
}
