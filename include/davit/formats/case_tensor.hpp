// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/tensor.hpp"
#include "davit/formats/case_files.hpp"
#include "davit/formats/json/json.hpp"
#include "davit/formats/load_error.hpp"
#include "davit/formats/npy.hpp"

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

}  // namespace davit::formats::detail
