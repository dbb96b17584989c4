// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/core/evalue.hpp"
#include "davit/core/shared_bytes.hpp"
#include "davit/core/tensor.hpp"
#include "davit/formats/json/json.hpp"
#include "davit/formats/load_error.hpp"
#include "davit/formats/mapped_file.hpp"
#include "davit/formats/npy.hpp"
#include "davit/formats/zip/zip.hpp"

namespace davit::formats {

class ZipArchive;

/// The files of a recorded case: a folder, or a folder in a zip archive.
class CaseFiles {
 public:
  /// Opens the case in folder `path`. Links may lead to files in `within`; if empty, to files in `path` itself.
  [[nodiscard]] static CaseFiles folder(std::filesystem::path path, std::filesystem::path within = {}) {
    CaseFiles files;
    files.root_ = std::move(path);
    files.within_ = within.empty() ? files.root_ : std::move(within);
    return files;
  }
  [[nodiscard]] static CaseFiles member(ZipArchive& archive, std::string prefix) {
    CaseFiles files;
    files.archive_ = &archive;
    files.prefix_ = std::move(prefix);
    return files;
  }
  /// Reads a file of the case. Rejects names and links that lead out of the folder.
  [[nodiscard]] Result<SharedBytes> read(std::string_view name) const;
  /// Returns the name of the file for errors.
  [[nodiscard]] std::string place(std::string_view name) const;

 private:
  std::filesystem::path root_;
  std::filesystem::path within_;
  ZipArchive* archive_ = nullptr;
  std::string prefix_;
};

/// True if a path, with links resolved, lies in a folder.
[[nodiscard]] inline bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::canonical(path, error);
  if (error) return false;
  const std::filesystem::path top = std::filesystem::canonical(folder, error);
  return !error && std::ranges::mismatch(top, whole).in1 == top.end();
}

inline Result<SharedBytes> CaseFiles::read(std::string_view name) const {
  if (name.find("..") != std::string_view::npos || name.starts_with('/'))
    return load_error(ErrorCode::corrupt_data, place(name), "the name leaves the folder of the case",
                      "record the case again");
  std::error_code ignored;
  if (archive_ == nullptr && std::filesystem::exists(root_ / name, ignored) && !lies_in(root_ / name, within_))
    return load_error(ErrorCode::corrupt_data, place(name), "it is a link to a file outside of the folder",
                      "copy the file in its place");
  return archive_ != nullptr ? archive_->read(prefix_ + std::string(name)) : map_file((root_ / name).string());
}

inline std::string CaseFiles::place(std::string_view name) const {
  return archive_ != nullptr ? std::string(archive_->label()) + "/" + prefix_ + std::string(name)
                             : (root_ / name).string();
}

/// A recorded input or output: a tensor, a number, a text or none.
struct RecordedValue {
  std::string name;
  EValue::Tag tag = EValue::Tag::none;
  Tensor tensor;
  std::int64_t integer = 0;
  double real = 0;
  std::string text;
  bool opaque = false;         ///< a token, or of a type that cannot be recorded: not compared
  std::optional<double> rtol;  ///< tolerance of this value alone, if any
  std::optional<double> atol;

  /// Returns the value as a view of this object.
  [[nodiscard]] EValue value() const {
    switch (tag) {
      case EValue::Tag::tensor: return EValue(tensor.view());
      case EValue::Tag::int_: return EValue(integer);
      case EValue::Tag::float_: return EValue(real);
      case EValue::Tag::bool_: return EValue(integer != 0);
      case EValue::Tag::string: return EValue(std::string_view(text));
      default: return {};
    }
  }
};

}  // namespace davit::formats

namespace davit::formats::detail {

/// The `fix` of all errors in recorded cases.
inline constexpr std::string_view case_fix = "the recorded case is damaged: record it again";

/// Reads a list of integers.
[[nodiscard]] inline Result<std::vector<std::int64_t>> read_integers(const Json& json) {
  const Result<JsonArray> list = json.array();
  if (!list) return error_of(list);
  std::vector<std::int64_t> out;
  for (const Json item : *list) {
    const Result<std::int64_t> value = item.integer();
    if (!value) return error_of(value);
    out.push_back(*value);
  }
  return out;
}
[[nodiscard]] inline Result<std::vector<std::int64_t>> read_integers(const Json& json, std::string_view key) {
  const Result<Json> found = json.at(key);
  if (!found) return error_of(found);
  return read_integers(*found);
}

/// Turns a storage (a tensor of rank 1) into the strided view that the case describes.
[[nodiscard]] inline Result<void> apply_strides(const Json& json, Tensor& tensor) {
  Result<std::vector<std::int64_t>> strides = read_integers(json, "strides");
  if (!strides) return error_of(std::move(strides));
  const Result<std::int64_t> offset = json.integer("storage_offset");
  if (!offset) return error_of(offset);
  tensor.strides = *std::move(strides);
  tensor.storage_offset = *offset;
  if (tensor.sizes.size() != tensor.strides.size())
    return json.error("the numbers of its sizes and strides differ", case_fix);
  const std::int64_t extent =
      storage_extent(tensor.sizes, tensor.strides, tensor.storage_offset, size_of(tensor.dtype));
  if (extent < 0 || static_cast<std::size_t>(extent) > tensor.storage.size())
    return json.error("its strides leave the storage", case_fix);
  return {};
}

/// True if sizes are non-negative, few enough, and their product fits.
[[nodiscard]] inline bool plausible_sizes(std::span<const std::int64_t> sizes) noexcept {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes)
    if (size < 0 || __builtin_mul_overflow(count, std::max<std::int64_t>(size, 1), &count)) return false;
  return sizes.size() <= max_rank && count <= INT64_MAX / 64;
}

/// Reads a tensor of a recorded case: a whole array, or a view of a storage.
[[nodiscard]] inline Result<Tensor> read_case_tensor(const CaseFiles& files, const Json& json) {
  const Result<std::optional<Json>> storage_file = json.find("storage_file");
  if (!storage_file) return error_of(storage_file);
  const bool strided = storage_file->has_value();
  const Result<std::string_view> file = json.string(strided ? "storage_file" : "file");
  if (!file) return error_of(file);
  const Result<SharedBytes> bytes = files.read(*file);
  if (!bytes) return error_of(bytes);
  Result<Tensor> tensor = read_npy(*bytes, files.place(*file));
  if (!tensor) return tensor;
  const Result<std::string_view> dtype_name = json.string("dtype");
  if (!dtype_name) return error_of(dtype_name);
  const ScalarType dtype = scalar_type_named(*dtype_name);
  const bool is_bits = dtype == ScalarType::bfloat16 && tensor->dtype == ScalarType::uint16;
  if (dtype != tensor->dtype && !is_bits)
    return json.error(concat("the file holds ", name_of(tensor->dtype), ", not ", *dtype_name), case_fix);
  tensor->dtype = dtype;
  Result<std::vector<std::int64_t>> sizes = read_integers(json, "shape");
  if (!sizes) return error_of(std::move(sizes));
  if (!strided && *sizes != tensor->sizes) return json.error("the file holds another shape", case_fix);
  if (!plausible_sizes(*sizes)) return json.error("its shape is no list of plausible sizes", case_fix);
  if (!strided) return tensor;
  tensor->sizes = *std::move(sizes);
  if (Result<void> applied = apply_strides(json, *tensor); !applied) return error_of(std::move(applied));
  return tensor;
}

/// Reads a real number, or the text of a value that JSON numbers cannot express.
[[nodiscard]] inline Result<double> real_of(const Json& json) {
  if (!json.is_string()) return json.number();
  const Result<std::string_view> text = json.string();
  if (*text == "NaN" || *text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (*text == "Infinity" || *text == "inf") return std::numeric_limits<double>::infinity();
  if (*text == "-Infinity" || *text == "-inf") return -std::numeric_limits<double>::infinity();
  return json.expected("a number");
}

/// Reads an optional tolerance, a non-negative number.
[[nodiscard]] inline Result<void> read_tolerance(const Json& json, std::string_view key, std::optional<double>& to) {
  const Result<std::optional<Json>> found = json.find(key);
  if (!found) return error_of(found);
  if (!*found) return {};
  const Result<double> value = (**found).number();
  if (!value) return error_of(value);
  if (!(*value >= 0)) return (**found).error("a tolerance is a number of 0 or more", case_fix);
  to = *value;
  return {};
}

/// Reads a number or a text into `out`.
[[nodiscard]] inline Result<void> read_case_scalar(const Json& json, std::string_view type, RecordedValue& out) {
  const Result<Json> value = json.at("value");
  if (!value) return error_of(value);
  if (type == "int") {
    const Result<std::int64_t> v = value->integer();
    if (!v) return error_of(v);
    out.tag = EValue::Tag::int_;
    out.integer = *v;
  } else if (type == "float") {
    const Result<double> v = real_of(*value);
    if (!v) return error_of(v);
    out.tag = EValue::Tag::float_;
    out.real = *v;
  } else if (type == "bool") {
    const Result<bool> v = value->boolean();
    if (!v) return error_of(v);
    out.tag = EValue::Tag::bool_;
    out.integer = *v ? 1 : 0;
  } else if (type == "str") {
    const Result<std::string_view> v = value->string();
    if (!v) return error_of(v);
    out.tag = EValue::Tag::string;
    out.text = *v;
  } else {
    return json.expected("a type: tensor, int, float, bool, str or none");
  }
  return {};
}

/// Reads a recorded input or output.
[[nodiscard]] inline Result<RecordedValue> read_case_value(const CaseFiles& files, const Json& json) {
  RecordedValue out;
  const Result<std::string_view> type = json.string("type");
  if (!type) return error_of(type);
  if (const auto name = json.find("name"); name && *name && (**name).is_string()) out.name = *(**name).string();
  if (Result<void> read = read_tolerance(json, "rtol", out.rtol); !read) return error_of(std::move(read));
  if (Result<void> read = read_tolerance(json, "atol", out.atol); !read) return error_of(std::move(read));
  const Result<std::optional<Json>> kind = json.find("kind");
  const bool is_token = kind && *kind && (**kind).string().value_or("") == "TOKEN";
  out.opaque = *type == "other" || is_token;
  if (*type == "none" || out.opaque) return out;
  if (*type == "tensor") {
    Result<Tensor> tensor = read_case_tensor(files, json);
    if (!tensor) return error_of(std::move(tensor));
    out.tag = EValue::Tag::tensor;
    out.tensor = std::move(*tensor);
    return out;
  }
  if (Result<void> read = read_case_scalar(json, *type, out); !read) return error_of(std::move(read));
  return out;
}

}  // namespace davit::formats::detail

namespace davit::formats {

/// One recorded call of a program.
struct RecordedRun {
  std::vector<RecordedValue> inputs;   ///< user inputs, in signature order
  std::vector<RecordedValue> outputs;  ///< all graph outputs, in order
  /// Values of user inputs after the run, with their indices, if the program changes inputs in place.
  std::vector<std::pair<std::size_t, RecordedValue>> inputs_after;
  /// Values of buffers after the run, by name, if the program changes buffers in place.
  std::vector<std::pair<std::string, RecordedValue>> state_after;
};

/// A program with recorded runs: the input of `davit check`.
struct RecordedCase {
  std::string name;
  std::string program;  ///< file name of the .pt2, or of a package made from it
  double rtol = 0;
  double atol = 0;
  std::string check = "close";             ///< close, shape_dtype or permutation
  std::vector<std::size_t> check_outputs;  ///< indices of compared outputs; empty: all
  std::vector<RecordedRun> runs;
};

namespace detail {

/// Reads a list of values.
[[nodiscard]] inline Result<void> read_values(const CaseFiles& files, const Json& run, std::string_view key,
                                              std::vector<RecordedValue>& out) {
  const Result<JsonArray> list = run.array(key);
  if (!list) return error_of(list);
  for (const Json item : *list) {
    Result<RecordedValue> value = read_case_value(files, item);
    if (!value) return error_of(std::move(value));
    out.push_back(std::move(*value));
  }
  return {};
}

/// Reads `inputs_after`: an object that maps indices of inputs to values.
[[nodiscard]] inline Result<void> read_inputs_after(const CaseFiles& files, const Json& json, RecordedRun& run) {
  const Result<std::optional<Json>> found = json.find("inputs_after");
  if (!found) return error_of(found);
  if (!*found) return {};
  const Result<JsonObject> members = (**found).object();
  if (!members) return error_of(members);
  for (const JsonMember member : *members) {
    std::size_t index = 0;
    const char* const end = member.key.data() + member.key.size();
    const auto [at, error] = std::from_chars(member.key.data(), end, index);
    if (error != std::errc{} || at != end || index >= run.inputs.size())
      return member.value.error("the key is no index of an input", case_fix);
    Result<RecordedValue> value = read_case_value(files, member.value);
    if (!value) return error_of(std::move(value));
    value->name = run.inputs[index].name;
    run.inputs_after.emplace_back(index, *std::move(value));
  }
  return {};
}

/// Reads `state_after`: an object that maps names of buffers to values.
[[nodiscard]] inline Result<void> read_state_after(const CaseFiles& files, const Json& json, RecordedRun& run) {
  const Result<std::optional<Json>> found = json.find("state_after");
  if (!found) return error_of(found);
  if (!*found) return {};
  const Result<JsonObject> members = (**found).object();
  if (!members) return error_of(members);
  for (const JsonMember member : *members) {
    Result<RecordedValue> value = read_case_value(files, member.value);
    if (!value) return error_of(std::move(value));
    value->name = member.key;
    run.state_after.emplace_back(member.key, *std::move(value));
  }
  return {};
}

/// Reads the indices of compared outputs. Each must exist in every run.
[[nodiscard]] inline Result<void> read_selection(const Json& root, RecordedCase& out) {
  const Result<std::optional<Json>> only = root.find("check_outputs");
  if (!only) return error_of(only);
  if (!*only) return {};
  const Result<std::vector<std::int64_t>> indices = read_integers(**only);
  if (!indices) return error_of(indices);
  if (indices->empty()) return (**only).error("it names no output", case_fix);
  for (const std::int64_t index : *indices) {
    for (const RecordedRun& run : out.runs)
      if (index < 0 || static_cast<std::uint64_t>(index) >= run.outputs.size())
        return (**only).error(concat("there is no output ", index), case_fix);
    out.check_outputs.push_back(static_cast<std::size_t>(index));
  }
  return {};
}

/// Reads the comparison rules of outputs.
[[nodiscard]] inline Result<void> read_rules(const Json& root, RecordedCase& out) {
  for (const auto& [key, to] : {std::pair{"rtol", &out.rtol}, std::pair{"atol", &out.atol}}) {
    std::optional<double> value;
    if (Result<void> read = read_tolerance(root, key, value); !read) return read;
    *to = value.value_or(0);
  }
  const Result<std::optional<Json>> check = root.find("check");
  if (!check) return error_of(check);
  if (*check) {
    constexpr std::array<std::string_view, 3> known{"close", "shape_dtype", "permutation"};
    const std::string_view name = (**check).string().value_or("");
    if (std::ranges::find(known, name) == known.end())
      return (**check).error("it is not close, shape_dtype or permutation", case_fix);
    out.check = name;
  }
  return {};
}

}  // namespace detail

/// Reads case.json and its arrays. Errors: io_error, not_found, corrupt_data and invalid_dtype, with the file and the
/// place in it.
[[nodiscard]] inline Result<RecordedCase> read_case(const CaseFiles& files) {
  const Result<SharedBytes> bytes = files.read("case.json");
  if (!bytes) return error_of(bytes);
  const Result<JsonDocument> document =
      parse_json({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, files.place("case.json"));
  if (!document) return error_of(document);
  const Json root = document->root();
  RecordedCase out;
  const Result<std::string_view> program = root.string("program");
  if (!program) return error_of(program);
  out.program = *program;
  if (const auto name = root.find("name"); name && *name && (**name).is_string()) out.name = *(**name).string();
  if (Result<void> read = detail::read_rules(root, out); !read) return error_of(std::move(read));
  const Result<JsonArray> runs = root.array("runs");
  if (!runs) return error_of(runs);
  if (runs->empty()) return root.error("the case has no runs", detail::case_fix);
  for (const Json run : *runs) {
    RecordedRun& recorded = out.runs.emplace_back();
    if (Result<void> read = detail::read_values(files, run, "inputs", recorded.inputs); !read)
      return error_of(std::move(read));
    if (Result<void> read = detail::read_values(files, run, "outputs", recorded.outputs); !read)
      return error_of(std::move(read));
    if (Result<void> read = detail::read_inputs_after(files, run, recorded); !read) return error_of(std::move(read));
    if (Result<void> read = detail::read_state_after(files, run, recorded); !read) return error_of(std::move(read));
  }
  if (Result<void> read = detail::read_selection(root, out); !read) return error_of(std::move(read));
  return out;
}

}  // namespace davit::formats
