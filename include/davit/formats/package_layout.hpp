// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/core/segments.hpp"

namespace davit::formats {

/// First bytes of a package. Readers accept only their own major version; minor versions only add data that older
/// readers may ignore. `hash` covers the section table (without the debug map's row), which holds every section's hash.
struct PackageHeader {
  char magic[8];
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint64_t hash = 0;
  std::uint32_t sections =
      0;  ///< number of rows after the header: the program table, the segments, the debug map if any
  std::uint32_t has_debug_map = 0;
};
struct PackageSection {
  std::uint64_t offset = 0;  ///< from the start of the file, a multiple of 64
  std::uint64_t size = 0;
  std::uint64_t hash = 0;
};

inline constexpr char package_magic[8] = {'D', 'A', 'V', 'I', 'T', 'P', 'K', '\n'};
inline constexpr std::uint32_t package_major = 5;
inline constexpr std::uint32_t package_minor = 0;
inline constexpr std::size_t package_alignment = 64;

/// The parts of a package. Each shares the bytes it was read from.
struct Package {
  SharedBytes table;
  SegmentReader segments{};
  SharedBytes debug_map{};  ///< empty if stripped
  std::uint64_t hash = 0;
};

/// Makes the error of a package that is damaged at `where`.
[[nodiscard]] Error package_error(Name where, Name what);

namespace detail {
[[nodiscard]] std::uint64_t package_hash(std::span<const PackageSection> sections, bool has_debug_map) noexcept;
}  // namespace detail

/// A package as consecutive parts. They view the data they were made from, and `head`.
struct PackageParts {
  std::vector<std::byte> head{};
  std::vector<std::span<const std::byte>> parts{};
};
/// Lays out a package: header, section table, program table, segments, debug map (empty: none). O(size).
[[nodiscard]] PackageParts package_parts(std::span<const std::byte> table,
                                         std::span<const std::span<const std::byte>> segments,
                                         std::span<const std::byte> debug_map);
/// Copies the parts of a package into one vector.
[[nodiscard]] std::vector<std::byte> write_package(std::span<const std::byte> table,
                                                   std::span<const std::span<const std::byte>> segments,
                                                   std::span<const std::byte> debug_map);

/// Splits a package into parts and checks its layout and hashes. Parts view `bytes` if these are aligned to 64 (a
/// mapped file is), else a copy. Errors: corrupt_data with the place; version_mismatch; out_of_memory. O(size).
[[nodiscard]] Result<Package> read_package(SharedBytes bytes);

/// Returns the package without its debug map; its hash stays the same. Errors: as read_package.
[[nodiscard]] Result<std::vector<std::byte>> strip_debug_map(const SharedBytes& bytes);

}  // namespace davit::formats
