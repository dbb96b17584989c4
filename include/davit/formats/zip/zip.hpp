// SPDX-License-Identifier: MIT
#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/limits.hpp"
#include "davit/core/shared_bytes.hpp"
#include "davit/formats/crc32.hpp"
#include "davit/formats/load_error.hpp"
#include "davit/formats/mapped_file.hpp"

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

/// A file in a ZIP archive.
struct ZipMember {
  std::string name;
  std::uint64_t offset = 0;       ///< offset of the data in the archive
  std::uint64_t stored_size = 0;  ///< bytes in the archive
  std::uint64_t size = 0;         ///< bytes after inflating
  std::uint32_t crc = 0;
  bool deflated = false;
};

struct ZipOptions {
  bool verify_checksums = true;  ///< compare each member that is read with its CRC-32
  bool allow_deflate = true;     ///< false for nested archives, so that compression ratios cannot multiply
  Limits limits{};
};

/// A ZIP archive in memory. Stored members are views of the archive's bytes, deflated ones are heap blocks.
///
/// All members of an archive together may inflate to 4 MiB plus 32 times the archive's size, at most to the limits.
class ZipArchive {
 public:
  /// Reads the directory. `label` is the archive's name in errors. O(members log members).
  /// Errors: corrupt_data if the bytes are no ZIP archive, a name occurs twice, or members overlap or lie outside the
  /// bytes.
  [[nodiscard]] static Result<ZipArchive> open(SharedBytes bytes, std::string_view label, ZipOptions options = {});

  /// Returns the members, sorted by name.
  [[nodiscard]] std::span<const ZipMember> members() const noexcept { return members_; }
  [[nodiscard]] std::string_view label() const noexcept { return label_; }
  [[nodiscard]] const Limits& limits() const noexcept { return options_.limits; }
  /// Returns the name of a member for errors.
  [[nodiscard]] Name place(std::string_view member) const { return concat(label_, "/", member); }

  /// Returns the member with this name, or nullptr. O(log members).
  [[nodiscard]] const ZipMember* find(std::string_view name) const noexcept {
    const auto at = std::lower_bound(members_.begin(), members_.end(), name,
                                     [](const ZipMember& m, std::string_view n) { return m.name < n; });
    return at != members_.end() && at->name == name ? &*at : nullptr;
  }

  /// Returns a member's content. Errors: corrupt_data if it does not inflate to its size, or its CRC-32 differs.
  [[nodiscard]] Result<SharedBytes> read(const ZipMember& member);
  /// Returns the content of the member with this name. Errors: also not_found.
  [[nodiscard]] Result<SharedBytes> read(std::string_view name);

 private:
  ZipArchive(SharedBytes bytes, std::string_view label, ZipOptions options)
      : bytes_(std::move(bytes)), label_(label), options_(options) {
    inflate_budget_ = std::min((std::uint64_t{4} << 20) + 32 * static_cast<std::uint64_t>(bytes_.size()),
                               options_.limits.max_inflated_bytes);
  }
  [[nodiscard]] Result<void> read_directory();
  /// Where the directory lies, and by how much the archive's own offsets are less than those in the bytes: a program
  /// that unpacks itself has the archive behind it.
  struct Directory {
    std::uint64_t begin = 0, end = 0;
    std::uint64_t entries = 0;
    std::uint64_t before = 0;
  };
  [[nodiscard]] Result<Directory> find_directory() const;
  [[nodiscard]] Result<ZipMember> read_entry(std::uint64_t entry, const Directory& directory) const;
  [[nodiscard]] bool has(std::uint64_t at, std::uint64_t count) const noexcept {
    return at <= bytes_.size() && count <= bytes_.size() - at;
  }
  [[nodiscard]] std::uint64_t number(std::uint64_t at, std::size_t width) const noexcept;
  [[nodiscard]] std::string_view text(std::uint64_t at, std::uint64_t size) const noexcept {
    return {reinterpret_cast<const char*>(bytes_.data()) + at, static_cast<std::size_t>(size)};
  }
  [[nodiscard]] std::uint64_t entry_size(std::uint64_t entry) const noexcept {
    return entry_bytes + number(entry + 28, 2) + number(entry + 30, 2) + number(entry + 32, 2);
  }
  [[nodiscard]] bool read_sizes(std::uint64_t entry, ZipMember& member) const noexcept;
  [[nodiscard]] Result<void> check_overlaps() const;
  [[nodiscard]] Result<void> sort_members();

  SharedBytes bytes_;
  std::string label_;
  ZipOptions options_;
  std::vector<ZipMember> members_;
  std::uint64_t inflate_budget_ = 0;
  static constexpr std::uint64_t zip64_marker = 0xffffffff;  ///< marks a number that is stored elsewhere in 64 bits
  static constexpr std::uint64_t entry_bytes = 46, header_bytes = 30;  ///< before the name
};

inline Result<ZipArchive> ZipArchive::open(SharedBytes bytes, std::string_view label, ZipOptions options) {
  ZipArchive archive(std::move(bytes), label, options);
  if (Result<void> read = archive.read_directory(); !read) return error_of(std::move(read));
  if (Result<void> apart = archive.check_overlaps(); !apart) return error_of(std::move(apart));
  if (Result<void> sorted = archive.sort_members(); !sorted) return error_of(std::move(sorted));
  return archive;
}

inline Result<void> ZipArchive::read_directory() {
  const Result<Directory> directory = find_directory();
  if (!directory) return error_of(directory);
  if (directory->entries == 0) return corrupt(label_, "the ZIP archive is empty");
  for (std::uint64_t at = directory->begin; members_.size() < directory->entries; at += entry_size(at)) {
    const std::uint64_t left = directory->end - at;
    if (left < entry_bytes || number(at, 4) != 0x02014b50 || left < entry_size(at))
      return corrupt(label_, concat("entry ", members_.size(), " of the ZIP directory is damaged"));
    Result<ZipMember> member = read_entry(at, *directory);
    if (!member) return error_of(std::move(member));
    members_.push_back(*std::move(member));
  }
  return {};
}

/// Finds the end record, which only a comment of the length that it states may follow, and the ZIP64 record where one
/// is named right before it: other such records belong to archives in members.
inline Result<ZipArchive::Directory> ZipArchive::find_directory() const {
  constexpr std::uint64_t length = 22, locator = 20, length_64 = 56, longest_comment = 0xffff;
  const auto none = [&] { return corrupt(label_, "it is not a ZIP archive, or its end is missing"); };
  const std::uint64_t size = bytes_.size();
  std::uint64_t comment = 0;
  for (;; ++comment) {
    if (comment > longest_comment || comment + length > size) return none();
    const std::uint64_t end = size - comment - length;
    if (number(end, 4) == 0x06054b50 && number(end + 20, 2) == comment) break;
  }
  std::uint64_t end = size - comment - length;
  // the numbers of this disk and of the directory's, entries on this disk and in all, bytes of the directory, its place
  std::uint64_t at = end + 4;
  std::size_t disk_width = 2, count_width = 2, width = 4;
  if (end >= locator && number(end - locator, 4) == 0x07064b50) {
    end = number(end - locator + 8, 8);
    if (!has(end, length_64) || number(end, 4) != 0x06064b50) return none();
    at = end + 16;
    disk_width = 4, count_width = 8, width = 8;
  }
  const auto next = [&](std::size_t bytes) { return at += bytes, number(at - bytes, bytes); };
  const std::uint64_t disk = next(disk_width), disk_of_directory = next(disk_width), on_disk = next(count_width);
  const std::uint64_t entries = next(count_width), bytes = next(width), begin = next(width);
  if (disk != 0 || disk_of_directory != 0 || on_disk != entries) return none();
  if (bytes > end || begin > end - bytes) return none();
  return Directory{.begin = end - bytes, .end = end, .entries = entries, .before = end - bytes - begin};
}
/// Reads a number of `width` bytes. Precondition: they exist.
inline std::uint64_t ZipArchive::number(std::uint64_t at, std::size_t width) const noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = width; i-- > 0;)
    value = value << 8 | std::to_integer<std::uint64_t>(bytes_.bytes()[static_cast<std::size_t>(at) + i]);
  return value;
}
/// Reads the sizes and the place of a directory entry: torch writes them in 64 bits, in the extra field, for members of
/// 2 GB and more, and for members after those. False if the field is damaged.
inline bool ZipArchive::read_sizes(std::uint64_t entry, ZipMember& member) const noexcept {
  member.stored_size = number(entry + 20, 4);
  member.size = number(entry + 24, 4);
  member.offset = number(entry + 42, 4);
  std::uint64_t at = entry + entry_bytes + number(entry + 28, 2);
  for (const std::uint64_t end = at + number(entry + 30, 2); end - at >= 4;) {
    const std::uint64_t kind = number(at, 2), length = number(at + 2, 2);
    at += 4;
    if (length > end - at) return false;
    std::uint64_t field = at;
    for (std::uint64_t* each : {&member.size, &member.stored_size, &member.offset}) {
      if (kind != 1 || *each != zip64_marker) continue;
      if (at + length - field < 8) return false;
      *each = number(field, 8);
      field += 8;
    }
    at += length;
  }
  return true;
}

/// Reads an entry of the directory, which exists, and compares it with the header in front of the member.
inline Result<ZipMember> ZipArchive::read_entry(std::uint64_t entry, const Directory& directory) const {
  const std::uint64_t method = number(entry + 10, 2);
  const std::string_view name = text(entry + entry_bytes, number(entry + 28, 2));
  ZipMember member{.name = std::string(name),
                   .crc = static_cast<std::uint32_t>(number(entry + 16, 4)),
                   .deflated = method == Z_DEFLATED};
  const auto fail = [&](const Name& what) {
    return corrupt(label_, concat("member ", in_quotes(member.name), " ", what));
  };
  if ((number(entry + 8, 2) & 1) != 0) return fail("is encrypted");
  if (method != 0 && !member.deflated)
    return fail(concat("uses compression method ", method, "; only stored and deflated are read"));
  if (member.deflated && !options_.allow_deflate) return fail("is compressed, which torch.save never does");
  const bool good = read_sizes(entry, member);
  const std::uint64_t header = member.offset + directory.before;
  if (!good || header < member.offset || !has(header, header_bytes + name.size()) || number(header, 4) != 0x04034b50 ||
      number(header + 8, 2) != method || number(header + 26, 2) != name.size() ||
      text(header + header_bytes, name.size()) != name)
    return fail("has a header that is missing or differs");
  if (!member.deflated && member.stored_size != member.size) return fail("has two different sizes");
  member.offset = header + header_bytes + name.size() + number(header + 28, 2);
  if (!has(member.offset, member.stored_size)) return fail("reaches beyond the end of the archive");
  const auto same = [&](std::uint64_t at, std::uint64_t value) {
    return number(at, 4) == value || number(at, 4) == zip64_marker;
  };
  const bool behind = (number(header + 6, 2) & 8) != 0;  // a descriptor behind the member has these numbers
  if (!behind && (number(header + 14, 4) != member.crc || !same(header + 18, member.stored_size) ||
                  !same(header + 22, member.size)))
    return fail("has a header that is missing or differs");
  return member;
}

/// Rejects overlapping members: a small file could make a reader process many large ones.
inline Result<void> ZipArchive::check_overlaps() const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> stretches;
  stretches.reserve(members_.size());
  for (const ZipMember& member : members_)
    if (member.stored_size != 0) stretches.push_back({member.offset, member.offset + member.stored_size});
  std::sort(stretches.begin(), stretches.end());
  for (std::size_t i = 1; i < stretches.size(); ++i)
    if (stretches[i].first < stretches[i - 1].second) return corrupt(label_, "members of the ZIP archive overlap");
  return {};
}

inline Result<void> ZipArchive::sort_members() {
  std::sort(members_.begin(), members_.end(), [](const ZipMember& a, const ZipMember& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(members_.begin(), members_.end(),
                                        [](const ZipMember& a, const ZipMember& b) { return a.name == b.name; });
  if (twice != members_.end()) return corrupt(label_, concat("member ", in_quotes(twice->name), " is there twice"));
  return {};
}

inline Result<SharedBytes> ZipArchive::read(const ZipMember& member) {
  SharedBytes content =
      bytes_.part(static_cast<std::size_t>(member.offset), static_cast<std::size_t>(member.stored_size));
  if (member.deflated) {
    if (member.size > inflate_budget_) return corrupt(place(member.name), "it inflates to an implausible size");
    inflate_budget_ -= member.size;
    Result<SharedBytes> inflated = inflate_bytes(content.bytes(), member.size, place(member.name));
    if (!inflated) return inflated;
    content = *std::move(inflated);
  }
  std::uint32_t crc = member.crc;
  if (options_.verify_checksums) {
    crc = 0;
    constexpr std::size_t step = std::size_t{1} << 20;  // part of a mapped file in memory at a time
    for (std::size_t at = 0; at < content.size(); at += step) {
      const SharedBytes part = content.part(at, std::min(step, content.size() - at));
      crc = crc32_of(part.bytes(), crc);
      if (content.size() > step) forget(part);
    }
  }
  if (crc != member.crc) return corrupt(place(member.name), "its content does not match its CRC-32");
  return content;
}

inline Result<SharedBytes> ZipArchive::read(std::string_view name) {
  if (const ZipMember* member = find(name)) return read(*member);
  return load_error(ErrorCode::not_found, place(name), "the archive has no such member",
                    "the file is incomplete: export the program again");
}

}  // namespace davit::formats
