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
#include "davit/ops/families/scans.hpp"
#include "davit/ops/families/shapes.hpp"
#include "davit/ops/families/slicing.hpp"
#include "davit/ops/families/softmax.hpp"
#include "davit/ops/families/sorting.hpp"
#include "davit/ops/families/special_functions.hpp"
#include "davit/ops/families/symbolic_numbers.hpp"
#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_group.hpp"
#include "davit/ops/operator_row.hpp"

namespace davit {

/// The rows of a family, and its facts. `group`: the group of their kernels, unless a row names another.
struct OperatorFamily : std::span<const OperatorRow> {
  std::span<const OperatorFacts> facts;
  OperatorGroup group;
};

/// All operators, by family; each name has one row.
inline constexpr auto operator_tables = std::to_array<OperatorFamily>({
    {operator_families::activations, operator_families::activations_facts, OperatorGroup::float_inference},
    {operator_families::arithmetic, operator_families::arithmetic_facts, OperatorGroup::float_inference},
    {operator_families::attention, operator_families::attention_facts, OperatorGroup::float_inference},
    {operator_families::bitwise, operator_families::bitwise_facts, OperatorGroup::integers},
    {operator_families::comparison, operator_families::comparison_facts, OperatorGroup::integers},
    {operator_families::complex_numbers, operator_families::complex_numbers_facts, OperatorGroup::complex_numbers},
    {operator_families::convolution, operator_families::convolution_facts, OperatorGroup::float_inference},
    {operator_families::copying, operator_families::copying_facts, OperatorGroup::movement},
    {operator_families::creation, operator_families::creation_facts, OperatorGroup::movement},
    {operator_families::elementary_functions, operator_families::elementary_functions_facts,
     OperatorGroup::float_inference},
    {operator_families::foreach, {}, OperatorGroup::movement},
    {operator_families::fourier, operator_families::fourier_facts, OperatorGroup::complex_numbers},
    {operator_families::helpers, {}, OperatorGroup::movement},
    {operator_families::indexing, operator_families::indexing_facts, OperatorGroup::indexing},
    {operator_families::joining, operator_families::joining_facts, OperatorGroup::movement},
    {operator_families::linear_algebra, operator_families::linear_algebra_facts, OperatorGroup::linear_algebra},
    {operator_families::losses, operator_families::losses_facts, OperatorGroup::linear_algebra},
    {operator_families::matrix_products, operator_families::matrix_products_facts, OperatorGroup::float_inference},
    {operator_families::movement, operator_families::movement_facts, OperatorGroup::movement},
    {operator_families::normalization, operator_families::normalization_facts, OperatorGroup::float_inference},
    {operator_families::padding, operator_families::padding_facts, OperatorGroup::movement},
    {operator_families::pooling, operator_families::pooling_facts, OperatorGroup::float_inference},
    {operator_families::quantization, operator_families::quantization_facts, OperatorGroup::quantization},
    {operator_families::random, operator_families::random_facts, OperatorGroup::random},
    {operator_families::recurrent, operator_families::recurrent_facts, OperatorGroup::recurrent},
    {operator_families::reductions, operator_families::reductions_facts, OperatorGroup::float_inference},
    {operator_families::resizing, operator_families::resizing_facts, OperatorGroup::vision},
    {operator_families::rounding, operator_families::rounding_facts, OperatorGroup::float_inference},
    {operator_families::scans, operator_families::scans_facts, OperatorGroup::sorting},
    {operator_families::shapes, operator_families::shapes_facts, OperatorGroup::movement},
    {operator_families::slicing, operator_families::slicing_facts, OperatorGroup::movement},
    {operator_families::softmax, operator_families::softmax_facts, OperatorGroup::float_inference},
    {operator_families::sorting, operator_families::sorting_facts, OperatorGroup::sorting},
    {operator_families::special_functions, operator_families::special_functions_facts,
     OperatorGroup::special_functions},
    {operator_families::symbolic_numbers, operator_families::symbolic_numbers_facts, OperatorGroup::movement},
});

/// The schema of an operator, and which group its kernel belongs to.
struct GroupedSchema {
  std::string_view schema;
  OperatorGroup group;

  constexpr GroupedSchema() noexcept : schema{}, group{} {}  // g++ 12 leaves members of arrays uninitialized without
  constexpr GroupedSchema(std::string_view text, OperatorGroup of) noexcept : schema(text), group(of) {}
  friend constexpr bool operator==(const GroupedSchema&, const GroupedSchema&) noexcept = default;
};

namespace detail {

/// find_grouped_operator at run time, with an index made at compile time.
[[nodiscard]] GroupedSchema find_indexed_operator(std::string_view name) noexcept;

}  // namespace detail

/// Returns the schema and the group of an operator by name ("aten.add.Tensor"); empty if no backend may take it. O(1)
/// at run time; O(n) in constant evaluation, where each translation unit would need its own index.
[[nodiscard]] constexpr GroupedSchema find_grouped_operator(std::string_view name) noexcept {
  if consteval {
    for (const OperatorFamily& family : operator_tables)
      for (const OperatorRow& row : family)
        if (row.schema.size() > name.size() && row.schema[name.size()] == '(' && row.schema.starts_with(name))
          return {row.schema, row.group == OperatorGroup::of_family ? family.group : row.group};
    return {};
  }
  return detail::find_indexed_operator(name);
}
/// The schema alone.
[[nodiscard]] constexpr std::string_view find_operator(std::string_view name) noexcept {
  return find_grouped_operator(name).schema;
}

}  // namespace davit
