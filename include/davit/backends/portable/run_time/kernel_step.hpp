// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "davit/backends/portable/run_time/argument_table.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/core/copy_tensor.hpp"
#include "davit/core/tensor_view.hpp"

namespace davit::portable_kernels {

/// A call of one of portable's kernels within another backend's partition, which then need not end where its library
/// lacks an operator. Tensors have known sizes, in row-major or channels_last order.
struct KernelStep {
  Kernel kernel = nullptr;
  std::uint32_t parameters = 0;    ///< the number of leading arguments that are parameters; the rest are list items
  ArgumentTable arguments;         ///< a slot is an operand of the step
  std::vector<std::int64_t> dims;  ///< of each operand, then of each result: sizes, then strides
  std::vector<std::uint8_t> ranks;
  std::vector<ScalarType> dtypes;
  std::size_t results = 1;

  [[nodiscard]] std::size_t operands() const noexcept { return ranks.size() - results; }
  /// Returns operand i, or a result behind the operands, without an address.
  [[nodiscard]] TensorView tensor(std::size_t i) const noexcept {
    std::size_t first = 0;
    for (std::size_t k = 0; k < i; ++k) first += 2 * ranks[k];
    return {nullptr, dims.data() + first, dims.data() + first + ranks[i], ranks[i], dtypes[i]};
  }
};

/// Appends the sizes of an operand or a result, in row-major or channels_last order.
inline void add_tensor(KernelStep& step, std::span<const std::int64_t> sizes, ScalarType dtype = ScalarType::float32,
                       bool channels_last = false) {
  const std::size_t first = step.dims.size(), rank = sizes.size();
  step.dims.insert(step.dims.end(), sizes.begin(), sizes.end());
  step.dims.resize(first + 2 * rank);
  const std::span<std::int64_t> strides(step.dims.data() + first + rank, rank);
  if (channels_last)
    channels_last_strides(sizes, strides);
  else
    contiguous_strides(sizes, strides);
  step.ranks.push_back(static_cast<std::uint8_t>(rank));
  step.dtypes.push_back(dtype);
}

/// Sizes and dtype of an operand or a result.
struct KernelTensor {
  std::vector<std::int64_t> sizes;
  ScalarType dtype = ScalarType::float32;
  bool channels_last = false;  ///< else row-major
};
/// Makes a call of a kernel without an operator: its arguments are the operands, then numbers or None.
[[nodiscard]] inline KernelStep own_kernel_step(Kernel kernel, std::span<const KernelTensor> operands,
                                                std::span<const EValue> numbers, const KernelTensor& result) {
  KernelStep step{.kernel = kernel,
                  .parameters = static_cast<std::uint32_t>(operands.size() + numbers.size()),
                  .arguments = {},
                  .dims = {},
                  .ranks = {},
                  .dtypes = {}};
  step.arguments.arguments.resize(operands.size());
  step.arguments.arguments.insert(step.arguments.arguments.end(), numbers.begin(), numbers.end());
  for (std::uint32_t i = 0; i < operands.size(); ++i) {
    step.arguments.slots.push_back({i, i & 0x3fffffffu, 1, 0});
    add_tensor(step, operands[i].sizes, operands[i].dtype, operands[i].channels_last);
  }
  add_tensor(step, result.sizes, result.dtype, result.channels_last);
  return step;
}

/// The literals of a step: sizes, and the bits of numbers. Two steps of one node differ in these alone.
[[nodiscard]] inline std::vector<std::uint64_t> literals_of(const KernelStep& step) {
  std::vector<std::uint64_t> literals(step.dims.begin(), step.dims.end());
  for (const EValue& a : step.arguments.arguments) {
    literals.push_back(static_cast<std::uint64_t>(a.tag()));
    if (a.is_float())
      literals.push_back(std::bit_cast<std::uint64_t>(a.as_float()));
    else if (a.is_number())
      literals.push_back(static_cast<std::uint64_t>(a.integer()));
  }
  for (const auto& [argument, first, count] : step.arguments.lists) literals.push_back(count);
  return literals;
}

/// A session's state of a kernel step: the arguments of its calls. The step must outlive it.
class KernelState {
 public:
  explicit KernelState(const KernelStep& step) : arguments_(step.arguments.arguments), made_(step.results) {
    for (const auto& [argument, first, count] : step.arguments.lists)
      arguments_[argument] = EValue(std::span<const EValue>(arguments_.data() + first, count));
    for (const ArgumentTable::Slot& slot : step.arguments.slots)
      arguments_[slot.argument] = EValue(step.tensor(slot.slot));
    dims_.resize(2 * max_rank * step.results);
    for (std::size_t i = 0; i < step.results; ++i) {
      const TensorView result = step.tensor(step.operands() + i);
      results_.push_back(result);
      places_.push_back({dims_.data() + 2 * max_rank * i, dims_.data() + 2 * max_rank * i + max_rank, max_rank, nullptr,
                         result.nbytes(), true});
    }
  }

  /// Calls the kernel; operand i is at address(i), and the results are at the addresses behind the operands. A view
  /// that it returns is copied. Returns false if it refuses, or if a result differs from the program's declaration.
  /// `memory`: its work space, shared by consecutive steps. Source: portable::execute.
  template <class Address>
  [[nodiscard]] bool run(const KernelStep& step, KernelMemory& memory, Address&& address) {
    for (const ArgumentTable::Slot& slot : step.arguments.slots)
      arguments_[slot.argument].tensor().data = address(slot.slot);
    for (std::size_t i = 0; i < places_.size(); ++i)
      places_[i].data = static_cast<std::byte*>(address(step.operands() + i));
    KernelCall call({arguments_.data(), step.parameters}, made_, places_, memory);
    if (step.kernel(call) != ErrorCode::ok) return false;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (!made_[i].is_tensor() || made_[i].tensor().dtype != results_[i].dtype ||
          !std::ranges::equal(made_[i].tensor().sizes(), results_[i].sizes()))
        return false;
      if (made_[i].tensor().data == places_[i].data) continue;
      results_[i].data = places_[i].data;
      copy_tensor(made_[i].tensor(), results_[i]);
    }
    memory.reset();
    return true;
  }

 private:
  std::vector<EValue> arguments_, made_;
  std::vector<TensorView> results_;
  std::vector<std::int64_t> dims_;  ///< of each result, as the kernel makes it
  std::vector<OutputPlace> places_;
};

}  // namespace davit::portable_kernels
