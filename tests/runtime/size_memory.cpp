// SPDX-License-Identifier: MIT
#include "davit/runtime/size_memory.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "../programs.hpp"

using namespace davit;

namespace {
std::vector<InputPort> ports(std::size_t count, ExprId expr = no_id) {
  std::vector<InputPort> all(count);
  for (InputPort& port : all) port.type.expr = expr;
  return all;
}
}  // namespace

TEST_CASE("sizes have changed at the first call, and then only when they do") {
  SizeMemory memory;
  const auto two = ports(2);
  const Tensor a = programs::tensor({2, 3}, {});
  const Tensor b = programs::tensor({3, 2}, {});
  const EValue first[] = {a, b};
  const EValue second[] = {b, a};
  CHECK(memory.changed(two, first));
  CHECK(!memory.changed(two, first));
  CHECK(memory.changed(two, second));
  CHECK(!memory.changed(two, second));
  CHECK(memory.changed(two, first));
}

TEST_CASE("forgotten sizes are new") {
  SizeMemory memory;
  const Tensor a = programs::tensor({2, 3}, {});
  const EValue values[] = {a};
  CHECK(memory.changed(ports(1), values));
  memory.forget();
  CHECK(memory.changed(ports(1), values));
  CHECK(!memory.changed(ports(1), values));
}

TEST_CASE("a change in one dimension in the middle is noticed, and remembered") {
  SizeMemory memory;
  const auto one = ports(1);
  for (const std::int64_t size : {4, 5, 4}) {
    const std::int64_t sizes[] = {2, size, 7};
    const Tensor t = Tensor::zeros(ScalarType::float32, sizes);
    const EValue values[] = {t};
    CHECK(memory.changed(one, values));
    CHECK(!memory.changed(one, values));
  }
}

TEST_CASE("symbolic ints count; fixed ints, other values and scalars do not") {
  SizeMemory symbolic;
  const EValue three[] = {3};
  const EValue four[] = {4};
  CHECK(symbolic.changed(ports(1, 0), three));
  CHECK(!symbolic.changed(ports(1, 0), three));
  CHECK(symbolic.changed(ports(1, 0), four));
  SizeMemory fixed;
  CHECK(!fixed.changed(ports(1), three));
  CHECK(!fixed.changed(ports(1), four));
  const EValue text[] = {"text"};
  CHECK(!fixed.changed(ports(1), text));
  const Tensor scalar = programs::scalar(1);
  const EValue values[] = {scalar};
  CHECK(!fixed.changed(ports(1), values));
  CHECK(!fixed.changed({}, {}));
}
