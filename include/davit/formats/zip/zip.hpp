// SPDX-License-Identifier: MIT
#pragma once

#include <minizip/unzip.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
#include "davit/formats/zip/inflate.hpp"
#include "davit/formats/zip/zip_stream.hpp"

namespace davit::formats {

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
  [[nodiscard]] Result<ZipMember> read_entry(unzFile file, std::span<char> name_buffer) const;
  [[nodiscard]] bool has(std::uint64_t at, std::uint64_t count) const noexcept {
    return at <= bytes_.size() && count <= bytes_.size() - at;
  }
  [[nodiscard]] std::uint64_t number(std::uint64_t at, std::size_t width) const noexcept;
  /// The part of an archive that minizip may see.
  struct VisibleRange {
    std::uint64_t hidden = 0;  ///< number of first bytes that read as zeros
    std::uint64_t end = 0;     ///< end of the visible bytes
  };
  [[nodiscard]] VisibleRange visible_to_minizip() const noexcept;
  [[nodiscard]] bool is_large(std::uint64_t entry) const noexcept;
  [[nodiscard]] bool read_large(std::uint64_t entry, ZipMember& member) const noexcept;
  [[nodiscard]] Result<void> check_overlaps() const;
  [[nodiscard]] Result<void> sort_members();

  SharedBytes bytes_;
  std::string label_;
  ZipOptions options_;
  std::vector<ZipMember> members_;
  std::uint64_t inflate_budget_ = 0;
  static constexpr std::uint64_t zip64_marker = 0xffffffff;  ///< marks a number that is stored elsewhere in 64 bits
};

inline Result<ZipArchive> ZipArchive::open(SharedBytes bytes, std::string_view label, ZipOptions options) {
  ZipArchive archive(std::move(bytes), label, options);
  if (Result<void> read = archive.read_directory(); !read) return error_of(std::move(read));
  if (Result<void> apart = archive.check_overlaps(); !apart) return error_of(std::move(apart));
  if (Result<void> sorted = archive.sort_members(); !sorted) return error_of(std::move(sorted));
  return archive;
}

inline Result<void> ZipArchive::read_directory() {
  const VisibleRange seen = visible_to_minizip();
  detail::ZipStream stream{.bytes = bytes_.bytes().first(static_cast<std::size_t>(seen.end)), .hidden = seen.hidden};
  zlib_filefunc64_def functions = detail::zip_functions(stream);
  const std::unique_ptr<void, int (*)(unzFile)> file(unzOpen2_64("", &functions), &unzClose);
  unz_global_info64 info{};
  if (file == nullptr || unzGetGlobalInfo64(file.get(), &info) != UNZ_OK)
    return corrupt(label_, "it is not a ZIP archive, or its end is missing");
  if (info.number_entry == 0) return corrupt(label_, "the ZIP archive is empty");  // minizip 1.1 fails to open it
  stream.hidden = 0;
  std::vector<char> name(0x10000);
  for (int found = unzGoToFirstFile(file.get()); members_.size() < info.number_entry;
       found = unzGoToNextFile(file.get())) {
    if (found != UNZ_OK) return corrupt(label_, concat("entry ", members_.size(), " of the ZIP directory is damaged"));
    Result<ZipMember> member = read_entry(file.get(), name);
    if (!member) return error_of(std::move(member));
    members_.push_back(*std::move(member));
  }
  return {};
}

/// Hides bytes that minizip 1.1 misreads, because it takes the last records it finds for the archive's own.
///
/// ZIP64 records may belong to an archive in a member: if the archive has none itself, everything before its directory
/// is hidden. An end record may occur in the archive's comment, or lie before the longest possible comment, where
/// minizip does not look: the comment is cut off.
inline ZipArchive::VisibleRange ZipArchive::visible_to_minizip() const noexcept {
  constexpr std::uint64_t length = 22, locator = 20, longest_comment = 0xffff;
  const std::uint64_t size = bytes_.bytes().size();
  for (std::uint64_t comment = 0; comment <= longest_comment && comment + length <= size; ++comment) {
    const std::uint64_t end = size - comment - length;
    if (number(end, 4) != 0x06054b50 || number(end + 20, 2) != comment) continue;
    if (end >= locator && number(end - locator, 4) == 0x07064b50) return {0, end + length};
    const std::uint64_t directory = number(end + 16, 4);
    return {directory <= end ? directory : 0, end + length};
  }
  return {0, size};
}
/// Reads a number of `width` bytes. Precondition: they exist.
inline std::uint64_t ZipArchive::number(std::uint64_t at, std::size_t width) const noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = width; i-- > 0;)
    value = value << 8 | std::to_integer<std::uint64_t>(bytes_.bytes()[static_cast<std::size_t>(at) + i]);
  return value;
}
/// True if the directory entry has 64-bit numbers: torch writes them for members of 2 GB and more, and for members
/// after those.
inline bool ZipArchive::is_large(std::uint64_t entry) const noexcept {
  return has(entry, 46) && number(entry, 4) == 0x02014b50 &&
         (number(entry + 20, 4) == zip64_marker || number(entry + 24, 4) == zip64_marker ||
          number(entry + 42, 4) == zip64_marker);
}
/// Reads a directory entry with 64-bit numbers and its local header, which minizip 1.1 misreads. False if they are
/// missing or disagree.
inline bool ZipArchive::read_large(std::uint64_t entry, ZipMember& member) const noexcept {
  std::uint64_t stored = number(entry + 20, 4), size = number(entry + 24, 4), offset = number(entry + 42, 4);
  const std::uint64_t name = number(entry + 28, 2), extra = number(entry + 30, 2);
  if (!has(entry, 46 + name + extra)) return false;
  std::uint64_t at = entry + 46 + name;
  for (const std::uint64_t end = at + extra; end - at >= 4;) {
    const std::uint64_t kind = number(at, 2), length = number(at + 2, 2);
    at += 4;
    if (length > end - at) return false;
    std::uint64_t field = at;
    for (std::uint64_t* each : {&size, &stored, &offset}) {
      if (kind != 1 || *each != zip64_marker) continue;
      if (at + length - field < 8) return false;
      *each = number(field, 8);
      field += 8;
    }
    at += length;
  }
  if (!has(offset, 30) || number(offset, 4) != 0x04034b50 || number(offset + 8, 2) != number(entry + 10, 2) ||
      number(offset + 26, 2) != name)
    return false;
  const std::uint64_t before = 30 + name + number(offset + 28, 2);
  if (!has(offset, before) ||
      !std::ranges::equal(bytes_.bytes().subspan(static_cast<std::size_t>(offset + 30), static_cast<std::size_t>(name)),
                          bytes_.bytes().subspan(static_cast<std::size_t>(entry + 46), static_cast<std::size_t>(name))))
    return false;
  member.offset = offset + before;
  member.stored_size = stored;
  member.size = size;
  return true;
}

inline Result<ZipMember> ZipArchive::read_entry(unzFile file, std::span<char> name_buffer) const {
  unz_file_info64 info{};
  if (unzGetCurrentFileInfo64(file, &info, name_buffer.data(), name_buffer.size(), nullptr, 0, nullptr, 0) != UNZ_OK ||
      info.size_filename >= name_buffer.size()) {
    return corrupt(label_, concat("entry ", members_.size(), " of the ZIP directory is damaged"));
  }
  ZipMember member{.name = std::string(name_buffer.data(), info.size_filename),
                   .stored_size = info.compressed_size,
                   .size = info.uncompressed_size,
                   .crc = static_cast<std::uint32_t>(info.crc),
                   .deflated = info.compression_method == Z_DEFLATED};
  const auto fail = [&](const Name& what) {
    return corrupt(label_, concat("member ", in_quotes(member.name), " ", what));
  };
  if ((info.flag & 1) != 0) return fail("is encrypted");
  if (info.compression_method != 0 && !member.deflated)
    return fail(concat("uses compression method ", info.compression_method, "; only stored and deflated are read"));
  if (member.deflated && !options_.allow_deflate) return fail("is compressed, which torch.save never does");
  unz64_file_pos place{};
  const bool large = unzGetFilePos64(file, &place) == UNZ_OK && is_large(place.pos_in_zip_directory);
  int method = 0;
  if (large ? !read_large(place.pos_in_zip_directory, member)
            : unzOpenCurrentFile2(file, &method, nullptr, 1) != UNZ_OK)
    return fail("has a header that is missing or differs");
  if (!large) {
    member.offset = unzGetCurrentFileZStreamPos64(file);
    unzCloseCurrentFile(file);
  }
  if (!member.deflated && member.stored_size != member.size) return fail("has two different sizes");
  if (member.offset > bytes_.size() || member.stored_size > bytes_.size() - member.offset)
    return fail("reaches beyond the end of the archive");
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
