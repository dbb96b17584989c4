// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "davit/program/exported_program.hpp"
#include "davit/program/graph_builder.hpp"
#include "davit/program/guard_values.hpp"

/// The program that tests/cases/guards.py writes expressions for:
///     forward(x: [s0, s1], *args, n: int, f: float, b: bool, z: {"k": [None, Tensor of rank 3]}), with two args of
///     rank 1
namespace guard_program {

using namespace davit;

inline ProgramTables make() {
  ProgramTables program;
  GraphBuilder builder;
  builder.begin_graph();
  std::uint32_t symbol = 0;
  const auto tensor = [&](const char* name, std::size_t rank) {
    std::vector<Dim> dims;
    for (std::size_t d = 0; d < rank; ++d)
      dims.push_back({.value = 4, .expr = builder.symbol("s" + std::to_string(symbol++))});
    const ValueId v =
        builder.declare({.name = builder.text(name), .sizes = builder.dims(dims), .dtype = ScalarType::float32});
    builder.input(builder.value(v));
    program.signature.input_specs.push_back(UserInputSpec{TensorArgument{Name::own(name)}});
    return v;
  };
  const auto number = [&](const char* name, ValueKind kind, UserArgument argument) {
    const ExprId expr = kind == ValueKind::sym_int ? builder.symbol(name) : no_id;
    builder.input(builder.value(builder.declare({.name = builder.text(name), .expr = expr, .kind = kind})));
    program.signature.input_specs.push_back(UserInputSpec{std::move(argument)});
  };
  const ValueId x = tensor("x", 2);
  tensor("args_0", 1);
  tensor("args_1", 1);
  number("n", ValueKind::sym_int, SymIntArgument{"n"});
  number("f", ValueKind::sym_float, SymFloatArgument{"f"});
  number("b", ValueKind::sym_bool, SymBoolArgument{"b"});
  builder.input(Argument{});
  program.signature.input_specs.push_back(UserInputSpec{ConstantArgument{"z_k_0", {}}});
  tensor("z_k_1", 3);
  builder.end_graph({x});
  program.signature.output_specs.push_back(UserOutputSpec{TensorArgument{"x"}});
  program.graph_module = std::move(builder).finish();
  const std::string leaf = R"({"type": null, "context": null, "children_spec": []})";
  const std::string list =
      R"({"type": "builtins.list", "context": "null", "children_spec": [)" + leaf + ", " + leaf + "]}";
  const std::string z = R"({"type": "builtins.dict", "context": "[\"k\"]", "children_spec": [)" + list + "]}";
  const std::string args =
      R"({"type": "builtins.tuple", "context": "null", "children_spec": [)" + leaf + ", " + leaf + ", " + leaf + "]}";
  const std::string kwargs =
      R"({"type": "builtins.dict", "context": "[\"n\", \"f\", \"b\", \"z\"]", "children_spec": [)" + leaf + ", " +
      leaf + ", " + leaf + ", " + z + "]}";
  program.module_call_graph.push_back(
      {.fqn = "",
       .has_signature = true,
       .in_spec = Name(R"([1, {"type": "builtins.tuple", "context": "null", "children_spec": [)" + args + ", " +
                       kwargs + "]}]"),
       .forward_arg_names = {"x", "args_0", "args_1", "n", "f", "b", "z"}});
  return program;
}

/// The values of a call: leaves() of tests/cases/guards.py.
struct Given {
  std::array<double, 17> numbers{};

  [[nodiscard]] PythonNumber leaf(const GuardNode& node) const {
    if (node.op == GuardOp::storage_offset) return PythonNumber::of(std::int64_t{0});
    if (node.op == GuardOp::input && node.a == 4) return PythonNumber::of(numbers[15]);
    if (node.op == GuardOp::input && node.a == 5) return PythonNumber::of(numbers[16] != 0);
    constexpr std::size_t first[] = {0, 10, 12, 14, 15, 16, 0, 4}, rank[] = {2, 1, 1, 1, 1, 1, 0, 3};
    const std::size_t at =
        node.op == GuardOp::input ? 14 : first[node.a] + node.b + (node.op == GuardOp::stride ? rank[node.a] : 0);
    return PythonNumber::of(static_cast<std::int64_t>(numbers[at]));
  }
  [[nodiscard]] std::vector<PythonNumber> evaluated(const Guards& guards) const {
    std::vector<PythonNumber> values(guards.nodes.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      if (is_guard_leaf(guards.nodes[i].op)) values[i] = leaf(guards.nodes[i]);
    evaluate_guards(guards.nodes, values);
    return values;
  }
};

}  // namespace guard_program
