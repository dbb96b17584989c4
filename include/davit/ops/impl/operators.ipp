// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/ops/detail/operator_index.hpp"
#include "davit/ops/operators.hpp"

namespace davit::detail {

GroupedSchema find_indexed_operator(std::string_view name) noexcept { return schema_index.find(name); }

}  // namespace davit::detail
