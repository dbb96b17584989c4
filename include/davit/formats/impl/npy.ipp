// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "davit/core/contiguous.hpp"
#include "davit/core/tensor.hpp"
#include "davit/formats/file_kind.hpp"
#include "davit/formats/load_error.hpp"
#include "davit/formats/mapped_file.hpp"
#include "davit/formats/npy.hpp"

namespace davit::formats {

namespace detail {

struct NpyType {
  std::string_view descr;
  ScalarType type;
};
inline constexpr std::array<NpyType, 16> npy_types{{
    {"<f4", ScalarType::float32},
    {"<f8", ScalarType::float64},
    {"<f2", ScalarType::float16},
    {"<i8", ScalarType::int64},
    {"<i4", ScalarType::int32},
    {"<i2", ScalarType::int16},
    {"|i1", ScalarType::int8},
    {"|u1", ScalarType::uint8},
    {"|b1", ScalarType::bool_},
    {"<u2", ScalarType::uint16},
    {"<u4", ScalarType::uint32},
    {"<u8", ScalarType::uint64},
    {"<c8", ScalarType::complex64},
    {"<c16", ScalarType::complex128},
    {"|V2", ScalarType::bfloat16},
    {"<V2", ScalarType::bfloat16},
}};

/// Returns the text after `'key':` in a header dictionary, without leading blanks; empty if the key is missing.
[[nodiscard]] std::string_view npy_field(std::string_view header, std::string_view key) {
  std::string quoted(1, '\'');
  quoted.append(key).push_back('\'');
  std::size_t at = header.find(quoted);
  if (at == std::string_view::npos) return {};
  at = header.find(':', at + quoted.size());
  if (at == std::string_view::npos) return {};
  header = header.substr(at + 1);
  return header.substr(std::min(header.find_first_not_of(' '), header.size()));
}

/// Makes the error of a damaged .npy file.
[[nodiscard]] std::unexpected<Error> bad_npy(std::string_view label, std::string_view what) {
  return load_error(ErrorCode::corrupt_data, Name::own(label), Name::own(what), "save the array again with numpy.save");
}

/// Text of the header dictionary, and offset of the elements.
struct NpyHeader {
  std::string_view text;
  std::size_t end = 0;
};
[[nodiscard]] Result<NpyHeader> npy_header(std::string_view file, std::string_view label) {
  if (file.size() < 12 || file.substr(0, 6) != "\x93NUMPY") return bad_npy(label, "this is no .npy file");
  if (file[6] < 1 || file[6] > 3) return bad_npy(label, "its format version is not 1, 2 or 3");
  const bool long_header = file[6] != 1;
  const std::size_t begin = long_header ? 12 : 10;
  std::uint32_t length = 0;
  std::memcpy(&length, file.data() + 8, long_header ? 4 : 2);
  if (length > file.size() - begin) return bad_npy(label, "the header is longer than the file");
  return NpyHeader{file.substr(begin, length), begin + length};
}

[[nodiscard]] Result<ScalarType> npy_dtype(std::string_view header, std::string_view label) {
  std::string_view descr = npy_field(header, "descr");
  if (descr.size() < 2 || descr[0] != '\'') return bad_npy(label, "the header names no simple element type");
  descr = descr.substr(1, descr.find('\'', 1) - 1);
  for (const NpyType& row : npy_types)
    if (row.descr == descr) return row.type;
  return load_error(ErrorCode::invalid_dtype, Name::own(label),
                    concat("its element type ", in_quotes(descr), " is not supported"),
                    "save it as a little-endian array of numbers");
}

[[nodiscard]] Result<std::vector<std::int64_t>> npy_shape(std::string_view header, std::string_view label) {
  std::string_view shape = npy_field(header, "shape");
  const std::size_t close = shape.find(')');
  if (!shape.starts_with('(') || close == std::string_view::npos) return bad_npy(label, "the header has no 'shape'");
  shape = shape.substr(1, close - 1);
  std::vector<std::int64_t> sizes;
  std::int64_t count = 1;  // counts sizes of 0 as 1, so that strides do not overflow
  while (!shape.empty()) {
    if (shape.front() == ' ' || shape.front() == ',') {
      shape.remove_prefix(1);
      continue;
    }
    std::int64_t size = -1;
    const auto [end, error] = std::from_chars(shape.data(), shape.data() + shape.size(), size);
    if (error != std::errc{} || size < 0 || sizes.size() == max_rank)
      return bad_npy(label, concat("its shape is not a list of at most ", max_rank, " sizes"));
    if (__builtin_mul_overflow(count, std::max<std::int64_t>(size, 1), &count) || count > INT64_MAX / 64)
      return bad_npy(label, "its shape is too large");
    sizes.push_back(size);
    shape.remove_prefix(static_cast<std::size_t>(end - shape.data()));
  }
  return sizes;
}

/// Returns row-major strides, or column-major ones for Fortran order.
[[nodiscard]] std::vector<std::int64_t> npy_strides(std::span<const std::int64_t> sizes, bool fortran_order) {
  std::vector<std::int64_t> strides(sizes.size());
  contiguous_strides(sizes, strides);
  std::int64_t step = 1;
  for (std::size_t d = 0; fortran_order && d < sizes.size(); ++d) {
    strides[d] = step;
    step *= std::max<std::int64_t>(sizes[d], 1);
  }
  return strides;
}

}  // namespace detail

Result<Tensor> read_npy(const SharedBytes& bytes, std::string_view label) {
  const std::string_view file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const Result<detail::NpyHeader> header = detail::npy_header(file, label);
  if (!header) return error_of(header);
  const Result<ScalarType> dtype = detail::npy_dtype(header->text, label);
  if (!dtype) return error_of(dtype);
  Result<std::vector<std::int64_t>> sizes = detail::npy_shape(header->text, label);
  if (!sizes) return error_of(std::move(sizes));

  const bool fortran_order = detail::npy_field(header->text, "fortran_order").starts_with("True");
  Tensor tensor{.dtype = *dtype, .sizes = *std::move(sizes), .strides = {}, .storage = {}};
  tensor.strides = detail::npy_strides(tensor.sizes, fortran_order);
  const std::int64_t extent = storage_extent(tensor.sizes, tensor.strides, 0, size_of(tensor.dtype));
  if (extent < 0 || static_cast<std::size_t>(extent) > bytes.size() - header->end)
    return detail::bad_npy(label, "the file is shorter than its shape says");
  tensor.storage = bytes.part(header->end, static_cast<std::size_t>(extent));
  const auto is_bool = [](std::byte b) { return b <= std::byte{1}; };
  if (tensor.dtype == ScalarType::bool_ && !std::ranges::all_of(tensor.storage.bytes(), is_bool))
    return detail::bad_npy(label, "an element is neither true nor false");
  if (reinterpret_cast<std::uintptr_t>(tensor.storage.data()) % 16 != 0) {
    tensor.storage = SharedBytes::copy_of(tensor.storage.bytes());
    if (tensor.storage.size() != static_cast<std::size_t>(extent))
      return load_error(ErrorCode::out_of_memory, Name::own(label), "no memory for its elements", {});
  }
  return tensor;
}

Result<Tensor> read_npy(const std::string& path) {
  Result<SharedBytes> bytes = map_file(path);
  Result<Tensor> tensor = bytes ? read_npy(*bytes, path) : Result<Tensor>(error_of(std::move(bytes)));
  if (!tensor) return std::unexpected(with_file_kind_of(std::move(tensor.error()), path, FileUse::array));
  return tensor;
}

Result<void> write_npy(const std::string& path, const TensorView& tensor) {
  std::string_view descr;
  for (const detail::NpyType& row : detail::npy_types)
    if (row.type == tensor.dtype) descr = row.descr;
  const auto failed = [&](ErrorCode code, const Name& what) {
    return std::unexpected(Error{.code = code, .stage = Stage::save, .where = path, .what = what});
  };
  if (descr.empty()) return failed(ErrorCode::invalid_dtype, concat("numpy has no type for ", name_of(tensor.dtype)));
  std::string header = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t size : tensor.sizes()) header += std::to_string(size) + (tensor.rank == 1 ? "," : ", ");
  if (tensor.rank > 1) header.resize(header.size() - 2);
  header += "), }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  const Tensor dense = contiguous(tensor);
  if (dense.storage.size() != tensor.nbytes()) return failed(ErrorCode::out_of_memory, "no memory for its elements");
  const auto length = static_cast<std::uint16_t>(header.size());
  std::string text("\x93NUMPY\x01\x00", 8);
  text.append(reinterpret_cast<const char*>(&length), 2).append(header);
  text.append(reinterpret_cast<const char*>(dense.storage.data()), dense.storage.size());
  return write_file(path, text);
}

}  // namespace davit::formats
