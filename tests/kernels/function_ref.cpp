// SPDX-License-Identifier: MIT
#include "davit/kernels/function_ref.hpp"

#include <doctest/doctest.h>

TEST_CASE("a FunctionRef calls its callable by reference") {
  int calls = 0;
  auto count = [&](int by) { return calls += by; };
  const davit::kernels::FunctionRef<int(int)> f = count;
  const davit::kernels::FunctionRef<int(int)> copy = f;
  CHECK(f(2) == 2);
  CHECK(copy(3) == 5);
  CHECK(calls == 5);
}
