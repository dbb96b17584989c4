// SPDX-License-Identifier: MIT
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "davit/core/shared_bytes.hpp"

/// A copy of a text as bytes; its data is 64-byte aligned.
[[nodiscard]] inline davit::SharedBytes bytes_of(std::string_view text) {
  return davit::SharedBytes::copy_of(std::as_bytes(std::span(text)));
}
[[nodiscard]] inline std::string text_of(const davit::SharedBytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Writes ZIP archives, valid and invalid ones.
class ZipFile {
 public:
  struct Member {
    std::string name;
    std::string data;  ///< as stored
    std::uint32_t crc = 0;
    std::uint32_t size = 0;  ///< after inflating
    std::uint16_t method = 0;
    std::uint16_t flags = 0;
  };

  ZipFile& add(std::string_view name, std::string_view content) {
    members.push_back({.name = std::string(name),
                       .data = std::string(content),
                       .crc = crc_of(content),
                       .size = static_cast<std::uint32_t>(content.size())});
    return *this;
  }
  ZipFile& add_deflated(std::string_view name, std::string_view content) {
    add(name, content);
    members.back().data = deflated(content);
    members.back().method = Z_DEFLATED;
    return *this;
  }

  [[nodiscard]] std::string text() const {
    std::string file;
    std::string directory;
    for (const Member& m : members) {
      const auto offset = static_cast<std::uint32_t>(file.size());
      file += "PK\3\4" + number(20, 2) + header(m) + number(0, 2) + m.name + m.data;
      directory += "PK\1\2" + number(20, 2) + number(20, 2) + header(m) + number(0, 2) + number(0, 2) + number(0, 2) +
                   number(0, 2) + number(0, 4) + number(offset, 4) + m.name;
    }
    const auto begin = static_cast<std::uint32_t>(file.size());
    const auto count = static_cast<std::uint32_t>(members.size());
    return file + directory + "PK\5\6" + number(0, 4) + number(count, 2) + number(count, 2) +
           number(static_cast<std::uint32_t>(directory.size()), 4) + number(begin, 4) + number(0, 2);
  }
  [[nodiscard]] davit::SharedBytes bytes() const { return bytes_of(text()); }

  [[nodiscard]] static std::string number(std::uint64_t value, int width) {
    std::string text;
    for (int i = 0; i < width; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
  }
  [[nodiscard]] static std::uint32_t crc_of(std::string_view content) {
    return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
  }
  [[nodiscard]] static std::string deflated(std::string_view content) {
    z_stream stream{};
    deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&stream, content.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
    stream.avail_in = static_cast<uInt>(content.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
  }

  std::vector<Member> members;

 private:
  /// The header's fields from the flags to the length of the name.
  [[nodiscard]] static std::string header(const Member& m) {
    return number(m.flags, 2) + number(m.method, 2) + number(0, 4) + number(m.crc, 4) + number(m.data.size(), 4) +
           number(m.size, 4) + number(m.name.size(), 2);
  }
};
