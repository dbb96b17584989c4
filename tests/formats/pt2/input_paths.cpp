// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/input_paths.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/guard_program.hpp"

using namespace davit;
using namespace davit::formats;

namespace {
using Steps = std::vector<std::string>;
}

TEST_CASE("paths lead to user inputs by the names of forward's arguments") {
  const ProgramTables program = guard_program::make();
  const InputPaths paths(program);
  CHECK(paths.find("x", Steps{}) == 0);
  CHECK(paths.find("args_1", Steps{}) == 2);
  CHECK(paths.find("args", Steps{"1"}) == 2);
  CHECK(paths.find("args", Steps{"0", "0"}) == 0);
  CHECK(paths.find("z", Steps{"k", "1"}) == 7);
  CHECK(paths.find("kwargs", Steps{"z", "k", "0"}) == 6);
  CHECK(paths.find("flat_args", Steps{"5"}) == 5);
  CHECK(!paths.find("flat_args", Steps{"8"}));
  CHECK(!paths.find("flat_args", Steps{"99999999999999999999"}));
  CHECK(!paths.find("z", Steps{"k"}));
  CHECK(!paths.find("z", Steps{}));
  CHECK(!paths.find("x", Steps{"0"}));
  CHECK(!paths.find("", Steps{}));
}

TEST_CASE("variable arguments have the name that forward gives them, and no other numbers") {
  ProgramTables program = guard_program::make();
  CHECK(!InputPaths(program).find("args", Steps{"3"}));
  CHECK(!InputPaths(program).find("args_2", Steps{}));
  program.module_call_graph[0].forward_arg_names = {"x", "xs_0", "xs_1", "n", "f", "b", "z"};
  program.signature.input_specs[7] = UserInputSpec{TensorArgument{"opts_z_k_1"}};
  const InputPaths paths(program);
  CHECK(paths.find("xs", Steps{"0"}) == 1);
  CHECK(paths.find("xs", Steps{"1"}) == 2);
  CHECK(!paths.find("xs", Steps{"2"}));
  CHECK(paths.find("opts", Steps{"z", "k", "1"}) == 7);
  CHECK(!paths.find("others", Steps{"z", "k", "1"}));
  CHECK(paths.find("args", Steps{"1"}) == 1);  // the positional arguments
}

TEST_CASE("of two arguments of one name the variable one is asked by number") {
  ProgramTables program = guard_program::make();
  program.module_call_graph[0].forward_arg_names = {"x", "args_0", "args_0", "n", "f", "b", "z"};
  const InputPaths paths(program);
  CHECK(paths.find("args", Steps{"0"}) == 2);
  CHECK(paths.find("args_0", Steps{}) == 1);
}

TEST_CASE("fields of a named tuple are found by the placeholders' names, in their argument only") {
  ProgramTables program = guard_program::make();
  program.signature.input_specs[7] = UserInputSpec{TensorArgument{"z_k_b"}};
  CHECK(InputPaths(program).find("z", Steps{"k", "b"}) == 7);
  CHECK(!InputPaths(program).find("z", Steps{"k", "c"}));
  program.signature.input_specs[7] = UserInputSpec{TensorArgument{"x_b"}};
  CHECK(!InputPaths(program).find("x", Steps{"b"}));
}

TEST_CASE("without a call's form the placeholders' names are left") {
  ProgramTables program = guard_program::make();
  program.module_call_graph[0].in_spec = "[1, {}]";
  const InputPaths paths(program);
  CHECK(paths.find("x", Steps{}) == 0);
  CHECK(paths.find("z_k_1", Steps{}) == 7);
  CHECK(paths.find("flat_args", Steps{"2"}) == 2);
  CHECK(!paths.find("args", Steps{"0"}));
}

TEST_CASE("an argument with the name args is an ordinary argument") {
  ProgramTables program = guard_program::make();
  program.module_call_graph[0].forward_arg_names[0] = "args";
  CHECK(InputPaths(program).find("args", Steps{}) == 0);
}

TEST_CASE("paths that are written alike lead nowhere") {
  ProgramTables program = guard_program::make();
  const std::string leaf = R"({"type": null, "context": null, "children_spec": []})";
  const std::string inner = R"({"type": "builtins.dict", "context": "[\"b\"]", "children_spec": [)" + leaf + "]}";
  std::string kwargs =
      R"({"type": "builtins.dict", "context": "[\"a\", \"a.b\", \"n\", \"f\", \"g\", \"b\", \"c\", \"d\"]", "children_spec": [)" +
      inner;
  for (int i = 0; i < 7; ++i) kwargs += ", " + leaf;
  program.module_call_graph[0].in_spec = Name(
      R"([1, {"type": "builtins.tuple", "context": "null", "children_spec": [{"type": "builtins.tuple", "context": "null", "children_spec": []}, )" +
      kwargs + "]}]}]");
  const InputPaths paths(program);
  CHECK(!paths.find("a", Steps{"b"}));
  CHECK(paths.find("n", Steps{}) == 2);
}
