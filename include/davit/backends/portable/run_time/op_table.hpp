// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/op_group.hpp"
#include "davit/core/config.hpp"

namespace davit::portable_kernels {

/// @name The groups, each defined in a file of its own.
[[nodiscard]] OpGroup elementwise_group() noexcept;
[[nodiscard]] OpGroup reduction_group() noexcept;
[[nodiscard]] OpGroup product_group() noexcept;
[[nodiscard]] OpGroup window_group() noexcept;
[[nodiscard]] OpGroup movement_group() noexcept;

/// Every operator the portable backend has: what it takes and what it runs are these rows.
[[nodiscard]] std::array<OpGroup, 5> op_groups() noexcept;

/// The row of the operator of that name, or nullptr. O(size of the name + log operators).
[[nodiscard]] const OpRow* find_op(std::string_view name) noexcept;

/// An operator's row and schema; null and empty if there is none.
struct FoundOp {
  const OpRow* row = nullptr;
  std::string_view schema;
};
/// Finds an operator among a user's own, then among portable's. O(own + log operators).
[[nodiscard]] FoundOp find_op(std::span<const CustomOperator> own, std::string_view name) noexcept;

}  // namespace davit::portable_kernels
