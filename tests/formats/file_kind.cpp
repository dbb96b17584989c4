// SPDX-License-Identifier: MIT
#include "davit/formats/file_kind.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "davit/backends/portable.hpp"
#include "davit/formats/npy.hpp"
#include "davit/formats/package.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/lowered/backend_list.hpp"
#include "support/data.hpp"
#include "support/zip_file.hpp"

using namespace davit;
using namespace davit::formats;
using namespace std::string_view_literals;

namespace {

/// The name of these bytes' kind; empty if it is unknown.
std::string_view kind(std::string_view bytes, std::string_view name = {}) {
  const FileKind* const found = file_kind(std::as_bytes(std::span(bytes)), name);
  return found == nullptr ? std::string_view() : found->what;
}
std::string zip(std::initializer_list<std::string_view> names) {
  ZipFile file;
  for (const std::string_view name : names) file.add(name, "content");
  return text_of(file.bytes());
}
constexpr std::string_view onnx = "\x08\x07\x12\x07pytorch:"sv, pte = "\x1c\0\0\0ET12\0\0\0\0"sv;

}  // namespace

TEST_CASE("files are known by their bytes") {
  CHECK(kind(onnx) == "an ONNX model");
  CHECK(kind("\x08\x07"sv, "model.onnx") == "an ONNX model");
  CHECK(kind("\x08\x07"sv).empty());
  CHECK(kind(pte) == "an ExecuTorch program (.pte)");
  CHECK(kind(zip({"net/data.pkl", "net/code/__torch__.py", "net/constants.pkl"})) ==
        "a TorchScript module, as torch.jit.save writes");
  CHECK(kind(zip({"net/data.pkl", "net/data/0", "net/version"}))
            .starts_with("what torch.save wrote: weights (a state_dict)"));
  CHECK(kind(zip({"a.npy", "b.npy"})) == "an archive of arrays, as numpy.savez writes");
  CHECK(kind(zip({"a.npy", "case.json"})) == "a ZIP archive, as .pt2 files are");
  CHECK(kind(zip({"m/data.pkl", "m/archive_format"})) == "a ZIP archive, as .pt2 files are");
  CHECK(kind(test_file("models/seed/program.pt2")) == "a ZIP archive, as .pt2 files are");
  CHECK(kind(test_file("models/seed/r0_in0.npy")) == "an array");
  CHECK(kind("DAVITPK\n") == "a program that was lowered already");
  CHECK(kind("\x80\x02}q\0."sv) == "a pickle of Python");
  CHECK(kind("{\"a\": 1}") == "JSON");
  CHECK(kind("\x40\0\0\0\0\0\0\0{\"__metadata__\""sv) == "a safetensors file: weights, without a program");
  CHECK(kind("<!DOCTYPE html><html>") == "a web page");
  for (const std::string_view text : {""sv, "P"sv, "PK"sv, "text"sv, "\0\0\0\0"sv}) CHECK(kind(text).empty());
}
TEST_CASE("an archive cut short is known by its first name, and none is read beyond its end") {
  const std::string whole = zip({"net/data.pkl", "net/constants.pkl", "net/version"});
  for (std::size_t size = 0; size < whole.size(); ++size) (void)kind(std::string_view(whole).substr(0, size));
  CHECK(kind(std::string_view(whole).substr(0, whole.size() - 30)).starts_with("what torch.save wrote"));
  std::string damaged = whole;
  for (std::size_t i = 0; i < damaged.size(); ++i) {  // positions and lengths of all kinds
    damaged[i] = '\xff';
    (void)kind(damaged);
    damaged[i] = whole[i];
  }
}
TEST_CASE("a file's kind and the next action are told from bytes and from a file") {
  const auto folder = std::filesystem::temp_directory_path() / ("davit_kinds_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string script = zip({"net/data.pkl", "net/constants.pkl"});
  struct Case {
    std::string_view name, bytes, what;
  };
  for (const auto& [name, bytes, what] :
       {Case{"a.onnx", onnx, "an ONNX model"}, Case{"a.pte", pte, "an ExecuTorch program (.pte)"},
        Case{"a.pt", script, "a TorchScript module, as torch.jit.save writes"},
        Case{"a.davit", "DAVITPK\n", "a program that was lowered already"}}) {
    const std::string path = (folder / name).string();
    std::ofstream(path, std::ios::binary) << bytes;
    for (const auto& program : {read_pt2(path), read_pt2(bytes_of(bytes))}) {
      REQUIRE(!program);
      CHECK(program.error().what == concat("this is ", what));
      CHECK(program.error().fix.view().find(name == "a.davit" ? "load_program reads it" : "torch.export.save") !=
            std::string_view::npos);
    }
    CHECK(read_npy(path).error().what == concat("this is ", what));
    const Error error = load_program<BackendList<portable>>(path).error();
    CHECK((name == "a.davit" || error.what == concat("this is ", what)));
    CHECK(error.where.view().find(name) != std::string_view::npos);
  }
  CHECK(load_program<BackendList<portable>>(test_data("models/seed/program.pt2").string())
            .error()
            .fix.view()
            .starts_with("lower it first"));
  CHECK(read_pt2(folder.string()).error().what == "this is a folder");
  CHECK(read_pt2((folder / "a.pt2").string()).error().fix.view().starts_with("there is "));
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(read_pt2((folder / "pipe").string()).error().what == "it is not a regular file");
  CHECK(!is_package((folder / "pipe").string()));
  CHECK(is_package((folder / "a.davit").string()));
  std::filesystem::remove_all(folder);
}
