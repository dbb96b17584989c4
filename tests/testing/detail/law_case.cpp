// SPDX-License-Identifier: MIT
#include "davit/testing/detail/law_case.hpp"

#include <doctest/doctest.h>

#include <cstddef>

#include "support/compiler_demo.hpp"
#include "davit/lowering/to_backend.hpp"
#include "programs.hpp"

using namespace davit;
using namespace davit::testing;

TEST_CASE("a case keeps a fresh session's results, and reports a different result") {
  const ExportedProgram program = programs::add();
  const compiler_demo::CompileSpec spec;
  const Tensor x = programs::scalar(3);
  const Tensor h = programs::scalar(4);
  const EValue inputs[] = {x, h};
  const SampleInputs samples[] = {inputs};
  const auto module = to_backend<compiler_demo>(program, spec);
  REQUIRE(module);
  testing::detail::LawCase<compiler_demo> c{program, spec, samples};
  REQUIRE(c.expect(*module));
  CHECK(c.expected.size() == 1);
  CHECK_FALSE(c.mutates_inputs());
  c.same_results("law", *module, "the same module");
  CHECK(c.violations.empty());
  const ExportedProgram difference = programs::binary("aten.sub.Tensor");
  const auto other = to_backend<compiler_demo>(difference, spec);
  REQUIRE(other);
  c.same_results("law", *other, "another module");
  REQUIRE(c.violations.size() == 1);
  CHECK(c.violations[0].law == "law");
  CHECK(c.violations[0].what == "another module: sample 0 gave another result");
}
