// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/op_table.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <string_view>

#include "davit/backends/portable.hpp"
#include "davit/program/operators.hpp"

namespace {

using namespace davit;
using namespace davit::portable_kernels;

ErrorCode nothing(KernelCall&) {
  return ErrorCode::ok;
}

TEST_CASE("every row of the groups is found under its name, has a kernel and a schema, and stands once") {
  std::size_t count = 0;
  for (const OpGroup& group : op_groups()) {
    CHECK(group.keys.size() == group.rows.size());
    for (const OpRow& row : group.rows) {
      INFO(row.name);
      CHECK(find_op(row.name) == &row);
      CHECK((row.kernel != nullptr));
      CHECK(!find_operator(row.name).empty());
      ++count;
    }
  }
  CHECK(count > 190);
}

TEST_CASE("a name that no row has is not found") {
  CHECK(find_op("") == nullptr);
  CHECK(find_op("aten.add") == nullptr);
  CHECK(find_op("own.op.default") == nullptr);
}

TEST_CASE("a user's own operators are found beside portable's") {
  const std::array<CustomOperator, 1> own{{{{"own.op.default", nothing}, "own.op.default(Tensor x) -> Tensor"}}};
  CHECK(find_op(own, "own.op.default").row == &own[0].row);
  CHECK(find_op(own, "own.op.default").schema == own[0].schema);
  CHECK(find_op(own, "aten.add.Tensor").row == find_op("aten.add.Tensor"));
  CHECK(find_op(own, "aten.add.Tensor").schema == find_operator("aten.add.Tensor"));
  CHECK(find_op(own, "other.op.default").row == nullptr);
}

}  // namespace
