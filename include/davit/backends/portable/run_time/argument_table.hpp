// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "davit/core/evalue.hpp"
#include "davit/program/graph.hpp"

namespace davit::portable_kernels {

/// The arguments of all steps, laid out once: constants in place, values by slot, lists by position.
struct ArgumentTable {
  struct Slot {
    std::uint32_t argument;
    std::uint32_t slot : 30;
    std::uint32_t is_tensor : 1;  ///< the schema allows only a tensor here
    std::uint32_t may_be_none : 1;
    [[nodiscard]] bool takes(const EValue& value) const noexcept {
      return is_tensor == 0 || value.is_tensor() || (may_be_none != 0 && value.is_none());
    }
  };
  struct List {
    std::uint32_t argument;
    std::uint32_t first;
    std::uint32_t count;
  };
  struct String {
    std::uint32_t argument;
    Text text;
  };
  std::vector<EValue> arguments;
  std::vector<Slot> slots;  ///< in argument order within a step
  std::vector<List> lists;
  std::vector<String> strings;
};

}  // namespace davit::portable_kernels
