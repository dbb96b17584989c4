// SPDX-License-Identifier: MIT
#include <string_view>
#include "davit/backend/backend_table.hpp"
#include "davit/backends/portable.hpp"
#include "davit/backends/portable/groups.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"

/// davit::portable, with the operators of all groups: what links this links all kernels.
namespace davit {

namespace portable_kernels {

constinit const OpTables all_tables =
    op_tables<ops::float_inference, ops::integers, ops::indexing, ops::sorting, ops::vision, ops::recurrent,
              ops::quantization, ops::random, ops::special_functions, ops::complex_numbers, ops::linear_algebra,
              ops::gradients>;

const OpRow* find_op(std::string_view name) noexcept { return find_op(OpSet{}, name).row; }

}  // namespace portable_kernels

constinit const BackendTable detail::TableOf<portable>::table = detail::BackendCalls<portable>::table();

}  // namespace davit
