// SPDX-License-Identifier: MIT
#include "davit/lowering/shared_state.hpp"

#include <doctest/doctest.h>

#include "../support/draft.hpp"

using namespace davit;
using support::Draft;

namespace {

/// Two buffers over the elements [0, 4) and [first, first + 4) of one storage; one of them is written, and one read.
Result<void> checked(std::int64_t first, bool writes, bool reads_other = true) {
  Draft d;
  Tensor a = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{8});
  a.sizes = {4};
  Tensor b = a;
  b.storage_offset = first;
  const ValueId one = d.buffer("a", a), other = d.buffer("b", b);
  const ValueId x = d.user("x", {4});
  const ValueId sum = d.add("sum", writes ? one : x, x);
  if (writes) d.mutate_buffer("a", sum);
  d.output(d.neg("out", reads_other ? other : x));
  return detail::check_shared_storage(d.finish());
}

}  // namespace

TEST_CASE("what a program changes shares no memory with what it reads by another name") {
  for (const std::int64_t first : {0, 1, 3}) {
    const Result<void> shared = checked(first, true);
    REQUIRE(!shared);
    CHECK(shared.error().where == "'a' and 'b'");
    CHECK(shared.error().what == "they share memory, and the program changes it");
  }
  CHECK(checked(4, true).has_value());
  CHECK(checked(0, false).has_value());
  CHECK(checked(0, true, false).has_value());
}
