// SPDX-License-Identifier: MIT
#include "davit/embed/method_table.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <type_traits>

#include "support/static_toy.hpp"

namespace {

using namespace davit;
using namespace static_toy;
using Settings = detail::StaticSettings<calculator>;
using Table = detail::MethodTable<static_methods<residual, total_from_zero>, Settings>;
using One = static_method<residual, Settings>;
using Other = static_method<total_from_zero, Settings>;

static_assert(Table::count == 2 && Table::has<residual> && !Table::has<running_total>);
static_assert(Table::arena_bytes == std::max(One::arena_bytes, Other::arena_bytes));
static_assert(Table::step_count == One::step_count + Other::step_count);
static_assert(Table::calls_before<residual>() == 0 && Table::calls_before<total_from_zero>() == One::step_count);
static_assert(Table::weight_bytes == One::weight_bytes + Other::weight_bytes, "nothing in common");
static_assert(detail::MethodTable<static_methods<residual, residual>, Settings>::weight_bytes == One::weight_bytes,
              "all in common");

struct without_calls {
  using methods = static_methods<residual>;
};
struct with_calls : without_calls {
  template <class Module>
  struct calls {};
};
struct Module {};
static_assert(std::is_same_v<detail::MethodsOf<residual>::methods, static_methods<residual>>);
static_assert(std::is_same_v<detail::MethodsOf<residual>::calls<Module>, detail::ForwardCall<Module, residual>>);
static_assert(std::is_same_v<detail::MethodsOf<without_calls>::calls<Module>, detail::NoCalls<Module>>);
static_assert(std::is_same_v<detail::MethodsOf<with_calls>::calls<Module>, with_calls::calls<Module>>);

}  // namespace

TEST_CASE("state is reset once for all methods") {
  using Same = detail::MethodTable<static_methods<running_total, running_total>, Settings>;
  StaticState<Same::State::pools> state;
  CHECK(Same::State::pools.bytes() == 16);
  Same::reset(state);
  CHECK(state.f32.elements == bias);
}
