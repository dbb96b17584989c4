// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "davit/core/evalue.hpp"
#include "davit/lowered/method_interface.hpp"

namespace davit {

/// Remembers the sizes of a method's inputs from call to call.
class SizeMemory {
 public:
  /// True for the first call, or if a tensor size or symbolic int differs from the last call. Remembers the sizes.
  /// O(sizes); allocates in the first call only.
  [[nodiscard]] bool changed(std::span<const InputPort> ports, std::span<const EValue> inputs) {
    bool different = false;
    std::size_t at = 0;
    const auto note = [&](std::int64_t size) {
      if (at == sizes_.size()) {
        sizes_.push_back(size);
        different = true;
      }
      different = different || sizes_[at] != size;
      sizes_[at++] = size;
    };
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].is_int() && ports[i].type.expr != no_id) note(inputs[i].as_int());
      if (const TensorView* tensor = inputs[i].tensor_if())
        for (const std::int64_t size : tensor->sizes()) note(size);
    }
    return different;
  }

  /// Makes the next call count as changed, because this call was rejected.
  void forget() noexcept { sizes_.clear(); }

 private:
  std::vector<std::int64_t> sizes_;
};

}  // namespace davit
