// SPDX-License-Identifier: MIT
#include "davit/formats/package_layout.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

using namespace davit;
using namespace davit::formats;

namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}
std::string_view text_of(const SharedBytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
SharedBytes shared(const Bytes& bytes) { return SharedBytes::copy_of(bytes); }

const Bytes table = bytes_of("the program table");
const Bytes first = bytes_of("first segment");
const Bytes second(200, std::byte{7});
const Bytes map = bytes_of("where nodes came from");

Bytes sample(bool with_map = true) {
  const std::span<const std::byte> segments[] = {first, {}, second};
  return write_package(table, segments, with_map ? std::span<const std::byte>(map) : std::span<const std::byte>());
}
PackageHeader header_of(const Bytes& bytes) {
  PackageHeader header{};
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}
PackageSection section_of(const Bytes& bytes, std::size_t i) {
  PackageSection section;
  std::memcpy(&section, bytes.data() + sizeof(PackageHeader) + i * sizeof section, sizeof section);
  return section;
}
/// The package with another header or section table, with right hashes.
Bytes with(Bytes bytes, PackageHeader header, std::vector<PackageSection> sections) {
  header.hash = formats::detail::package_hash(sections, header.has_debug_map != 0 && !sections.empty());
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!sections.empty())
    std::memcpy(bytes.data() + sizeof header, sections.data(), sections.size() * sizeof(PackageSection));
  return bytes;
}
std::vector<PackageSection> sections_of(const Bytes& bytes) {
  std::vector<PackageSection> sections;
  for (std::size_t i = 0; i < header_of(bytes).sections; ++i) sections.push_back(section_of(bytes, i));
  return sections;
}
Error error_of(const Bytes& bytes) {
  const auto package = read_package(shared(bytes));
  REQUIRE(!package);
  return package.error();
}

}  // namespace

TEST_CASE("a package is split into its parts, without copies") {
  const Bytes bytes = sample();
  const SharedBytes all = shared(bytes);
  const auto package = read_package(all);
  REQUIRE(package);
  CHECK(text_of(package->table) == "the program table");
  REQUIRE(package->segments.size() == 3);
  CHECK(text_of(*package->segments.find(0)) == "first segment");
  CHECK(package->segments.find(1)->empty());
  CHECK(std::ranges::equal(package->segments.find(2)->bytes(), second));
  CHECK(package->segments.find(3) == nullptr);
  CHECK(text_of(package->debug_map) == "where nodes came from");
  const std::byte* data = package->segments.find(2)->data();
  CHECK((data >= all.data() && data < all.data() + all.size()));
}

TEST_CASE("every section begins at a multiple of 64 bytes, and the file ends at one") {
  const Bytes bytes = sample();
  CHECK(bytes.size() % package_alignment == 0);
  for (const PackageSection& section : sections_of(bytes)) CHECK(section.offset % package_alignment == 0);
  const auto package = read_package(shared(bytes));
  REQUIRE(package);
  CHECK(reinterpret_cast<std::uintptr_t>(package->segments.find(2)->data()) % package_alignment == 0);
}

TEST_CASE("equal parts make equal bytes; other parts another hash") {
  CHECK(sample() == sample());
  Bytes other = second;
  other[100] = std::byte{8};
  const std::span<const std::byte> segments[] = {first, {}, other};
  CHECK(header_of(write_package(table, segments, map)).hash != header_of(sample()).hash);
}

TEST_CASE("bytes that are not at a multiple of 64 are copied to one") {
  const Bytes bytes = sample();
  Bytes shifted(1, std::byte{0});
  shifted.insert(shifted.end(), bytes.begin(), bytes.end());
  const SharedBytes odd = shared(shifted).part(1, bytes.size());
  const auto package = read_package(odd);
  REQUIRE(package);
  CHECK(reinterpret_cast<std::uintptr_t>(package->segments.find(2)->data()) % package_alignment == 0);
  CHECK(text_of(package->table) == "the program table");
}

TEST_CASE("without its debug map a package keeps its hash and everything else") {
  const auto stripped = strip_debug_map(shared(sample()));
  REQUIRE(stripped);
  CHECK(*stripped == sample(false));
  CHECK(stripped->size() < sample().size());
  const auto package = read_package(shared(*stripped));
  REQUIRE(package);
  CHECK(package->debug_map.empty());
  CHECK(package->hash == read_package(shared(sample()))->hash);
  CHECK(*strip_debug_map(shared(*stripped)) == *stripped);
  CHECK(!strip_debug_map(shared(bytes_of("nothing"))));
}

TEST_CASE("a flipped bit anywhere but in the padding is found") {
  const Bytes bytes = sample();
  std::vector<bool> matters(bytes.size(), false);
  const std::size_t head = sizeof(PackageHeader) + header_of(bytes).sections * sizeof(PackageSection);
  std::fill_n(matters.begin(), head, true);
  for (const PackageSection& s : sections_of(bytes))
    std::fill_n(matters.begin() + static_cast<std::ptrdiff_t>(s.offset), static_cast<std::ptrdiff_t>(s.size), true);
  for (std::size_t i = offsetof(PackageHeader, minor); i < offsetof(PackageHeader, hash); ++i)
    matters[i] = false;  // newer minor versions are read
  std::size_t found = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    Bytes damaged = bytes;
    damaged[i] ^= std::byte{static_cast<unsigned char>(1u << i % 8)};
    const bool refused = !read_package(shared(damaged));
    if (refused != matters[i]) FAIL_CHECK("byte " << i << (refused ? " is refused" : " is not found"));
    found += refused ? 1 : 0;
  }
  CHECK(found > 300);
}

TEST_CASE("every truncation is an error, or all that is lost is padding") {
  const Bytes bytes = sample();
  const std::size_t end = bytes.size() - (bytes.size() - (section_of(bytes, 4).offset + section_of(bytes, 4).size));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto package = read_package(shared(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size))));
    if (package.has_value() != (size >= end)) FAIL_CHECK("the first " << size << " bytes");
    if (!package) CHECK(package.error().code == ErrorCode::corrupt_data);
  }
}

TEST_CASE("another major version is reported; another minor version is read") {
  const Bytes bytes = sample();
  PackageHeader header = header_of(bytes);
  header.major = package_major + 1;
  header.minor = 5;
  const Error error = error_of(with(bytes, header, sections_of(bytes)));
  CHECK(error.code == ErrorCode::version_mismatch);
  CHECK(error.what == "the package has format version 6.5, this davit reads 5.x");
  header.major = package_major;
  CHECK(read_package(shared(with(bytes, header, sections_of(bytes)))));
}

TEST_CASE("a package of a big-endian machine is reported") {
  const Bytes bytes = sample();
  PackageHeader header = header_of(bytes);
  header.major = std::byteswap(header.major);
  const Error error = error_of(with(bytes, header, sections_of(bytes)));
  CHECK(error.code == ErrorCode::version_mismatch);
  CHECK(error.what == "the package's numbers are big-endian, this davit reads little-endian ones");
}

TEST_CASE("other files, and sections that do not fit the file, are errors with the place") {
  CHECK(error_of({}).what == "the file is shorter than a package's header");
  CHECK(error_of(Bytes(100, std::byte{0})).what == "these bytes are no davit package");
  const Bytes bytes = sample();
  const auto sections = sections_of(bytes);
  for (const std::uint32_t count : {0u, 1u, 1000u, 0xffffffffu}) {
    PackageHeader header = header_of(bytes);
    header.sections = count;
    CHECK(error_of(with(bytes, header, sections)).code == ErrorCode::corrupt_data);
  }
  PackageHeader two_maps = header_of(bytes);
  two_maps.has_debug_map = 2;
  CHECK(error_of(with(bytes, two_maps, sections)).where == "byte 24");
  for (const PackageSection wrong :
       {PackageSection{.offset = 1, .size = 1}, PackageSection{.offset = 1u << 20, .size = 1},
        PackageSection{.offset = 64, .size = UINT64_MAX}, PackageSection{.offset = UINT64_MAX - 63, .size = 128}}) {
    auto changed = sections;
    changed[1] = wrong;
    const Error error = error_of(with(bytes, header_of(bytes), changed));
    CHECK(error.where == "section 1");
    CHECK(error.what == "it reaches outside the file");
  }
  auto moved = sections;
  moved[1].hash ^= 1;
  CHECK(error_of(with(bytes, header_of(bytes), moved)).what == "its bytes are damaged");
}

TEST_CASE("the parts of a package are its bytes") {
  const std::span<const std::byte> segments[] = {first, {}, second};
  const PackageParts package = package_parts(table, segments, map);
  Bytes joined;
  for (const std::span<const std::byte> part : package.parts) joined.insert(joined.end(), part.begin(), part.end());
  CHECK(joined == sample());
  CHECK(package.parts[3].data() == first.data());
}
