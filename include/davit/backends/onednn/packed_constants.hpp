// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <unordered_map>
#include <utility>

#include "davit/backends/onednn/library.hpp"
#include "davit/core/shared_bytes.hpp"

namespace davit::onednn_ops {

/// Constants made of constants when compiling (in a primitive's layout, with a batch norm in them): made once for all the
/// codes of a partition. Not safe from several threads.
class PackedConstants {
 public:
  /// What else something was made of: other constants, which live as long as `source`, and a number.
  struct Others {
    std::array<const float*, 5> constants{};
    float number = 0;
    [[nodiscard]] bool operator==(const Others&) const noexcept = default;
  };
  /// What something was made of and how it lies.
  struct Key {
    SharedBytes source;
    std::size_t offset = 0;
    Others others{};
    MemoryDesc from;
    MemoryDesc to;
  };

  /// The bytes that `make()` answers, or answered before. O(1) on average beside `make`.
  template <class Make>
  [[nodiscard]] SharedBytes get(Key key, Make&& make) {
    const std::byte* const at = key.source.data() + key.offset;
    const auto [first, last] = made_.equal_range(at);
    for (auto entry = first; entry != last; ++entry) {
      const Key& known = entry->second.first;
      if (known.others == key.others && known.from == key.from && known.to == key.to) return entry->second.second;
    }
    SharedBytes bytes = make();
    made_.emplace(at, std::pair(std::move(key), bytes));  // the source is kept, so that its address stays its own
    return bytes;
  }

 private:
  std::unordered_multimap<const std::byte*, std::pair<Key, SharedBytes>> made_;
};

}  // namespace davit::onednn_ops
