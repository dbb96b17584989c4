// SPDX-License-Identifier: MIT
#include "inputs.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "davit/core/real_from_chars.hpp"
#include "davit/formats/file_kind.hpp"
#include "davit/formats/mapped_file.hpp"
#include "davit/formats/npy.hpp"
#include "davit/formats/zip/zip.hpp"
#include "print_value.hpp"

namespace tool {

using namespace davit;

namespace {

/// Parses all of `text` as a number. False if it is none or out of range.
template <class T>
[[nodiscard]] bool parse_number(std::string_view text, T& to) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = number_from_chars(text.data(), end, to);
  return error == std::errc{} && at == end;
}

constexpr Name input_forms = "pass FILE.npy, FILE.npz, FILE.npz:NAME, a number, true, false, none or str:TEXT";

void add_tensor(Tensor tensor, std::vector<Input>& inputs) {
  Input& out = inputs.emplace_back();
  out.tensor = std::move(tensor);
  out.tensor.storage = SharedBytes::copy_of(out.tensor.storage.bytes());  // the program may change its inputs
  out.value = EValue(out.tensor.view());
}

[[nodiscard]] Result<void> read_array(const std::string& file, std::vector<Input>& inputs) {
  Result<Tensor> tensor = formats::read_npy(file);
  if (std::error_code ignored; !tensor && !std::filesystem::exists(formats::path_of(file), ignored) &&
                               !tensor.error().fix.view().starts_with("there is "))
    tensor.error().fix = input_forms;
  if (!tensor) return std::unexpected(std::move(tensor.error()));
  add_tensor(*std::move(tensor), inputs);
  return {};
}

/// Reads the arrays of a numpy.savez archive in its order; if `name` is not empty, only this one.
[[nodiscard]] Result<void> read_arrays(const std::string& file, std::string_view name, std::vector<Input>& inputs) {
  const Result<SharedBytes> bytes = formats::map_file(file);
  if (!bytes) return std::unexpected(formats::with_file_kind_of(bytes.error(), file, formats::FileUse::array));
  Result<formats::ZipArchive> archive = formats::ZipArchive::open(*bytes, file);
  if (!archive)
    return std::unexpected(formats::with_file_kind_of(std::move(archive.error()), file, formats::FileUse::array));
  std::vector<const formats::ZipMember*> arrays;
  for (const formats::ZipMember& member : archive->members())
    if (member.name.ends_with(".npy")) arrays.push_back(&member);
  std::ranges::sort(arrays, {}, &formats::ZipMember::offset);
  std::string names;
  bool found = false;
  for (const formats::ZipMember* member : arrays) {
    const std::string_view own = std::string_view(member->name).substr(0, member->name.size() - 4);
    names.append(names.empty() ? "" : ", ").append(own);
    if (!name.empty() && name != own) continue;
    found = true;
    const Result<SharedBytes> content = archive->read(*member);
    if (!content) return std::unexpected(content.error());
    Result<Tensor> tensor = formats::read_npy(*content, archive->place(member->name).view());
    if (!tensor) return std::unexpected(std::move(tensor.error()));
    add_tensor(*std::move(tensor), inputs);
  }
  if (found) return {};
  if (arrays.empty())
    return refuse(ErrorCode::not_found, Name::own(file), "the archive holds no array", "save arrays by numpy.savez");
  return refuse(ErrorCode::not_found, Name::own(file), concat("the archive has no array '", name, "'"),
                concat("it has: ", names));
}

/// Appends one input of the command line. Views of texts are set when all inputs are parsed.
[[nodiscard]] Result<void> parse_input(const std::string& text, std::vector<Input>& inputs) {
  std::int64_t integer = 0;
  double real = 0;
  EValue value;
  if (text.empty()) return refuse(ErrorCode::invalid_argument, "--input", "an input is empty", input_forms);
  const std::size_t colon = text.rfind(".npz:");
  if (colon != std::string::npos && !std::filesystem::exists(formats::path_of(text)))
    return read_arrays(text.substr(0, colon + 4), std::string_view(text).substr(colon + 5), inputs);
  if (text.ends_with(".npz")) return read_arrays(text, {}, inputs);
  if (text == "true" || text == "false") {
    value = EValue(text == "true");
  } else if (parse_number(text, integer)) {
    value = EValue(integer);
  } else if (parse_number(text, real)) {
    value = EValue(real);
  } else if (text != "none" && !text.starts_with("str:")) {
    return read_array(text, inputs);
  }
  inputs.push_back({.tensor = {}, .text = text, .value = value});
  return {};
}

}  // namespace

Result<std::vector<Input>> parse_inputs(const std::vector<std::string>& texts) {
  std::vector<Input> inputs;
  for (const std::string& text : texts)
    if (Result<void> parsed = parse_input(text, inputs); !parsed) return std::unexpected(std::move(parsed.error()));
  for (Input& input : inputs)
    if (input.text.starts_with("str:")) input.value = EValue(std::string_view(input.text).substr(4));
  return inputs;
}

void reinterpret_as_bfloat16(std::vector<Input>& inputs, std::span<const InputPort> ports) {
  std::vector<const InputPort*> takers;
  for (const InputPort& port : ports)
    if (port.role == InputRole::user) takers.push_back(&port);
  if (takers.size() != inputs.size())
    std::erase_if(takers, [](const InputPort* port) { return port->constant.has_value(); });
  for (std::size_t i = 0; i < std::min(inputs.size(), takers.size()); ++i) {
    Tensor& tensor = inputs[i].tensor;
    if (!inputs[i].value.is_tensor() || tensor.dtype != ScalarType::uint16 ||
        takers[i]->type.dtype != ScalarType::bfloat16)
      continue;
    tensor.dtype = ScalarType::bfloat16;
    inputs[i].value = EValue(tensor.view());
  }
}

std::string describe_inputs(const MethodInterface& interface) {
  std::string text;
  for (const InputPort& port : interface.inputs) {
    if (port.role != InputRole::user || port.constant) continue;
    text.append(text.empty() ? "'" : ", '")
        .append(port.name.view())
        .append("' ")
        .append(type_text(interface, port.type).view());
  }
  return text;
}

std::vector<Input> copy_inputs(const std::vector<Input>& inputs) {
  std::vector<Input> copies(inputs);
  for (Input& copy : copies) {
    if (copy.value.is_string()) copy.value = EValue(std::string_view(copy.text).substr(4));
    if (!copy.value.is_tensor()) continue;
    copy.tensor.storage = SharedBytes::copy_of(copy.tensor.storage.bytes());
    copy.value = EValue(copy.tensor.view());
  }
  return copies;
}

std::vector<EValue> values_of(const std::vector<Input>& inputs) {
  std::vector<EValue> values;
  for (const Input& input : inputs) values.push_back(input.value);
  return values;
}

}  // namespace tool
