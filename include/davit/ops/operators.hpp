// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "davit/ops/families/activations.hpp"
#include "davit/ops/families/arithmetic.hpp"
#include "davit/ops/families/attention.hpp"
#include "davit/ops/families/bitwise.hpp"
#include "davit/ops/families/comparison.hpp"
#include "davit/ops/families/complex_numbers.hpp"
#include "davit/ops/families/convolution.hpp"
#include "davit/ops/families/copying.hpp"
#include "davit/ops/families/creation.hpp"
#include "davit/ops/families/elementary_functions.hpp"
#include "davit/ops/families/foreach.hpp"
#include "davit/ops/families/fourier.hpp"
#include "davit/ops/families/helpers.hpp"
#include "davit/ops/families/indexing.hpp"
#include "davit/ops/families/joining.hpp"
#include "davit/ops/families/linear_algebra.hpp"
#include "davit/ops/families/losses.hpp"
#include "davit/ops/families/matrix_products.hpp"
#include "davit/ops/families/movement.hpp"
#include "davit/ops/families/normalization.hpp"
#include "davit/ops/families/padding.hpp"
#include "davit/ops/families/pooling.hpp"
#include "davit/ops/families/quantization.hpp"
#include "davit/ops/families/random.hpp"
#include "davit/ops/families/recurrent.hpp"
#include "davit/ops/families/reductions.hpp"
#include "davit/ops/families/resizing.hpp"
#include "davit/ops/families/rounding.hpp"
#include "davit/ops/families/sampling.hpp"
#include "davit/ops/families/scans.hpp"
#include "davit/ops/families/shapes.hpp"
#include "davit/ops/families/slicing.hpp"
#include "davit/ops/families/softmax.hpp"
#include "davit/ops/families/sorting.hpp"
#include "davit/ops/families/special_functions.hpp"
#include "davit/ops/families/symbolic_numbers.hpp"
#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"

namespace davit {

/// The rows of all operators, by family; each name has one row.
inline constexpr auto operator_tables = std::to_array<std::span<const OperatorRow>>({
    operator_families::activations,
    operator_families::arithmetic,
    operator_families::attention,
    operator_families::bitwise,
    operator_families::comparison,
    operator_families::complex_numbers,
    operator_families::convolution,
    operator_families::copying,
    operator_families::creation,
    operator_families::elementary_functions,
    operator_families::foreach,
    operator_families::fourier,
    operator_families::helpers,
    operator_families::indexing,
    operator_families::joining,
    operator_families::linear_algebra,
    operator_families::losses,
    operator_families::matrix_products,
    operator_families::movement,
    operator_families::normalization,
    operator_families::padding,
    operator_families::pooling,
    operator_families::quantization,
    operator_families::random,
    operator_families::recurrent,
    operator_families::reductions,
    operator_families::resizing,
    operator_families::rounding,
    operator_families::sampling,
    operator_families::scans,
    operator_families::shapes,
    operator_families::slicing,
    operator_families::softmax,
    operator_families::sorting,
    operator_families::special_functions,
    operator_families::symbolic_numbers,
});

/// The facts of all operators, by family.
inline constexpr auto facts_tables = std::to_array<std::span<const OperatorFacts>>({
    operator_families::activations_facts,
    operator_families::arithmetic_facts,
    operator_families::attention_facts,
    operator_families::bitwise_facts,
    operator_families::comparison_facts,
    operator_families::complex_numbers_facts,
    operator_families::convolution_facts,
    operator_families::copying_facts,
    operator_families::creation_facts,
    operator_families::elementary_functions_facts,
    operator_families::fourier_facts,
    operator_families::indexing_facts,
    operator_families::joining_facts,
    operator_families::linear_algebra_facts,
    operator_families::losses_facts,
    operator_families::matrix_products_facts,
    operator_families::movement_facts,
    operator_families::normalization_facts,
    operator_families::padding_facts,
    operator_families::pooling_facts,
    operator_families::quantization_facts,
    operator_families::random_facts,
    operator_families::recurrent_facts,
    operator_families::reductions_facts,
    operator_families::resizing_facts,
    operator_families::rounding_facts,
    operator_families::sampling_facts,
    operator_families::scans_facts,
    operator_families::shapes_facts,
    operator_families::slicing_facts,
    operator_families::softmax_facts,
    operator_families::sorting_facts,
    operator_families::special_functions_facts,
    operator_families::symbolic_numbers_facts,
});

namespace detail {

/// find_operator at run time, with an index made at compile time.
[[nodiscard]] std::string_view find_indexed_operator(std::string_view name) noexcept;

}  // namespace detail

/// Returns the schema of an operator by name ("aten.add.Tensor"); empty if no backend may take it. O(1) at run time;
/// O(n) in constant evaluation, where each translation unit would need its own index.
[[nodiscard]] constexpr std::string_view find_operator(std::string_view name) noexcept {
  if consteval {
    for (const std::span<const OperatorRow> family : operator_tables)
      for (const OperatorRow& row : family)
        if (row.schema.size() > name.size() && row.schema[name.size()] == '(' && row.schema.starts_with(name))
          return row.schema;
    return {};
  }
  return detail::find_indexed_operator(name);
}

}  // namespace davit
