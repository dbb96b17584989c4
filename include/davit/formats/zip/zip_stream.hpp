// SPDX-License-Identifier: MIT
#pragma once

#include <minizip/ioapi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace davit::formats::detail {

/// Bytes that minizip reads as a file.
struct ZipStream {
  std::span<const std::byte> bytes;
  std::uint64_t at = 0;      ///< at most bytes.size()
  bool at_end = false;       ///< the last read wanted more bytes than are left
  std::uint64_t hidden = 0;  ///< number of first bytes that read as zeros

  std::uint64_t read(void* to, std::uint64_t size) noexcept {
    at_end = size > bytes.size() - at;
    size = std::min<std::uint64_t>(size, bytes.size() - at);
    if (size != 0) std::memcpy(to, bytes.data() + at, static_cast<std::size_t>(size));
    if (at < hidden) std::memset(to, 0, static_cast<std::size_t>(std::min(size, hidden - at)));
    at += size;
    return size;
  }
  /// Moves the position. False, without moving, if the target is outside the bytes.
  bool seek(std::uint64_t offset, int origin) noexcept {
    const std::uint64_t base = origin == ZLIB_FILEFUNC_SEEK_CUR   ? at
                               : origin == ZLIB_FILEFUNC_SEEK_END ? bytes.size()
                                                                  : 0;
    if (offset > bytes.size() - base) return false;
    at = base + offset;
    return true;
  }
};

/// minizip's file functions over `stream`, which must outlive the unzFile.
inline zlib_filefunc64_def zip_functions(ZipStream& stream) noexcept {
  zlib_filefunc64_def functions{};
  functions.opaque = &stream;
  functions.zopen64_file = [](voidpf opaque, const void*, int) { return opaque; };
  functions.zread_file = [](voidpf, voidpf file, void* to, uLong size) -> uLong {
    return static_cast<uLong>(static_cast<ZipStream*>(file)->read(to, size));
  };
  functions.ztell64_file = [](voidpf, voidpf file) -> ZPOS64_T { return static_cast<ZipStream*>(file)->at; };
  functions.zseek64_file = [](voidpf, voidpf file, ZPOS64_T offset, int origin) -> long {
    return static_cast<ZipStream*>(file)->seek(offset, origin) ? 0 : -1;
  };
  functions.zclose_file = [](voidpf, voidpf) { return 0; };
  // Without an error, minizip would read zeros after the end.
  functions.zerror_file = [](voidpf, voidpf file) { return static_cast<ZipStream*>(file)->at_end ? 1 : 0; };
  return functions;
}

}  // namespace davit::formats::detail
