// SPDX-License-Identifier: MIT
#include "davit/backend/embed_contract.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <type_traits>

#include "support/static_toy.hpp"

namespace {

using namespace davit;

static_assert(StaticBackend<static_toy::adder>);
static_assert(StaticBackend<static_toy::calculator>);
static_assert(!StaticBackend<int>);
struct nameless {
  using Kernels = kernel_list<>;
  static constexpr const char* embed(const EmbedNode&, StepWriter&) { return nullptr; }
};
static_assert(!StaticBackend<nameless>);
static_assert(std::is_same_v<static_backend_of<static_toy::adder>::policy, for_size>);
static_assert(std::is_same_v<static_backend_of<tuned<static_toy::adder, for_speed>>::type, static_toy::adder>);
static_assert(std::is_same_v<static_backend_of<tuned<static_toy::adder, for_speed>>::policy, for_speed>);
static_assert(for_speed::specialise<static_toy::add_kernel> && !for_size::specialise<static_toy::add_kernel>);

}  // namespace

TEST_CASE("a row of a table of operators") {
  constexpr EmbedRow row{"aten.add.Tensor", static_toy::adder::embed};
  CHECK(row.last);
  CHECK((row.embed == static_toy::adder::embed));
}
