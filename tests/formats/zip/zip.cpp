// SPDX-License-Identifier: MIT
#include "davit/formats/zip/zip.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "support/data.hpp"
#include "support/zip_file.hpp"

using namespace davit;
using namespace davit::formats;

namespace {

ZipArchive opened(const ZipFile& file, ZipOptions options = {}) {
  auto archive = ZipArchive::open(file.bytes(), "test.zip", options);
  REQUIRE(archive);
  return *std::move(archive);
}

void check_refused(const ZipFile& file, std::string_view what, ZipOptions options = {}) {
  const auto archive = ZipArchive::open(file.bytes(), "test.zip", options);
  REQUIRE(!archive);
  CHECK(archive.error().code == ErrorCode::corrupt_data);
  CHECK(archive.error().where == "test.zip");
  CHECK(archive.error().what.view().find(what) != std::string_view::npos);
}

/// Calls check(archive) with each archive that can be opened after one bit is changed.
template <class Check>
void for_each_change(const std::string& text, Check&& check) {
  for (std::size_t i = 0; i < text.size(); ++i)
    for (const int bit : {0, 3, 7}) {
      std::string changed = text;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      if (auto archive = ZipArchive::open(bytes_of(changed), "changed")) check(*archive);
    }
}

ZipFile two() { return ZipFile().add("b/second", "2222").add_deflated("a/first", std::string(3000, 'x')); }

}  // namespace

TEST_CASE("members are found by name; stored ones are views of the archive") {
  const SharedBytes bytes = two().bytes();
  auto archive = ZipArchive::open(bytes, "test.zip");
  REQUIRE(archive);
  REQUIRE(archive->members().size() == 2);
  CHECK(archive->members()[0].name == "a/first");
  CHECK(archive->find("a/fir") == nullptr);
  const auto second = archive->read("b/second");
  REQUIRE(second);
  CHECK(text_of(*second) == "2222");
  CHECK(second->data() > bytes.data());
  CHECK(second->data() < bytes.data() + bytes.size());
  const auto first = archive->read("a/first");
  REQUIRE(first);
  CHECK(text_of(*first) == std::string(3000, 'x'));
  const auto third = archive->read("c");
  REQUIRE(!third);
  CHECK(third.error().code == ErrorCode::not_found);
  CHECK(third.error().where == "test.zip/c");
}

TEST_CASE("archives of torch, with ZIP64 records and data descriptors, are read") {
  auto archive = ZipArchive::open(bytes_of(test_file("pt2/cond_nested.v29.pt2")), "v29");
  REQUIRE(archive);
  CHECK(archive->members().size() == 11);
  for (const ZipMember& member : archive->members()) CHECK(archive->read(member).has_value());
  CHECK(text_of(archive->read("cond_nested.v29/archive_format").value()) == "pt2");
}

TEST_CASE("the ZIP64 records of an archive in a member are not the archive's own") {
  const auto number = &ZipFile::number;
  const std::string name = "inner";
  const std::uint64_t content = 30 + name.size();  // the offset in the archive
  const std::string record = "PK\6\6" + number(44, 8) + number(45, 2) + number(45, 2) + number(0, 4) + number(0, 4) +
                             number(7, 8) + number(7, 8) + number(70, 8) + number(0, 8);
  ZipFile file;
  file.add(name, record + "PK\6\7" + number(0, 4) + number(content, 8) + number(1, 4)).add("other", "text");
  ZipArchive archive = opened(file);
  REQUIRE(archive.members().size() == 2);
  CHECK(text_of(archive.read("other").value()) == "text");
  CHECK(archive.read(name).value().size() == record.size() + 20);
}

TEST_CASE("an archive may have a comment, the longest and one that looks like the archive's end") {
  const std::string text = two().text();
  for (const std::size_t length : {1u, 1000u, 0xfffeu, 0xffffu}) {
    CAPTURE(length);
    std::string commented = text;
    commented.replace(commented.size() - 2, 2, ZipFile::number(length, 2)) += std::string(length, 'c');
    auto archive = ZipArchive::open(bytes_of(commented), "test.zip");
    REQUIRE(archive);
    CHECK(text_of(archive->read("b/second").value()) == "2222");
  }
  std::string other = text;
  const std::string comment = text.substr(text.size() - 22) + "cc";
  other.replace(other.size() - 2, 2, ZipFile::number(comment.size(), 2)) += comment;
  auto archive = ZipArchive::open(bytes_of(other), "test.zip");
  REQUIRE(archive);
  CHECK(archive->members().size() == 2);
}

TEST_CASE("an archive may stand behind other bytes: a program that unpacks itself") {
  auto archive = ZipArchive::open(bytes_of("#!/bin/sh\n" + two().text()), "test.zip");
  REQUIRE(archive);
  CHECK(text_of(archive->read("b/second").value()) == "2222");
  CHECK(archive->read("a/first").value().size() == 3000);
}

TEST_CASE("the end record says one disk, and a directory that lies before it") {
  const std::string text = two().text();
  const std::size_t end = text.size() - 22;
  for (const std::size_t at :
       {4u, 6u, 8u, 10u, 14u, 18u}) {  // both disks, both counts, the directory's bytes, its place
    CAPTURE(at);
    std::string changed = text;
    changed[end + at] = static_cast<char>(changed[end + at] + 1);
    CHECK(!ZipArchive::open(bytes_of(changed), "test.zip"));
  }
}

TEST_CASE("the header in front of a member says the same as the directory") {
  const std::string text = two().text();
  for (const std::size_t at : {0u, 8u, 14u, 18u, 22u, 26u, 30u}) {  // signature, method, CRC, both sizes, the name
    CAPTURE(at);
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 8);
    const auto archive = ZipArchive::open(bytes_of(changed), "test.zip");
    REQUIRE(!archive);
    CHECK(archive.error().what == "member 'b/second' has a header that is missing or differs");
  }
}

TEST_CASE("members of 2 GB, and the members behind, have 64-bit numbers") {
  // the sizes of a, and the offset of b, are in the extra field
  ZipFile file;
  file.add("a", "aaaa").add("b", "bbb");
  const auto with = [&](std::string_view extra_a, std::string_view extra_b) {
    std::string text = file.text();
    const std::size_t a = text.find("PK\1\2"), b = text.find("PK\1\2", a + 4), end = text.find("PK\5\6");
    const std::size_t place = text.find("PK\3\4", 4);
    REQUIRE(place < a);
    std::string first = text.substr(a, b - a), second = text.substr(b, end - b), last = text.substr(end);
    first.replace(20, 8, std::string(8, '\xff')).replace(30, 2, ZipFile::number(extra_a.size(), 2)) += extra_a;
    second.replace(42, 4, std::string(4, '\xff')).replace(30, 2, ZipFile::number(extra_b.size(), 2)) += extra_b;
    last.replace(12, 4, ZipFile::number(first.size() + second.size(), 4));
    return text.substr(0, a) + first + second + last;
  };
  const std::size_t place = file.text().find("PK\3\4", 4);
  const std::string other = ZipFile::number(7, 2) + ZipFile::number(2, 2) + "xx";
  const auto sizes = [](std::uint64_t size, std::uint64_t stored) {
    return ZipFile::number(1, 2) + ZipFile::number(16, 2) + ZipFile::number(size, 8) + ZipFile::number(stored, 8);
  };
  const auto offset = [](std::uint64_t at) {
    return ZipFile::number(1, 2) + ZipFile::number(8, 2) + ZipFile::number(at, 8);
  };
  auto archive = ZipArchive::open(bytes_of(with(other + sizes(4, 4), offset(place) + other)), "large");
  REQUIRE(archive);
  CHECK(text_of(archive->read("a").value()) == "aaaa");
  CHECK(text_of(archive->read("b").value()) == "bbb");
  const auto refused = [&](std::string_view extra_a, std::string_view extra_b, std::string_view what) {
    const auto none = ZipArchive::open(bytes_of(with(extra_a, extra_b)), "large");
    REQUIRE(!none);
    CHECK(none.error().what.view().find(what) != std::string_view::npos);
  };
  refused("", offset(place), "beyond the end");
  refused(sizes(4, 4).substr(0, 12), offset(place), "header that is missing");
  refused(ZipFile::number(1, 2) + ZipFile::number(8, 2) + ZipFile::number(4, 8), offset(place),
          "header that is missing");
  refused(sizes(4, 5), offset(place), "two different sizes");
  refused(sizes(1000, 1000), offset(place), "beyond the end");
  refused(sizes(~std::uint64_t{0}, ~std::uint64_t{0}), offset(place), "beyond the end");
  refused(sizes(4, 4), offset(0), "header that is missing");  // of a
  refused(sizes(4, 4), offset(place + 1), "header that is missing");
  refused(sizes(4, 4), offset(~std::uint64_t{0} - 3), "header that is missing");
  refused(sizes(4, 4), "", "header that is missing");
  for_each_change(with(sizes(4, 4), offset(place)), [](ZipArchive& found) {
    for (const ZipMember& member : found.members()) CHECK((!found.read(member) || member.size <= 4));
  });
}

TEST_CASE("damaged archives are refused") {
  check_refused(ZipFile(two()).add("b/second", "again"), "is there twice");
  ZipFile file = two();
  file.members[0].flags = 1;
  check_refused(file, "is encrypted");
  file = two();
  file.members[0].method = 12;
  check_refused(file, "uses compression method 12");
  file = two();
  file.members[0].size = 5;
  check_refused(file, "has two different sizes");
  check_refused(two(), "is compressed", {.allow_deflate = false});
  check_refused(ZipFile(), "");
}

TEST_CASE("a changed member does not match its checksum") {
  ZipFile file = two();
  file.members[0].data = "2322";
  ZipArchive archive = opened(file);
  const auto content = archive.read("b/second");
  REQUIRE(!content);
  CHECK(content.error().what == "its content does not match its CRC-32");
  CHECK(opened(file, {.verify_checksums = false}).read("b/second").has_value());
}

TEST_CASE("deflated members cannot claim more than they hold, nor inflate without limit") {
  ZipFile file = two();
  file.members[1].size = 0xfffffff0;
  CHECK(!opened(file).read("a/first"));
  ZipFile bomb;
  const std::string zeros(std::size_t{3} << 20, '\0');
  bomb.add_deflated("1", zeros).add_deflated("2", zeros);
  ZipArchive archive = opened(bomb);
  CHECK(archive.read("1").has_value());
  const auto second = archive.read("2");
  REQUIRE(!second);
  CHECK(second.error().what == "it inflates to an implausible size");
  Limits limits;
  limits.max_inflated_bytes = std::uint64_t{3} << 20;  // the need of one member
  ZipArchive exact = opened(bomb, {.limits = limits});
  CHECK(exact.read("1").has_value());
  CHECK(!exact.read("2"));
  --limits.max_inflated_bytes;
  CHECK(!opened(bomb, {.limits = limits}).read("1"));
}

TEST_CASE("members cannot share bytes") {
  // one directory entry points at the data of another: a zip bomb of overlapping files
  ZipFile file;
  file.add("a", "aaaaaaaa").add("a", "aaaaaaaa");
  std::string text = file.text();
  const std::size_t directory = text.find("PK\1\2");
  const std::size_t second = text.find("PK\1\2", directory + 4);
  text.replace(second + 42, 4, ZipFile::number(0, 4));
  const auto archive = ZipArchive::open(bytes_of(text), "test.zip");
  REQUIRE(!archive);
  CHECK(archive.error().what == "members of the ZIP archive overlap");
}

TEST_CASE("cut and changed archives are errors or archives, never more") {
  const std::string text = two().text();
  for (std::size_t size = 0; size < text.size(); ++size)
    CHECK(!ZipArchive::open(bytes_of(text.substr(0, size)), "cut"));
  for_each_change(text, [](ZipArchive& archive) {
    for (const ZipMember& member : archive.members()) {
      const auto content = archive.read(member);
      CHECK((!content || content->size() == member.size));
    }
  });
}
