// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/evalue.hpp"
#include "davit/core/tensor.hpp"
#include "davit/formats/json.hpp"
#include "davit/formats/mapped_file.hpp"
#include "davit/formats/npy.hpp"
#include "davit/formats/zip.hpp"

namespace davit::formats {

/// The files of a case: a folder, or the members of a zip archive below a folder.
class CaseFiles {
 public:
  [[nodiscard]] static CaseFiles folder(std::filesystem::path path) {
    CaseFiles files;
    files.root_ = std::move(path);
    return files;
  }
  [[nodiscard]] static CaseFiles member(ZipArchive& archive, std::string prefix) {
    CaseFiles files;
    files.archive_ = &archive;
    files.prefix_ = std::move(prefix);
    return files;
  }
  /// The bytes of a file of the case; a name that leaves the case's folder is refused.
  [[nodiscard]] Result<SharedBytes> read(std::string_view name) const {
    if (name.find("..") != std::string_view::npos || name.starts_with('/'))
      return corrupt(Name(place(name)), "the name leaves the folder of the case");
    return archive_ != nullptr ? archive_->read(prefix_ + std::string(name)) : map_file(root_ / name);
  }
  [[nodiscard]] std::string place(std::string_view name) const {
    return archive_ != nullptr ? std::string(archive_->label()) + "/" + prefix_ + std::string(name) : (root_ / name).string();
  }

 private:
  std::filesystem::path root_;
  ZipArchive* archive_ = nullptr;
  std::string prefix_;
};

/// A recorded input or output: a tensor, or a number, text or none.
struct RecordedValue {
  std::string name;
  EValue::Tag tag = EValue::Tag::none;
  Tensor tensor;
  std::int64_t integer = 0;
  double real = 0;
  std::string text;
  std::optional<double> rtol;  ///< the value's own tolerance, if it has one
  std::optional<double> atol;

  /// The value; views this object.
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

struct RecordedRun {
  std::vector<RecordedValue> inputs;   ///< user inputs, in signature order
  std::vector<RecordedValue> outputs;  ///< all graph outputs, in order
};

/// A program with recorded runs, as `davit check` takes it.
struct RecordedCase {
  std::string name;
  std::string program;  ///< file name of the .pt2
  double rtol = 0;
  double atol = 0;
  std::string check = "close";                ///< close, shape_dtype or permutation
  std::vector<std::int64_t> check_outputs;    ///< only these outputs are compared; empty: all
  std::vector<RecordedRun> runs;
};

namespace detail {

[[nodiscard]] inline Result<double> real_of(const Json& json) {
  if (!json.is_string()) return json.number();
  const Result<std::string_view> text = json.string();
  if (*text == "NaN" || *text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (*text == "Infinity" || *text == "inf") return std::numeric_limits<double>::infinity();
  if (*text == "-Infinity" || *text == "-inf") return -std::numeric_limits<double>::infinity();
  return json.expected("a number");
}

[[nodiscard]] inline Result<Tensor> read_case_tensor(const CaseFiles& files, const Json& json) {
  const Result<std::string_view> file = json.string("file");
  if (!file) return std::unexpected(file.error());
  const auto storage_file = json.find("storage_file");
  const bool strided = storage_file && *storage_file;
  const std::string name(strided ? (**storage_file).string().value_or("") : *file);
  Result<SharedBytes> bytes = files.read(name);
  if (!bytes) return std::unexpected(std::move(bytes.error()));
  Result<Tensor> tensor = read_npy(*bytes, files.place(name));
  if (!tensor) return tensor;
  const Result<std::string_view> dtype = json.string("dtype");
  if (!dtype) return std::unexpected(dtype.error());
  if (scalar_type_named(*dtype) == ScalarType::bfloat16 && tensor->dtype == ScalarType::uint16) tensor->dtype = ScalarType::bfloat16;
  if (!strided) return tensor;
  const std::size_t storage = tensor->storage.size();
  tensor->sizes.clear();
  tensor->strides.clear();
  for (const char* key : {"shape", "strides"}) {
    const Result<JsonArray> list = json.array(key);
    if (!list) return std::unexpected(list.error());
    for (const Json item : *list) {
      const Result<std::int64_t> v = item.integer();
      if (!v) return std::unexpected(v.error());
      (key[1] == 'h' ? tensor->sizes : tensor->strides).push_back(*v);
    }
  }
  if (const auto offset = json.find("storage_offset"); offset && *offset) tensor->storage_offset = (**offset).integer().value_or(-1);
  if (tensor->sizes.size() != tensor->strides.size() || tensor->sizes.size() > max_rank)
    return json.expected("as many strides as sizes");
  const std::int64_t extent = storage_extent(tensor->sizes, tensor->strides, tensor->storage_offset, size_of(tensor->dtype));
  if (extent < 0 || static_cast<std::size_t>(extent) > storage) return json.expected("strides inside the storage");
  return tensor;
}

[[nodiscard]] inline Result<RecordedValue> read_case_value(const CaseFiles& files, const Json& json) {
  RecordedValue out;
  const Result<std::string_view> type = json.string("type");
  if (!type) return std::unexpected(type.error());
  if (const auto name = json.find("name"); name && *name && (**name).is_string()) out.name = *(**name).string();
  if (const auto rtol = json.find("rtol"); rtol && *rtol) out.rtol = (**rtol).number().value_or(0);
  if (const auto atol = json.find("atol"); atol && *atol) out.atol = (**atol).number().value_or(0);
  if (*type == "none") return out;
  if (*type == "tensor") {
    Result<Tensor> tensor = read_case_tensor(files, json);
    if (!tensor) return std::unexpected(std::move(tensor.error()));
    out.tag = EValue::Tag::tensor;
    out.tensor = std::move(*tensor);
    return out;
  }
  const Result<Json> value = json.at("value");
  if (!value) return std::unexpected(value.error());
  if (*type == "int") {
    const Result<std::int64_t> v = value->integer();
    if (!v) return std::unexpected(v.error());
    out.tag = EValue::Tag::int_;
    out.integer = *v;
  } else if (*type == "float") {
    const Result<double> v = real_of(*value);
    if (!v) return std::unexpected(v.error());
    out.tag = EValue::Tag::float_;
    out.real = *v;
  } else if (*type == "bool") {
    const Result<bool> v = value->boolean();
    if (!v) return std::unexpected(v.error());
    out.tag = EValue::Tag::bool_;
    out.integer = *v ? 1 : 0;
  } else if (*type == "str") {
    const Result<std::string_view> v = value->string();
    if (!v) return std::unexpected(v.error());
    out.tag = EValue::Tag::string;
    out.text = *v;
  } else {
    return json.expected("a type: tensor, int, float, bool, str or none");
  }
  return out;
}

[[nodiscard]] inline Result<void> read_values(const CaseFiles& files, const Json& run, std::string_view key, std::vector<RecordedValue>& out) {
  const Result<JsonArray> list = run.array(key);
  if (!list) return std::unexpected(list.error());
  for (const Json item : *list) {
    Result<RecordedValue> value = read_case_value(files, item);
    if (!value) return std::unexpected(std::move(value.error()));
    out.push_back(std::move(*value));
  }
  return {};
}

}  // namespace detail

/// Reads case.json and the arrays it names. Errors: io_error, corrupt_data with file and JSON path.
[[nodiscard]] inline Result<RecordedCase> read_case(const CaseFiles& files) {
  const Result<SharedBytes> bytes = files.read("case.json");
  if (!bytes) return std::unexpected(bytes.error());
  const Result<JsonDocument> document =
      parse_json({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, files.place("case.json"));
  if (!document) return std::unexpected(document.error());
  const Json root = document->root();
  RecordedCase out;
  const Result<std::string_view> program = root.string("program");
  if (!program) return std::unexpected(program.error());
  out.program = *program;
  if (const auto name = root.find("name"); name && *name && (**name).is_string()) out.name = *(**name).string();
  if (const auto check = root.find("check"); check && *check && (**check).is_string()) out.check = *(**check).string();
  for (auto [key, to] : {std::pair{"rtol", &out.rtol}, std::pair{"atol", &out.atol}})
    if (const auto v = root.find(key); v && *v) *to = (**v).number().value_or(0);
  if (const auto only = root.find("check_outputs"); only && *only && (**only).is_array()) {
    const Result<JsonArray> list = (**only).array();
    for (const Json item : *list) out.check_outputs.push_back(item.integer().value_or(-1));
  }
  const Result<JsonArray> runs = root.array("runs");
  if (!runs) return std::unexpected(runs.error());
  for (const Json run : *runs) {
    RecordedRun& recorded = out.runs.emplace_back();
    if (Result<void> r = detail::read_values(files, run, "inputs", recorded.inputs); !r) return std::unexpected(std::move(r.error()));
    if (Result<void> r = detail::read_values(files, run, "outputs", recorded.outputs); !r) return std::unexpected(std::move(r.error()));
  }
  return out;
}

}  // namespace davit::formats
