// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <span>

#include "davit/ops/families/activations.hpp"
#include "davit/ops/families/arithmetic.hpp"
#include "davit/ops/families/copying.hpp"
#include "davit/ops/families/creation.hpp"
#include "davit/ops/families/matrix_products.hpp"
#include "davit/ops/families/normalization.hpp"
#include "davit/ops/families/rounding.hpp"
#include "davit/ops/families/shapes.hpp"
#include "davit/ops/families/slicing.hpp"
#include "davit/ops/families/softmax.hpp"
#include "davit/ops/pattern_row.hpp"

namespace davit {

/// The patterns of all operators, by families; those of one operator are tried in their order.
inline constexpr auto pattern_tables = std::to_array<std::span<const PatternRow>>({
    operator_families::activations_patterns,
    operator_families::arithmetic_patterns,
    operator_families::copying_patterns,
    operator_families::creation_patterns,
    operator_families::matrix_products_patterns,
    operator_families::normalization_patterns,
    operator_families::rounding_patterns,
    operator_families::shapes_patterns,
    operator_families::slicing_patterns,
    operator_families::softmax_patterns,
});

}  // namespace davit
