// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "davit/core/contiguous.hpp"
#include "davit/core/evalue.hpp"
#include "davit/core/tensor.hpp"

namespace davit::testing {

/// A copy of the values of a call, for later comparison: bit by bit, whatever the strides.
class Snapshot {
 public:
  Snapshot() = default;
  explicit Snapshot(std::span<const EValue> values) {
    for (const EValue& value : values) add(value);
  }
  friend bool operator==(const Snapshot&, const Snapshot&) = default;

 private:
  void add(const EValue& value) {
    put(static_cast<std::uint64_t>(value.tag()));
    if (value.is_int()) put(static_cast<std::uint64_t>(value.as_int()));
    if (value.is_float()) put(std::bit_cast<std::uint64_t>(value.as_float()));
    if (value.is_bool()) put(value.as_bool() ? 1 : 0);
    if (value.is_string()) put(std::as_bytes(std::span(value.as_string())));
    if (value.is_list()) {
      put(value.as_list().size());
      for (const EValue& item : value.as_list()) add(item);
    }
    if (!value.is_tensor()) return;
    const TensorView& t = value.tensor();
    put(static_cast<std::uint64_t>(t.dtype));
    put(std::as_bytes(t.sizes()));
    const Tensor flat = contiguous(t);
    put({flat.storage.data(), flat.storage.size()});
  }
  void put(std::uint64_t number) {
    bytes_.resize(bytes_.size() + sizeof number);
    std::memcpy(bytes_.data() + bytes_.size() - sizeof number, &number, sizeof number);
  }
  void put(std::span<const std::byte> part) {
    put(part.size());
    bytes_.insert(bytes_.end(), part.begin(), part.end());
  }
  std::vector<std::byte> bytes_;
};

}  // namespace davit::testing
