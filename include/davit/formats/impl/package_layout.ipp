// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "davit/core/content_hash.hpp"
#include "davit/core/segments.hpp"
#include "davit/formats/package_layout.hpp"

namespace davit::formats {

Error package_error(Name where, Name what) {
  return Error{.code = ErrorCode::corrupt_data,
               .stage = Stage::load,
               .where = std::move(where),
               .what = std::move(what),
               .fix = "lower and save the program again"};
}

namespace detail {
std::uint64_t package_hash(std::span<const PackageSection> sections, bool has_debug_map) noexcept {
  return content_hash(std::as_bytes(sections.first(sections.size() - (has_debug_map ? 1 : 0))), package_major);
}

}  // namespace detail

PackageParts package_parts(std::span<const std::byte> table, std::span<const std::span<const std::byte>> segments,
                           std::span<const std::byte> debug_map) {
  static constexpr std::array<std::byte, package_alignment> zeros{};
  std::vector<std::span<const std::byte>> parts{table};
  parts.insert(parts.end(), segments.begin(), segments.end());
  if (!debug_map.empty()) parts.push_back(debug_map);
  const auto aligned = [](std::size_t size) {
    return (size + package_alignment - 1) / package_alignment * package_alignment;
  };
  std::vector<PackageSection> sections;
  const std::size_t rows =
      segments.size() + 2;  // reserves the debug map's row even without one, so that stripping moves nothing
  PackageParts out;
  std::size_t at = aligned(sizeof(PackageHeader) + rows * sizeof(PackageSection));
  out.head.resize(at);
  out.parts.emplace_back();  // placeholder for the head, which is filled last
  for (const std::span<const std::byte> part : parts) {
    sections.push_back({at, part.size(), content_hash(part)});
    out.parts.push_back(part);
    out.parts.push_back(std::span(zeros).first(aligned(part.size()) - part.size()));
    at += aligned(part.size());
  }
  PackageHeader header{.magic = {},
                       .major = package_major,
                       .minor = package_minor,
                       .hash = detail::package_hash(sections, !debug_map.empty()),
                       .sections = static_cast<std::uint32_t>(parts.size()),
                       .has_debug_map = debug_map.empty() ? 0u : 1u};
  std::memcpy(header.magic, package_magic, sizeof package_magic);
  std::memcpy(out.head.data(), &header, sizeof header);
  std::memcpy(out.head.data() + sizeof header, sections.data(), sections.size() * sizeof(PackageSection));
  out.parts.front() = out.head;
  return out;
}

std::vector<std::byte> write_package(std::span<const std::byte> table,
                                     std::span<const std::span<const std::byte>> segments,
                                     std::span<const std::byte> debug_map) {
  const PackageParts package = package_parts(table, segments, debug_map);
  std::size_t size = 0;
  for (const std::span<const std::byte> part : package.parts) size += part.size();
  std::vector<std::byte> out;
  out.reserve(size);
  for (const std::span<const std::byte> part : package.parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

Result<Package> read_package(SharedBytes bytes) {
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % package_alignment != 0) {
    const std::size_t size = bytes.size();
    bytes = SharedBytes::copy_of(bytes.bytes());
    if (bytes.size() != size)
      return std::unexpected(Error{.code = ErrorCode::out_of_memory,
                                   .stage = Stage::load,
                                   .where = "package",
                                   .what = "no memory for a copy of its bytes"});
  }
  PackageHeader header{};
  if (bytes.size() < sizeof header)
    return std::unexpected(package_error("byte 0", "the file is shorter than a package's header"));
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, package_magic, sizeof package_magic) != 0)
    return std::unexpected(package_error("byte 0", "these bytes are no davit package"));
  constexpr std::uint32_t lowest_byte = 0xff;
  if (header.major > lowest_byte && std::byteswap(header.major) <= lowest_byte)
    return std::unexpected(Error{.code = ErrorCode::version_mismatch,
                                 .stage = Stage::load,
                                 .where = "byte 8",
                                 .what = "the package's numbers are big-endian, this davit reads little-endian ones",
                                 .fix = "lower the program again on a little-endian machine"});
  if (header.major != package_major)
    return std::unexpected(Error{.code = ErrorCode::version_mismatch,
                                 .stage = Stage::load,
                                 .where = "byte 8",
                                 .what = concat("the package has format version ", header.major, ".", header.minor,
                                                ", this davit reads ", package_major, ".x"),
                                 .fix = "lower the program again with this version"});
  if (header.sections == 0 || header.has_debug_map > 1 || header.sections < 1 + header.has_debug_map ||
      header.sections > (bytes.size() - sizeof header) / sizeof(PackageSection))
    return std::unexpected(package_error("byte 24", "the section table does not fit the file"));
  std::vector<PackageSection> sections(header.sections);
  std::memcpy(sections.data(), bytes.data() + sizeof header, sections.size() * sizeof(PackageSection));
  if (detail::package_hash(sections, header.has_debug_map != 0) != header.hash)
    return std::unexpected(package_error("section table", "its hash is not that of the header"));
  std::vector<SharedBytes> parts;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const PackageSection& s = sections[i];
    if (s.offset % package_alignment != 0 || s.offset > bytes.size() || s.size > bytes.size() - s.offset)
      return std::unexpected(package_error(concat("section ", i), "it reaches outside the file"));
    SharedBytes part = bytes.part(static_cast<std::size_t>(s.offset), static_cast<std::size_t>(s.size));
    if (content_hash(part.bytes()) != s.hash)
      return std::unexpected(package_error(concat("section ", i), "its bytes are damaged"));
    parts.push_back(std::move(part));
  }
  Package package{.table = parts.front(), .hash = header.hash};
  if (header.has_debug_map != 0) {
    package.debug_map = std::move(parts.back());
    parts.pop_back();
  }
  parts.erase(parts.begin());
  package.segments = SegmentReader(std::move(parts));
  return package;
}

Result<std::vector<std::byte>> strip_debug_map(const SharedBytes& bytes) {
  const Result<Package> package = read_package(bytes);
  if (!package) return error_of(package);
  std::vector<std::span<const std::byte>> segments;
  for (std::uint32_t i = 0; i < package->segments.size(); ++i) segments.push_back(package->segments.find(i)->bytes());
  return write_package(package->table.bytes(), segments, {});
}

}  // namespace davit::formats
