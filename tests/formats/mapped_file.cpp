// SPDX-License-Identifier: MIT
#include "davit/formats/mapped_file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "support/data.hpp"
#include "support/zip_file.hpp"

using namespace davit;
using namespace davit::formats;

namespace {

bool dies_at_rename = false;

/// A folder that is removed after the test.
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

// overrides the C library's function
extern "C" int rename(const char* from, const char* to) noexcept {
  if (dies_at_rename) std::raise(SIGKILL);
  return ::renameat(AT_FDCWD, from, AT_FDCWD, to);
}

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

TEST_CASE("texts that name files are UTF-8") {
  const Folder folder;
  const std::string file = folder.path.string() + "/caf\xc3\xa9";
  REQUIRE(write_file(file, "content"));
  CHECK(std::filesystem::exists(path_of(file)));
  CHECK(path_of(file).string() == file);
  CHECK(path_of(file).filename().u8string() == u8"caf\u00e9");
  const auto bytes = map_file(file);
  REQUIRE(bytes);
  CHECK(text_of(*bytes) == "content");
}

TEST_CASE("a file that cannot be mapped is an error with the path") {
  const Folder folder;
  check_refused(folder.path / "missing", "No such file or directory");
  check_refused(folder.path, "it is a directory");
  std::ofstream(folder.path / "empty").close();
  check_refused(folder.path / "empty", "the file is empty");
  REQUIRE(::mkfifo((folder.path / "pipe").c_str(), 0600) == 0);
  check_refused(folder.path / "pipe", "it is not a regular file");
}

TEST_CASE("a file is written whole, or the old one stays") {
  const auto folder = std::filesystem::temp_directory_path() / ("davit_write_file_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "a").string();
  const auto content = [&] {
    const auto bytes = formats::map_file(file);
    return bytes ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) : std::string();
  };
  REQUIRE(formats::write_file(file, "first"));
  CHECK(content() == "first");
  std::filesystem::create_symlink("a", folder / "link");
  REQUIRE(formats::write_file((folder / "link").string(), "second"));
  CHECK(content() == "second");
  CHECK(std::filesystem::is_symlink(folder / "link"));
  std::filesystem::create_symlink("b", folder / "dangling");
  REQUIRE(formats::write_file((folder / "dangling").string(), "new"));
  CHECK(text_of(*formats::map_file((folder / "b").string())) == "new");
  CHECK(std::filesystem::is_symlink(folder / "dangling"));
  std::filesystem::create_symlink("none/b", folder / "lost");
  CHECK(formats::write_file((folder / "lost").string(), "x").error().what.view().find("being a link to '") !=
        std::string_view::npos);
  std::filesystem::create_symlink("ring", folder / "ring");
  CHECK(formats::write_file((folder / "ring").string(), "x")
            .error()
            .what.view()
            .ends_with("Too many levels of symbolic links"));
  for (const char* name : {"b", "dangling", "lost", "ring"}) std::filesystem::remove(folder / name);
  // a full disk: a process that may write 4 KiB
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit small{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &small);
    std::signal(SIGXFSZ, SIG_IGN);
    const auto written = formats::write_file(file, std::string(100'000, 'x'));
    ::_exit(!written && written.error().code == ErrorCode::io_error && written.error().stage == Stage::save ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(content() == "second");
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 2);
  // killed while writing: by the signal of the 4097th byte
  const pid_t killed = ::fork();
  if (killed == 0) {
    const rlimit small{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &small);
    std::signal(SIGXFSZ, SIG_DFL);
    (void)formats::write_file(file, std::string(100'000, 'x'));
    ::_exit(0);
  }
  ::waitpid(killed, &status, 0);
  CHECK(WIFSIGNALED(status));
  CHECK(content() == "second");
  // killed after all is written, before the new file has its name
  const pid_t late = ::fork();
  if (late == 0) {
    dies_at_rename = true;
    (void)formats::write_file(file, std::string(100'000, 'x'));
    ::_exit(0);
  }
  ::waitpid(late, &status, 0);
  CHECK(WIFSIGNALED(status));
  CHECK(content() == "second");
  CHECK(!formats::write_file((folder / "none" / "a").string(), "x"));
  CHECK(!formats::write_file(folder.string(), "x"));
  CHECK(!formats::write_file("/dev/full", "x"));
  std::filesystem::remove_all(folder);
}

TEST_CASE("parts are written one after the other; forgotten pages of a mapping are read again") {
  const auto file = (std::filesystem::temp_directory_path() / ("davit_parts_" + std::to_string(::getpid()))).string();
  const std::string text(20'000, 'a');
  const std::span<const std::byte> parts[] = {
      std::as_bytes(std::span(text)), {}, std::as_bytes(std::span(std::string_view("end")))};
  REQUIRE(formats::write_file(file, parts));
  const auto mapped = formats::map_file(file);
  REQUIRE(mapped);
  CHECK(mapped->size() == 20'003);
  const_cast<std::byte&>(mapped->bytes()[5000]) = std::byte{'x'};  // shows that its page is dropped
  formats::forget(mapped->part(0, 4096));
  CHECK(mapped->bytes()[5000] == std::byte{'x'});
  formats::forget(*mapped);
  CHECK(mapped->bytes()[5000] == std::byte{'a'});
  CHECK(mapped->bytes()[20'002] == std::byte{'d'});
  const SharedBytes own = SharedBytes::copy_of(mapped->bytes());
  formats::forget(own);
  CHECK(own.bytes()[5000] == std::byte{'a'});
  std::filesystem::remove(file);
}

TEST_CASE("unfinished files, and no others, are removed when a signal ends the process") {
  const auto folder = std::filesystem::temp_directory_path() / ("davit_unfinished_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const auto touch = [&](const char* name) {
    std::ofstream(folder / name) << "x";
    return (folder / name).string();
  };
  const std::string finished = touch("finished");
  {
    const UnfinishedFile file(finished);
  }
  const pid_t child = ::fork();
  if (child == 0) {
    const UnfinishedFile first(touch("first")), second(touch("second"));
    remove_unfinished_files();
    remove_unfinished_files();
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 1);
  CHECK(std::filesystem::exists(finished));
  std::filesystem::remove_all(folder);
}
