// SPDX-License-Identifier: MIT
#include "read_program.hpp"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace tool {

namespace {

using namespace davit;

/// The first bytes of a file; fewer or none where it has no more, or is none.
[[nodiscard]] std::string head_of(const std::string& file) {
  std::string bytes(600, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

constexpr std::string_view package_mark = "DAVITPK\n", archive_mark = "PK\x03\x04";

/// The name of the first file of a ZIP archive, from its local header.
[[nodiscard]] std::string_view first_member(std::string_view head) {
  if (!head.starts_with(archive_mark) || head.size() < 30) return {};
  const std::size_t size = static_cast<unsigned char>(head[26]) + 256u * static_cast<unsigned char>(head[27]);
  return head.substr(30, size);
}

/// What a file is, and what to do with it for those who want something else.
struct Kind {
  std::string_view what;
  std::string_view fix[3];  ///< by Wanted; empty: this is what was wanted
};
constexpr std::string_view export_it = "davit reads what torch.export.save(torch.export.export(model, inputs), FILE) wrote",
                           to_input = "name the model here, and arrays by --input", to_array = "name arrays that numpy.save or numpy.savez wrote",
                           no_package = "name a .pt2 file, or the .davit file that davit lower made of one";
namespace kinds {
constexpr Kind folder{"a folder", {"name a file in it; davit check takes folders of recorded cases", "name a file in it", to_array}},
    lowered{"a program that was lowered already", {"davit run takes it; name the .pt2 file that it was made from", {}, "name it as the model"}},
    array{"an array", {to_input, to_input, {}}},
    arrays{"an archive of arrays, as numpy.savez writes", {to_input, to_input, "give its file the ending .npz"}},
    weights{"what torch.save wrote: weights, or a module of TorchScript, without a program", {export_it, no_package, "save a tensor by numpy.save(FILE, tensor.numpy())"}},
    pickled{"a pickle of Python", {export_it, no_package, "save a tensor by numpy.save(FILE, tensor.numpy())"}},
    onnx{"an ONNX model", {export_it, no_package, to_array}},
    zip{"a ZIP archive, as .pt2 files are", {{}, "lower it first: davit lower MODEL.pt2 -o OUT.davit", "name it as the model"}},
    json{"JSON", {"name a .pt2 file", no_package, to_array}};
}  // namespace kinds

[[nodiscard]] const Kind* kind_of(const std::string& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) return &kinds::folder;
  const std::string head = head_of(file);
  const std::string_view member = first_member(head);
  if (head.starts_with(package_mark)) return &kinds::lowered;
  if (head.starts_with("\x93NUMPY")) return &kinds::array;
  if (member.ends_with(".npy")) return &kinds::arrays;
  if (member.ends_with("/data.pkl")) return &kinds::weights;
  if (head.starts_with("\x80\x02") || head.starts_with("\x80\x04")) return &kinds::pickled;
  if (head.starts_with(archive_mark)) return &kinds::zip;
  if (head.starts_with("{")) return &kinds::json;
  return file.ends_with(".onnx") && !head.empty() ? &kinds::onnx : nullptr;
}

/// A file beside one that is not there, with its name but for the ending; empty: none.
[[nodiscard]] std::string neighbour(const std::filesystem::path& file) {
  std::error_code error;
  std::string found;
  for (std::filesystem::directory_iterator at(file.has_parent_path() ? file.parent_path() : ".", error), end; !error && at != end; at.increment(error))
    if (at->path().stem() == file.stem() && (found.empty() || at->path().string() < found)) found = at->path().string();
  return found;
}

}  // namespace

bool is_package(const std::string& file) { return head_of(file).starts_with(package_mark); }

Error guessed(Error error, const std::string& file, Wanted wanted) {
  const std::string name = std::filesystem::path(file).filename().string();
  if (error.where.view().find(name) == std::string_view::npos) error.where = concat(name, error.where.empty() ? "" : ", ", error.where);
  if (std::error_code ignored; !std::filesystem::exists(file, ignored))
    if (const std::string other = neighbour(file); !other.empty()) error.fix = concat("there is ", other);
  const Kind* kind = kind_of(file);
  if (kind == nullptr) return error;
  const std::string_view fix = kind->fix[static_cast<std::size_t>(wanted)];
  if (fix.empty()) return error;
  error.what = concat("this is ", kind->what);
  error.fix = Name(fix);
  return error;
}

Result<ExportedProgram> read_program(const std::string& file, formats::Pt2Options options) {
  options.skip_unreadable_guards = skip_unreadable_guards;
  Result<ExportedProgram> program = formats::read_pt2(file, options);
  if (!program) return std::unexpected(guessed(std::move(program.error()), file, Wanted::program));
  return program;
}

Result<std::vector<NamedProgram>> read_models(const std::vector<std::string>& models, const Limits& limits, bool& are_methods) {
  std::vector<NamedProgram> all;
  for (const std::string& model : models) {
    const std::size_t equals = model.find('=');
    std::error_code ignored;
    const bool is_file = equals == std::string::npos || equals == 0 || std::filesystem::exists(model, ignored);
    if (is_file && models.size() > 1)
      return std::unexpected(Error{.code = ErrorCode::invalid_argument, .stage = Stage::load, .where = concat("model ", model),
                                   .what = "several files are the methods of one program, and this one is not said to be a method",
                                   .fix = "write, say, prefill=FILE decode=FILE"});
    are_methods = !is_file;
    std::string method = is_file ? "forward" : model.substr(0, equals);
    const std::string file = is_file ? model : model.substr(equals + 1);
    Result<ExportedProgram> program = is_file ? read_program(file, {.limits = limits}) : formats::read_pt2(file, {.model = method, .limits = limits, .skip_unreadable_guards = skip_unreadable_guards});
    if (!program && !is_file) program = read_program(file, {.limits = limits});
    if (!program) return std::unexpected(std::move(program.error()));
    all.push_back({std::move(method), *std::move(program)});
  }
  return all;
}

}  // namespace tool
