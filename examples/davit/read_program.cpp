// SPDX-License-Identifier: MIT
#include "read_program.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

namespace tool {

namespace {

using namespace davit;

[[nodiscard]] bool begins(const std::string& file, std::string_view with) {
  std::string bytes(with.size(), '\0');
  std::ifstream in(file, std::ios::binary);
  return in.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) && bytes == with;
}
constexpr std::string_view package = "DAVITPK\n", archive = "PK\x03\x04";

}  // namespace

bool is_package(const std::string& file) { return begins(file, package); }

Error guessed(Error error, const std::string& file, bool wanted_package) {
  struct Kind {
    std::string_view begin, what, fix;
  };
  static constexpr Kind kinds[] = {
      {package, "a program that was lowered already", "davit run takes it; name the .pt2 file that it was made from"},
      {archive, "a ZIP archive, as .pt2 files are", "lower it first: davit lower MODEL.pt2 -o OUT.davit"},
      {"\x93NUMPY", "an array", "name the model here, and arrays by --input"},
      {"{", "JSON", "name a .pt2 file"},
  };
  const std::string name = std::filesystem::path(file).filename().string();
  if (error.where.view().find(name) == std::string_view::npos) error.where = concat(name, error.where.empty() ? "" : ", ", error.where);
  for (const Kind& kind : kinds) {
    if (kind.begin == (wanted_package ? package : archive) || !begins(file, kind.begin)) continue;
    error.what = concat("this is ", kind.what);
    error.fix = Name(kind.fix);
    break;
  }
  return error;
}

Result<ExportedProgram> read_program(const std::string& file, const formats::Pt2Options& options) {
  Result<ExportedProgram> program = formats::read_pt2(file, options);
  if (!program) return std::unexpected(guessed(std::move(program.error()), file, false));
  return program;
}

}  // namespace tool
