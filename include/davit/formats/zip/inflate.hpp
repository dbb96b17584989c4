// SPDX-License-Identifier: MIT
#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "davit/core/shared_bytes.hpp"
#include "davit/formats/load_error.hpp"

namespace davit::formats {

/// Inflates a raw deflate stream to exactly `size` bytes.
///
/// Allocates `size` bytes; the caller has checked that this is plausible. O(size). Errors: corrupt_data, out_of_memory.
[[nodiscard]] inline Result<SharedBytes> inflate_bytes(std::span<const std::byte> deflated, std::uint64_t size,
                                                       const Name& where) {
  constexpr std::uint64_t largest_ratio = 1032;  // of the deflate format
  if (size / largest_ratio > deflated.size()) return corrupt(where, "it cannot inflate to the size it claims");
  SharedBytes content =
      size == static_cast<std::size_t>(size) ? SharedBytes::allocate(static_cast<std::size_t>(size)) : SharedBytes();
  if (content.size() != size) return load_error(ErrorCode::out_of_memory, where, "no memory to inflate it", {});

  z_stream stream{};
  if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return load_error(ErrorCode::out_of_memory, where, "no memory to inflate it", {});
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, &::inflateEnd);
  auto* next_in = reinterpret_cast<const Bytef*>(deflated.data());
  std::size_t left_in = deflated.size();
  std::uint64_t left_out = size;
  stream.next_out = reinterpret_cast<Bytef*>(content.writable());
  int state = Z_OK;
  while (state == Z_OK) {
    const auto part = [](std::uint64_t left) {
      return static_cast<uInt>(std::min<std::uint64_t>(left, std::numeric_limits<uInt>::max()));
    };
    stream.next_in = const_cast<Bytef*>(next_in);
    stream.avail_in = part(left_in);
    stream.avail_out = part(left_out);
    const uInt given_in = stream.avail_in;
    const uInt given_out = stream.avail_out;
    state = ::inflate(&stream, Z_NO_FLUSH);
    next_in += given_in - stream.avail_in;
    left_in -= given_in - stream.avail_in;
    left_out -= given_out - stream.avail_out;
  }
  if (state != Z_STREAM_END || left_out != 0) return corrupt(where, "it does not inflate to the size it claims");
  return content;
}

}  // namespace davit::formats
