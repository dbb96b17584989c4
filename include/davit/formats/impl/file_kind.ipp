// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "davit/core/shared_bytes.hpp"
#include "davit/formats/file_kind.hpp"
#include "davit/formats/mapped_file.hpp"

namespace davit::formats {

namespace detail {

namespace file_kinds {
inline constexpr std::string_view
    export_it = "davit reads what torch.export.save(torch.export.export(model, inputs), FILE) wrote",
    to_input = "name a model; arrays are inputs, which davit run takes by --input",
    to_array = "name arrays that numpy.save or numpy.savez wrote",
    no_package = "name a .pt2 file, or the .davit file that davit lower made of one",
    save_array = "save a tensor by numpy.save(FILE, tensor.numpy())";
inline constexpr FileKind folder{
    "a folder", {"name a file in it; davit check takes folders of recorded cases", "name a file in it", to_array}},
    lowered{"a program that was lowered already",
            {"davit run takes it, load_program reads it; name the .pt2 file that it was made from",
             {},
             "name it as the model"}},
    exported{"a ZIP archive, as .pt2 files are",
             {{}, "lower it first: davit lower MODEL.pt2 -o OUT.davit", "name it as the model"}},
    array{"an array", {to_input, to_input, {}}},
    arrays{"an archive of arrays, as numpy.savez writes", {to_input, to_input, "give its file the ending .npz"}},
    torch_script{"a TorchScript module, as torch.jit.save writes", {export_it, no_package, save_array}},
    weights{"what torch.save wrote: weights (a state_dict) or a pickled module, without a program",
            {export_it, no_package, save_array}},
    pickled{"a pickle of Python", {export_it, no_package, save_array}},
    executorch{"an ExecuTorch program (.pte)", {export_it, no_package, to_array}},
    onnx{"an ONNX model", {export_it, no_package, to_array}},
    tflite{"a TensorFlow Lite model", {export_it, no_package, to_array}},
    hdf5{"an HDF5 file, as Keras writes", {export_it, no_package, to_array}},
    gguf{"a GGUF file: weights, without a program", {export_it, no_package, to_array}},
    safetensors{"a safetensors file: weights, without a program", {export_it, no_package, to_array}},
    html{"a web page", {"download the file itself", "download the file itself", "download the file itself"}},
    lfs{"a pointer of Git LFS",
        {"get the file itself: git lfs pull", "get the file itself: git lfs pull",
         "get the file itself: git lfs pull"}},
    json{"JSON", {"name a .pt2 file", no_package, to_array}};

/// Magic bytes of a file kind, and their offset.
struct Mark {
  std::size_t at;
  std::string_view bytes;
  const FileKind* kind;
};
inline constexpr Mark marks[] = {{0, "DAVITPK\n", &lowered},
                                 {0, "\x93NUMPY", &array},
                                 {0, "\x89HDF\r\n\x1a\n", &hdf5},
                                 {0, "GGUF", &gguf},
                                 {4, "ET1", &executorch},
                                 {4, "TFL3", &tflite},
                                 {0, "\x80\x02", &pickled},
                                 {0, "\x80\x03", &pickled},
                                 {0, "\x80\x04", &pickled},
                                 {0, "\x80\x05", &pickled},
                                 {0, "<!DOCTYPE", &html},
                                 {0, "<!doctype", &html},
                                 {0, "<html", &html},
                                 {0, "version https://git-lfs", &lfs},
                                 {5, std::string_view("\0\0\0{\"", 5), &safetensors},
                                 {0, "{", &json}};
}  // namespace file_kinds

/// Calls see(name) for each name in a ZIP archive's directory; for a truncated archive, for its first file. Does not
/// need zlib, as formats/zip does. The result is a guess: reading checks the archive.
template <class See>
void for_each_zip_name(std::string_view bytes, const See& see) {
  constexpr std::size_t end_size = 22, locator_size = 20, entry_size = 46;
  const auto number = [&](std::uint64_t at, std::size_t width) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < width && at < bytes.size() && i < bytes.size() - at; ++i)
      value |= std::uint64_t{static_cast<unsigned char>(bytes[static_cast<std::size_t>(at) + i])} << (8 * i);
    return value;
  };
  const std::size_t last =
      bytes.size() - std::min(bytes.size(), end_size + 0xffff);  // the end record has a comment of at most 64 KiB
  std::size_t end = bytes.substr(last).rfind("PK\x05\x06");
  end = end == std::string_view::npos ? end : end + last;
  if (end == std::string_view::npos || bytes.size() - end < end_size)
    return see(bytes.substr(std::min<std::size_t>(30, bytes.size()), static_cast<std::size_t>(number(26, 2))));
  std::uint64_t at = number(end + 16, 4);
  if (at == 0xffffffff && end >= locator_size) at = number(number(end - locator_size + 8, 8) + 48, 8);
  while (at < end && bytes.substr(static_cast<std::size_t>(at)).starts_with("PK\x01\x02")) {
    see(bytes.substr(static_cast<std::size_t>(std::min<std::uint64_t>(at + entry_size, end)),
                     static_cast<std::size_t>(number(at + 28, 2))));
    at += entry_size + number(at + 28, 2) + number(at + 30, 2) + number(at + 32, 2);
  }
}

/// Returns the kind of a ZIP archive by the names in it.
[[nodiscard]] const FileKind* zip_kind(std::string_view bytes) {
  bool any = false, arrays = true, pickle = false, code = false, exported = false;
  for_each_zip_name(bytes, [&](std::string_view name) {
    any = true;
    arrays = arrays && name.ends_with(".npy");
    pickle = pickle || name.ends_with("/data.pkl");
    code = code || name.ends_with("/constants.pkl") || name.contains("/code/__torch__");
    exported = exported || name == "serialized_exported_program.json" || name.ends_with("archive_format");
  });
  if (any && arrays) return &file_kinds::arrays;
  return exported || !pickle ? &file_kinds::exported : code ? &file_kinds::torch_script : &file_kinds::weights;
}

/// True if the bytes start like an ONNX ModelProto: ir_version, then a string or message field.
[[nodiscard]] bool is_onnx(std::string_view head) {
  return head.size() > 3 && head[0] == 0x08 && head[1] > 0 && head[1] < 0x40 &&
         std::string_view("\x12\x1a\x22\x32\x3a\x42").contains(head[2]);
}

#if DAVIT_TARGET_FILES
/// Finds a file beside a missing one that differs only in its extension; empty if there is none.
[[nodiscard]] std::string neighbour_of(const std::filesystem::path& file) {
  std::error_code error;
  std::string found;
  for (std::filesystem::directory_iterator at(file.has_parent_path() ? file.parent_path() : ".", error), end;
       !error && at != end; at.increment(error))
    if (at->path().stem() == file.stem() && (found.empty() || at->path().string() < found)) found = at->path().string();
  return found;
}
#endif

[[nodiscard]] Error with_kind(Error error, const FileKind* kind, FileUse wanted) {
  if (kind == nullptr) return error;
  const std::string_view fix = kind->fix[static_cast<std::size_t>(wanted)];
  if (fix.empty()) return error;
  error.what = concat("this is ", kind->what);
  error.fix = Name(fix);
  return error;
}

}  // namespace detail

const FileKind* file_kind(std::span<const std::byte> bytes, std::string_view name) {
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), std::min<std::size_t>(bytes.size(), 600));
  if (head.starts_with("PK\x03\x04"))
    return detail::zip_kind({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  for (const detail::file_kinds::Mark& mark : detail::file_kinds::marks)
    if (head.size() >= mark.at && head.substr(mark.at).starts_with(mark.bytes)) return mark.kind;
  return !head.empty() && (name.ends_with(".onnx") || detail::is_onnx(head)) ? &detail::file_kinds::onnx : nullptr;
}

bool is_package(std::span<const std::byte> bytes) noexcept {
  constexpr detail::file_kinds::Mark mark = detail::file_kinds::marks[0];
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()).starts_with(mark.bytes);
}
bool is_package(const std::string& path) {
  const Result<SharedBytes> bytes = map_file(path);
  return bytes && is_package(bytes->bytes());
}

Error recognised(Error error, std::span<const std::byte> bytes, FileUse wanted, std::string_view name) {
  return detail::with_kind(std::move(error), file_kind(bytes, name), wanted);
}

#if DAVIT_TARGET_FILES
Error with_file_kind_of(Error error, const std::string& path, FileUse wanted) {
  const std::filesystem::path file = path_of(path);
  const std::string name = file.filename().string();
  if (error.where.view().find(name) == std::string_view::npos)
    error.where = concat(name, error.where.empty() ? "" : ", ", error.where);
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    if (const std::string other = detail::neighbour_of(file); !other.empty()) error.fix = concat("there is ", other);
    return error;
  }
  if (std::filesystem::is_directory(file, ignored))
    return detail::with_kind(std::move(error), &detail::file_kinds::folder, wanted);
  const Result<SharedBytes> bytes = map_file(path);
  return bytes ? recognised(std::move(error), bytes->bytes(), wanted, name) : error;
}
#else
Error with_file_kind_of(Error error, const std::string&, FileUse) { return error; }
#endif

}  // namespace davit::formats
