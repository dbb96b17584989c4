// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/static_constant.hpp"
#include "davit/core/copy_tensor.hpp"
#include "davit/core/tensor.hpp"
#include "davit/formats/embed/text.hpp"

namespace davit::formats {

/// A constant as the header's text, and as its readers see it: `data` points into the EmbedConstants.
struct EmbeddedConstant {
  std::string text;  ///< the initializer of a ConstantData
  ConstantData data{};
};

/// The constants of an embedded program. Constants that backends may read while planning (biases, scales) are arrays in
/// the header; the others are a blob, which costs the compiler next to nothing. Equal constants are kept once.
class EmbedConstants {
 public:
  /// Constants of rank 0 and 1 of up to this many bytes can be read in constant evaluation.
  static constexpr std::size_t small_bytes = 4096;
  static constexpr std::size_t alignment = 16;

  explicit EmbedConstants(std::string space) : space_(std::move(space)) {}

  /// Adds a tensor's elements; `name`: of the array, if it becomes one.
  [[nodiscard]] EmbeddedConstant add(std::string_view name, const Tensor& tensor, WeightLayout layout) {
    std::vector<std::byte> bytes = contiguous(tensor);
    if (layout == WeightLayout::output_inner) bytes = output_inner(bytes, tensor);
    const bool in_array =
        tensor.sizes.size() < 2 && bytes.size() <= small_bytes && !embed_text::element_type(tensor.dtype).empty();
    return in_array ? array(name, tensor.dtype, bytes) : blob(tensor.dtype, bytes);
  }
  /// Adds a state's initial value, always as an array; without text if all elements are zero.
  [[nodiscard]] EmbeddedConstant add_state(std::string_view name, const Tensor& tensor) {
    const std::vector<std::byte> bytes = contiguous(tensor);
    for (const std::byte b : bytes)
      if (b != std::byte{}) return array(name, tensor.dtype, bytes);
    return {};
  }
  /// Adds an array with the sum of each output channel of an int8 tensor; without text for other tensors.
  [[nodiscard]] EmbeddedConstant add_sums(std::string_view name, const Tensor& tensor) {
    if (tensor.dtype != ScalarType::int8 || tensor.sizes.size() < 2 || tensor.sizes[0] == 0) return {};
    const std::vector<std::byte> bytes = contiguous(tensor);
    const auto channels = static_cast<std::size_t>(tensor.sizes[0]);
    std::vector<std::byte> sums(channels * 4);
    for (std::size_t c = 0; c < channels; ++c) {
      std::int32_t sum = 0;
      for (std::size_t i = 0; i < bytes.size() / channels; ++i)
        sum += static_cast<std::int8_t>(bytes[c * (bytes.size() / channels) + i]);
      std::memcpy(sums.data() + c * 4, &sum, 4);
    }
    const Array& kept = kept_array(std::string(name) + "_sums", ScalarType::int32, sums);
    return {kept.second + ".data()", data_of(kept)};
  }

  [[nodiscard]] const std::string& arrays() const noexcept { return arrays_; }
  [[nodiscard]] const std::vector<std::byte>& blob() const noexcept { return blob_; }

  /// Returns the elements in row-major order.
  [[nodiscard]] static std::vector<std::byte> contiguous(const Tensor& tensor) {
    Tensor copy = Tensor::zeros(tensor.dtype, tensor.sizes);
    copy_tensor(tensor.view(), copy.view());
    std::vector<std::byte> bytes(copy.view().nbytes());
    if (!bytes.empty()) std::memcpy(bytes.data(), copy.view().data, bytes.size());
    return bytes;
  }
  /// Moves dimension 0 of row-major bytes to the innermost position, padded with zeros to a multiple of 8.
  [[nodiscard]] static std::vector<std::byte> output_inner(const std::vector<std::byte>& bytes, const Tensor& tensor) {
    const std::size_t width = size_of(tensor.dtype);
    const auto outputs = static_cast<std::size_t>(tensor.sizes[0]);
    if (outputs == 0 || bytes.empty()) return bytes;
    const std::size_t taps = bytes.size() / width / outputs;
    const std::size_t padded = (outputs + 7) / 8 * 8;
    std::vector<std::byte> out(taps * padded * width, std::byte{0});
    for (std::size_t o = 0; o < outputs; ++o)
      for (std::size_t t = 0; t < taps; ++t)
        std::memcpy(out.data() + (t * padded + o) * width, bytes.data() + (o * taps + t) * width, width);
    return out;
  }

 private:
  /// An array's type and text, and its name.
  using Array = std::map<std::pair<ScalarType, std::string>, std::string>::value_type;

  [[nodiscard]] const Array& kept_array(std::string_view name, ScalarType dtype, const std::vector<std::byte>& bytes) {
    std::string key(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (const auto at = known_arrays_.find({dtype, key}); at != known_arrays_.end()) return *at;
    std::string own(name);
    for (int i = 2; !names_.insert(own).second; ++i)
      own = std::string(name) + "_" + std::to_string(i);  // distinct names of the model that became equal
    embed_text::append_array(arrays_, own, dtype, bytes);
    return *known_arrays_.emplace(std::pair(dtype, std::move(key)), space_ + "::" + own).first;
  }
  [[nodiscard]] static ConstantData::Pointer pointer_to(ScalarType dtype, const void* elements) noexcept {
    switch (dtype) {
      case ScalarType::float64: return static_cast<const double*>(elements);
      case ScalarType::int8: return static_cast<const std::int8_t*>(elements);
      case ScalarType::uint8: return static_cast<const std::uint8_t*>(elements);
      case ScalarType::int16: return static_cast<const std::int16_t*>(elements);
      case ScalarType::int32: return static_cast<const std::int32_t*>(elements);
      case ScalarType::int64: return static_cast<const std::int64_t*>(elements);
      case ScalarType::bool_: return static_cast<const bool*>(elements);
      default: return static_cast<const float*>(elements);
    }
  }
  [[nodiscard]] static ConstantData data_of(const Array& kept) noexcept {
    const auto& [dtype, bytes] = kept.first;
    ConstantData data;
    data.place = ConstantData::Place::array;
    data.dtype = dtype;
    data.count = static_cast<std::uint32_t>(bytes.size() / size_of(dtype));
    data.pointer = pointer_to(dtype, bytes.data());
    return data;
  }
  [[nodiscard]] EmbeddedConstant array(std::string_view name, ScalarType dtype, const std::vector<std::byte>& bytes) {
    const Array& kept = kept_array(name, dtype, bytes);
    return {"davit::ConstantData::in_array(" + kept.second + ")", data_of(kept)};
  }
  [[nodiscard]] EmbeddedConstant blob(ScalarType dtype, const std::vector<std::byte>& bytes) {
    const std::string key(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto [at, is_new] = known_blobs_.try_emplace(key, blob_.size());
    if (is_new) {
      blob_.insert(blob_.end(), bytes.begin(), bytes.end());
      while (blob_.size() % alignment != 0 || blob_.empty())
        blob_.push_back(std::byte{0});  // gives a constant without elements an address too
    }
    const std::size_t count = bytes.size() / size_of(dtype);
    return {"davit::ConstantData::in_blob(" + embed_text::scalar_type(dtype) + ", " + std::to_string(count) + ", " +
                std::to_string(at->second) + ")",
            ConstantData::in_blob(dtype, static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(at->second))};
  }

  std::string space_;
  std::string arrays_;
  std::vector<std::byte> blob_;
  std::set<std::string, std::less<>> names_;  ///< names of arrays
  std::map<std::pair<ScalarType, std::string>, std::string> known_arrays_;
  std::map<std::string, std::size_t> known_blobs_;
};

}  // namespace davit::formats
