// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <span>

#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/ops/operator_group.hpp"

namespace davit {

/// Satisfied by the types of namespace davit::ops, each a group of operators.
template <class G>
concept OperatorGroupType = requires {
  { G::group } -> std::convertible_to<OperatorGroup>;
  { std::span<const portable_kernels::OpTable* const>(G::tables) };
};

/// The groups of operators for portable_of. OperatorGroup lists the operators of each.
namespace ops {

struct movement {
  static constexpr OperatorGroup group = OperatorGroup::movement;
  static constexpr std::array tables{&portable_kernels::movement_table};
};
struct float_inference {
  static constexpr OperatorGroup group = OperatorGroup::float_inference;
  static constexpr std::array tables{&portable_kernels::float_elementwise_table,
                                     &portable_kernels::float_products_table, &portable_kernels::float_reductions_table,
                                     &portable_kernels::float_windows_table};
};
struct integers {
  static constexpr OperatorGroup group = OperatorGroup::integers;
  static constexpr std::array tables{&portable_kernels::integers_table};
};
struct indexing {
  static constexpr OperatorGroup group = OperatorGroup::indexing;
  static constexpr std::array tables{&portable_kernels::indexing_table};
};
struct sorting {
  static constexpr OperatorGroup group = OperatorGroup::sorting;
  static constexpr std::array tables{&portable_kernels::sorting_table};
};
struct vision {
  static constexpr OperatorGroup group = OperatorGroup::vision;
  static constexpr std::array tables{&portable_kernels::vision_table};
};
struct recurrent {
  static constexpr OperatorGroup group = OperatorGroup::recurrent;
  static constexpr std::array tables{&portable_kernels::recurrent_table};
};
struct quantization {
  static constexpr OperatorGroup group = OperatorGroup::quantization;
  static constexpr std::array tables{&portable_kernels::quantization_table};
};
struct random {
  static constexpr OperatorGroup group = OperatorGroup::random;
  static constexpr std::array tables{&portable_kernels::random_table};
};
struct special_functions {
  static constexpr OperatorGroup group = OperatorGroup::special_functions;
  static constexpr std::array tables{&portable_kernels::special_functions_table};
};
struct complex_numbers {
  static constexpr OperatorGroup group = OperatorGroup::complex_numbers;
  static constexpr std::array tables{&portable_kernels::complex_numbers_table};
};
struct linear_algebra {
  static constexpr OperatorGroup group = OperatorGroup::linear_algebra;
  static constexpr std::array tables{&portable_kernels::linear_algebra_table};
};
struct gradients {
  static constexpr OperatorGroup group = OperatorGroup::gradients;
  static constexpr std::array tables{&portable_kernels::gradients_table};
};

}  // namespace ops

static_assert(OperatorGroupType<ops::float_inference>);
static_assert(!OperatorGroupType<int>);

namespace portable_kernels {

/// The tables of these groups, and of ops::movement.
template <class... Groups>
inline constexpr OpTables op_tables = [] {
  OpTables tables{};
  const auto add = [&](OperatorGroup group, std::span<const OpTable* const> of) {
    tables[static_cast<std::size_t>(group)] = of;
  };
  add(ops::movement::group, ops::movement::tables);
  (add(Groups::group, Groups::tables), ...);
  return tables;
}();

}  // namespace portable_kernels

}  // namespace davit
