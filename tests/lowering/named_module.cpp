// SPDX-License-Identifier: MIT
#include "davit/lowering/named_module.hpp"

#include <doctest/doctest.h>

#include <tuple>

#include "../programs.hpp"
#include "support/compiler_demo.hpp"
#include "davit/lowering/to_backend.hpp"

using namespace davit;
using namespace davit::literals;
namespace hana = boost::hana;

TEST_CASE("methods named when compiling are called by name; other names do not compile (compile_errors/A03)") {
  const ExportedProgram add = programs::add();
  const ExportedProgram sub = programs::binary("aten.sub.Tensor");
  const ProgramMethod methods[] = {{"forward", &add}, {"accum", &sub}};
  auto lowered = to_backend<compiler_demo>(std::span<const ProgramMethod>(methods),
                                           hana::make_map(hana::make_pair("accum"_s, compiler_demo::CompileSpec{}),
                                                          hana::make_pair("forward"_s, compiler_demo::CompileSpec{})));
  REQUIRE(lowered);
  const Tensor x = programs::scalar(5);
  const Tensor h = programs::scalar(2);
  const auto sum = (*lowered)["forward"_s](x, h);
  REQUIRE(sum);
  CHECK(programs::item((*sum)[0]) == 7);
  const auto difference = (*lowered)["accum"_s](x, h);
  REQUIRE(difference);
  CHECK(programs::item((*difference)[0]) == 3);
  CHECK(!(*lowered)["forward"_s](x));
  using F = StaticTensor<float>;
  auto typed = lowered->typed<std::tuple<F>(F, F)>("forward"_s);
  REQUIRE(typed);
}

TEST_CASE("methods are lowered by their names alone, with the default compile spec") {
  const ExportedProgram add = programs::add();
  const ExportedProgram sub = programs::binary("aten.sub.Tensor");
  const Tensor x = programs::scalar(5);
  const Tensor h = programs::scalar(2);
  auto one = to_backend<compiler_demo>(add, "forward"_s);
  REQUIRE(one);
  CHECK(programs::item((*(*one)["forward"_s](x, h))[0]) == 7);
  const ProgramMethod methods[] = {{"forward", &add}, {"accum", &sub}};
  auto two = to_backend<compiler_demo>(std::span<const ProgramMethod>(methods), "accum"_s, "forward"_s);
  REQUIRE(two);
  CHECK(programs::item((*(*two)["accum"_s](x, h))[0]) == 3);
  CHECK(to_backend<compiler_demo>(add, "backward"_s).error().code == ErrorCode::not_found);
  CHECK(to_backend<compiler_demo>(add, {}));  // {} is the default compile spec, not a name
}
