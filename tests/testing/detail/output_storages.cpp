// SPDX-License-Identifier: MIT
#include "davit/testing/detail/output_storages.hpp"

#include <doctest/doctest.h>

#include "../../support/draft.hpp"
#include "davit/backends/portable.hpp"
#include "davit/lowered/backend_list.hpp"
#include "davit/testing/eager.hpp"

using namespace davit;

TEST_CASE("OutputStorages: the storages that an output may use") {
  support::Draft d;
  const ValueId b = d.buffer("b", programs::tensor({2}, {1, 2})), x = d.user("x", {2}), y = d.user("y", {2});
  d.mutate_buffer("b", y);
  const ValueId view = d.op("aten.alias.default", "view", x), made = d.neg("made", x);
  for (const ValueId v : {view, made, made, b, y}) d.output(v);
  const ExportedProgram program = d.finish();
  testing::EagerProgram eager(program, BackendList<portable>::tables());
  const Tensor one = programs::tensor({2}, {1, 2}), two = programs::tensor({2}, {3, 4});
  const EValue inputs[] = {one, two};
  REQUIRE(eager.run(inputs));
  // 0: the mutation, 1: a view, 2 and 3: new values, 4: b before the write, 5: y, which in torch is the buffer
  CHECK(eager.storages().may_lie_in_state(0, "b"));
  CHECK_FALSE(eager.storages().may_lie_in_input(0, 1));
  CHECK(eager.storages().may_lie_in_input(1, 0));
  CHECK_FALSE(eager.storages().may_lie_in_input(2, 0));
  CHECK(eager.storages().may_share(2, 3));
  CHECK_FALSE(eager.storages().may_share(1, 2));
  CHECK(eager.storages().may_lie_in_state(4, "b"));
  CHECK_FALSE(eager.storages().may_lie_in_state(2, "b"));
  CHECK(eager.storages().may_lie_in_state(5, "b"));
  CHECK_FALSE(eager.storages().may_lie_in_input(5, 1));
}
