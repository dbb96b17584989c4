// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "davit/backends/portable/run_time/argument_table.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/core/tensor_view.hpp"

namespace davit::onednn_ops {

/// A call of one of portable's kernels on float32 tensors in row-major order: what the library lacks, so that a partition need
/// not end there.
struct KernelStep {
  portable_kernels::Kernel kernel = nullptr;
  std::uint32_t parameters = 0;            ///< the first of the arguments; the others are items of lists
  portable_kernels::ArgumentTable arguments;  ///< a slot is an operand of the step
  std::vector<std::int64_t> dims;          ///< of each operand, then of the result: sizes, then strides
  std::vector<std::uint8_t> ranks;

  /// Operand i, or the result after the last; it lies nowhere yet.
  [[nodiscard]] TensorView tensor(std::size_t i) const noexcept {
    std::size_t first = 0;
    for (std::size_t k = 0; k < i; ++k) first += 2 * ranks[k];
    return {nullptr, dims.data() + first, dims.data() + first + ranks[i], ranks[i], ScalarType::float32};
  }
};

/// What a session keeps for a kernel step: the arguments of its calls. Outlived by the step.
class KernelState {
 public:
  explicit KernelState(const KernelStep& step) : arguments_(step.arguments.arguments), result_(step.tensor(step.ranks.size() - 1)) {
    for (const auto& [argument, first, count] : step.arguments.lists)
      arguments_[argument] = EValue(std::span<const EValue>(arguments_.data() + first, count));
    for (const portable_kernels::ArgumentTable::Slot& slot : step.arguments.slots) arguments_[slot.argument] = EValue(step.tensor(slot.slot));
    sizes_.resize(max_rank);
    strides_.resize(max_rank);
  }

  /// Calls the kernel; operand i lies at address(i), the result at the address behind the last. False if it refuses, or has not
  /// made what the program says. Source: portable::execute.
  template <class Address>
  [[nodiscard]] bool run(const KernelStep& step, Address&& address) {
    for (const portable_kernels::ArgumentTable::Slot& slot : step.arguments.slots) arguments_[slot.argument].tensor().data = address(slot.slot);
    auto* const to = static_cast<std::byte*>(address(step.ranks.size() - 1));
    EValue made;
    const portable_kernels::OutputPlace place{sizes_.data(), strides_.data(), max_rank, to, result_.nbytes()};
    portable_kernels::KernelCall call({arguments_.data(), step.parameters}, {&made, 1}, {&place, 1}, memory_);
    if (step.kernel(call) != ErrorCode::ok || !made.is_tensor() || made.tensor().data != to || made.tensor().dtype != ScalarType::float32) return false;
    return std::ranges::equal(made.tensor().sizes(), result_.sizes());
  }

 private:
  std::vector<EValue> arguments_;
  TensorView result_;
  std::vector<std::int64_t> sizes_, strides_;  ///< of the result, as the kernel makes them
  portable_kernels::KernelMemory memory_;
};

}  // namespace davit::onednn_ops
