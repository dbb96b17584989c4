// SPDX-License-Identifier: MIT
#include "support/mock_backend.hpp"

#include <doctest/doctest.h>

#include "../programs.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#include "davit/testing/backend_laws.hpp"

using namespace davit;

namespace {
struct A {};
struct B {};
}  // namespace

TEST_CASE("each tag has its own script, and the log lists the calls") {
  testing::MockScript first;
  testing::MockScript second;
  testing::mock_backend<A>::script = &first;
  testing::mock_backend<B>::script = &second;
  CHECK(to_backend<testing::mock_backend<A>>(programs::echo()));
  CHECK(first.take_log() == "preprocess is_available compile");
  CHECK(first.log.empty());
  CHECK(second.log.empty());
}

TEST_CASE("an obedient mock keeps the laws of a backend") {
  testing::MockScript script;
  testing::mock_backend<A>::script = &script;
  const ExportedProgram program = programs::echo(2, {ValueKind::tensor, ValueKind::tensor});
  const Tensor x = programs::scalar(1);
  const Tensor y = programs::scalar(2);
  const EValue inputs[] = {x, y};
  const testing::SampleInputs samples[] = {inputs};
  const auto violations = testing::check_backend_laws<testing::mock_backend<A>>(program, {}, samples);
  for (const testing::LawViolation& v : violations) FAIL_CHECK(v.law << ": " << v.what);
}
