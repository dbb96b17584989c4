// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "support/zip_file.hpp"

/// Writes pickles as torch.save does, value by value.
namespace pickle_text {

inline std::string text(std::string_view s) { return "X" + ZipFile::number(s.size(), 4) + std::string(s); }
inline std::string integer(std::int64_t i) { return "\x8a\x08" + ZipFile::number(static_cast<std::uint64_t>(i), 8); }
inline std::string boolean(bool b) { return b ? "\x88" : "\x89"; }
inline std::string global(std::string_view module, std::string_view name) {
  return "c" + std::string(module) + "\n" + std::string(name) + "\n";
}
inline std::string tuple(std::initializer_list<std::string> items) {
  std::string all = "(";
  for (const std::string& item : items) all += item;
  return all + "t";
}
inline std::string integers(const std::vector<std::int64_t>& numbers) {
  std::string all = "(";
  for (const std::int64_t i : numbers) all += integer(i);
  return all + "t";
}
inline std::string call(std::string_view module, std::string_view name, const std::string& arguments) {
  return global(module, name) + arguments + "R";
}
inline std::string storage(std::string_view type, std::string_view key, std::int64_t count) {
  const std::string_view module = type == "UntypedStorage" ? "torch.storage" : "torch";
  return tuple({text("storage"), global(module, type), text(key), text("cpu"), integer(count)}) + "Q";
}
inline const std::string hooks = call("collections", "OrderedDict", ")");

inline std::string tensor(const std::string& storage, std::int64_t offset, const std::vector<std::int64_t>& sizes,
                          const std::vector<std::int64_t>& strides) {
  return call("torch._utils", "_rebuild_tensor_v2",
              tuple({storage, integer(offset), integers(sizes), integers(strides), boolean(false), hooks}));
}
inline std::string parameter(const std::string& tensor) {
  return call("torch._utils", "_rebuild_parameter", tuple({tensor, boolean(true), hooks}));
}
/// A whole data.pkl with one value.
inline std::string pickle(const std::string& value) { return "\x80\x02" + value + "."; }
/// A dictionary; its items are alternating keys and values.
inline std::string dict(std::initializer_list<std::string> items) {
  std::string all = "}(";
  for (const std::string& item : items) all += item;
  return all + "u";
}

/// A file of torch.save.
inline ZipFile saved(const std::string& value) {
  return ZipFile()
      .add("archive/data.pkl", pickle(value))
      .add("archive/byteorder", "little")
      .add("archive/version", "3\n");
}

}  // namespace pickle_text
