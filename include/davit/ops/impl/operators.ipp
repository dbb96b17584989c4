// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/ops/detail/operator_index.hpp"
#include "davit/ops/operators.hpp"

namespace davit::detail {

std::string_view find_indexed_operator(std::string_view name) noexcept { return find_text<&OperatorRow::schema>(name); }

}  // namespace davit::detail
