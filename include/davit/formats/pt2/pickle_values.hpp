// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/shared_bytes.hpp"

namespace davit::formats {

/// Index of a value of a Pickle.
using PickleId = std::uint32_t;
inline constexpr PickleId no_pickle_id = 0xffffffffu;

enum class PickleKind : std::uint8_t {
  none,
  boolean,      ///< `number` is 0 or 1
  integer,      ///< `number`
  big_integer,  ///< more than 64 bits; the value is dropped
  real,         ///< `real`
  string,       ///< `text`
  bytes,        ///< `text`
  list,         ///< `items`; also for a set
  tuple,        ///< `items`
  dict,         ///< `items`: key, value, key, value
  global,       ///< an importable name: `module`, `text`
  persistent,   ///< a persistent id: `arguments`
  call,         ///< result of `callable`(*`arguments`); `items` as in a dict or list
  object,       ///< result of `callable`.__new__(*`arguments`); `items` as in a dict or list
};

/// A value of a pickle. Nothing is imported, called or constructed: a call is a record of its parts.
struct PickleValue {
  PickleKind kind = PickleKind::none;
  std::uint32_t offset = 0;  ///< offset of the opcode that made it, for errors
  std::int64_t number = 0;
  double real = 0;
  std::string_view text{};
  std::string_view module{};
  PickleId callable = no_pickle_id;
  PickleId arguments = no_pickle_id;
  PickleId state = no_pickle_id;  ///< call, object: argument of BUILD
  std::uint32_t state_begin = 0;  ///< range of the opcodes of `state`
  std::uint32_t state_end = 0;
  std::vector<PickleId> items{};
};

/// The values of a pickle: a graph, possibly with shared values and cycles. Owns a share of the pickle's bytes.
class Pickle {
 public:
  Pickle(SharedBytes bytes, std::vector<PickleValue> values, PickleId root) noexcept
      : bytes_(std::move(bytes)), values_(std::move(values)), root_(root) {}

  [[nodiscard]] const PickleValue& operator[](PickleId id) const noexcept { return values_[id]; }
  [[nodiscard]] PickleId root() const noexcept { return root_; }
  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }
  /// Returns the opcodes that made the state of a call or object.
  [[nodiscard]] SharedBytes state_bytes(const PickleValue& value) const noexcept {
    return bytes_.part(value.state_begin, value.state_end - value.state_begin);
  }

  /// True if a value is the global `module`.`name`.
  [[nodiscard]] bool is_global(PickleId id, std::string_view module, std::string_view name) const noexcept {
    if (id == no_pickle_id) return false;
    const PickleValue& value = values_[id];
    return value.kind == PickleKind::global && value.module == module && value.text == name;
  }
  /// Returns the elements of a tuple; empty for any other value.
  [[nodiscard]] std::span<const PickleId> tuple(PickleId id) const noexcept {
    if (id == no_pickle_id || values_[id].kind != PickleKind::tuple) return {};
    return values_[id].items;
  }

 private:
  SharedBytes bytes_;
  std::vector<PickleValue> values_;
  PickleId root_;
};

}  // namespace davit::formats
