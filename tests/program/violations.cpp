// SPDX-License-Identifier: MIT
#include "davit/program/violations.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "../programs.hpp"

using namespace davit;

namespace {

constexpr bool check_violations() {
  const ProgramTables program = programs::add();
  Violations report(program.view());
  report.violation(report.place(0), "it is wrong");
  report.add(Error{.code = ErrorCode::corrupt_data, .what = "it is damaged"});
  const std::vector<Error> list = std::move(report).take();
  return list.size() == 2 && list[0].code == ErrorCode::invalid_program && list[0].stage == Stage::verify &&
         list[0].where == "node 0 'result' (aten.add.Tensor)" && list[0].what == "it is wrong" &&
         list[0].fix == "export the program again" && list[1].code == ErrorCode::corrupt_data;
}
static_assert(check_violations());

}  // namespace

TEST_CASE("violations come back in order, with the place of their node") { CHECK(check_violations()); }
