// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/copy_tensor.hpp"
#include "davit/core/tensor.hpp"
#include "davit/formats/load_error.hpp"
#include "davit/formats/mapped_file.hpp"

namespace davit::formats {

namespace detail {

struct NpyType {
  std::string_view descr;
  ScalarType type;
};
inline constexpr std::array<NpyType, 15> npy_types{{
    {"<f4", ScalarType::float32},   {"<f8", ScalarType::float64},   {"<f2", ScalarType::float16},
    {"<i8", ScalarType::int64},     {"<i4", ScalarType::int32},     {"<i2", ScalarType::int16},
    {"|i1", ScalarType::int8},      {"|u1", ScalarType::uint8},     {"|b1", ScalarType::bool_},
    {"<u2", ScalarType::uint16},    {"<u4", ScalarType::uint32},    {"<u8", ScalarType::uint64},
    {"<c8", ScalarType::complex64}, {"<c16", ScalarType::complex128}, {"<u2", ScalarType::bfloat16},
}};

/// The text after `'key':` in a header dictionary, without leading blanks; empty if the key is not there.
[[nodiscard]] inline std::string_view npy_field(std::string_view header, std::string_view key) {
  std::string quoted(1, '\'');
  quoted.append(key).push_back('\'');
  std::size_t at = header.find(quoted);
  if (at == std::string_view::npos) return {};
  at = header.find(':', at + quoted.size());
  if (at == std::string_view::npos) return {};
  header = header.substr(at + 1);
  return header.substr(std::min(header.find_first_not_of(' '), header.size()));
}

}  // namespace detail

/// Reads an array of numpy's format (versions 1 to 3, little endian): a view of `bytes`, no copy. Errors: corrupt_data,
/// invalid_dtype for an element type that no tensor has. `label` names the file in errors.
[[nodiscard]] inline Result<Tensor> read_npy(const SharedBytes& bytes, std::string_view label) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto bad = [&](std::string_view what) { return corrupt(Name(label), Name(what)); };
  if (text.size() < 12 || text.substr(0, 6) != "\x93NUMPY") return bad("this is no .npy file");
  const bool long_header = text[6] != 1;
  std::uint32_t length = 0;
  std::memcpy(&length, text.data() + 8, long_header ? 4 : 2);
  const std::size_t begin = long_header ? 12 : 10;
  if (length > text.size() - begin) return bad("the header is longer than the file");
  const std::string_view header = text.substr(begin, length);

  Tensor tensor;
  std::string_view descr = detail::npy_field(header, "descr");
  if (descr.size() < 2 || descr[0] != '\'') return bad("the header has no 'descr'");
  descr = descr.substr(1, descr.find('\'', 1) - 1);
  for (const detail::NpyType& row : detail::npy_types)
    if (row.descr == descr && tensor.dtype == ScalarType::undefined) tensor.dtype = row.type;
  if (tensor.dtype == ScalarType::undefined)
    return load_error(ErrorCode::invalid_dtype, Name(label), concat("its element type '", descr, "' is not supported"),
                      "save it as a little-endian array of numbers");
  std::string_view shape = detail::npy_field(header, "shape");
  if (shape.empty() || shape[0] != '(' || shape.find(')') == std::string_view::npos) return bad("the header has no 'shape'");
  shape = shape.substr(1, shape.find(')') - 1);
  while (!shape.empty()) {
    if (shape.front() == ' ' || shape.front() == ',') {
      shape.remove_prefix(1);
      continue;
    }
    std::int64_t size = -1;
    const auto [end, error] = std::from_chars(shape.data(), shape.data() + shape.size(), size);
    if (error != std::errc{} || size < 0 || tensor.sizes.size() == max_rank) return bad("its shape is not a list of sizes");
    tensor.sizes.push_back(size);
    shape.remove_prefix(static_cast<std::size_t>(end - shape.data()));
  }
  tensor.strides.resize(tensor.sizes.size());
  contiguous_strides(tensor.sizes, tensor.strides);
  if (detail::npy_field(header, "fortran_order").starts_with("True")) {
    std::int64_t step = 1;
    for (std::size_t d = 0; d < tensor.sizes.size(); ++d) {
      tensor.strides[d] = step;
      if (tensor.sizes[d] > 1 && __builtin_mul_overflow(step, tensor.sizes[d], &step)) return bad("its shape is too large");
    }
  }
  const std::int64_t extent = storage_extent(tensor.sizes, tensor.strides, 0, size_of(tensor.dtype));
  const std::size_t data = begin + length;
  if (extent < 0 || static_cast<std::size_t>(extent) > bytes.size() - data) return bad("the file is shorter than its shape says");
  tensor.storage = bytes.part(data, static_cast<std::size_t>(extent));
  if (reinterpret_cast<std::uintptr_t>(tensor.storage.data()) % 16 != 0) {  // elements must be aligned
    const auto size = tensor.storage.size();
    tensor.storage = SharedBytes::copy_of(tensor.storage.bytes());
    if (tensor.storage.size() != size) return load_error(ErrorCode::out_of_memory, Name(label), "no memory for its elements", {});
  }
  return tensor;
}

/// Reads a .npy file. Errors as above, and io_error.
[[nodiscard]] inline Result<Tensor> read_npy(const std::filesystem::path& path) {
  Result<SharedBytes> bytes = map_file(path);
  if (!bytes) return std::unexpected(std::move(bytes.error()));
  return read_npy(*bytes, path.string());
}

/// Writes a tensor as a .npy file, version 1.0, C order; bfloat16 as its bits in uint16. Errors: io_error, invalid_dtype.
[[nodiscard]] inline Result<void> write_npy(const std::filesystem::path& path, const TensorView& tensor) {
  std::string_view descr;
  for (const detail::NpyType& row : detail::npy_types)
    if (row.type == tensor.dtype) descr = row.descr;
  const auto failed = [&](ErrorCode code, Name what) {
    return std::unexpected(Error{.code = code, .stage = Stage::save, .where = Name(path.string()), .what = std::move(what)});
  };
  if (descr.empty()) return failed(ErrorCode::invalid_dtype, concat("numpy has no type for ", name_of(tensor.dtype)));
  std::string header = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t size : tensor.sizes()) header += std::to_string(size) + (tensor.rank == 1 ? "," : ", ");
  if (tensor.rank > 1) header.resize(header.size() - 2);
  header += "), }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  Tensor dense = Tensor::zeros(tensor.dtype, tensor.sizes());
  copy_tensor(tensor, dense.view());
  const auto length = static_cast<std::uint16_t>(header.size());
  std::ofstream out(path, std::ios::binary);
  out.write("\x93NUMPY\x01\x00", 8);
  out.write(reinterpret_cast<const char*>(&length), 2);
  out << header;
  out.write(reinterpret_cast<const char*>(dense.storage.data()), static_cast<std::streamsize>(dense.storage.size()));
  if (!out.flush()) return failed(ErrorCode::io_error, "it cannot be written");
  return {};
}

}  // namespace davit::formats
