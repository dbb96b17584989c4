// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/evalue.hpp"
#include "davit/core/tensor.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/program/graph_builder.hpp"

/// Handmade programs for tests.
namespace programs {

using davit::EValue;
using Sizes = std::initializer_list<std::int64_t>;

/// A trace as torch.export records it, with `code` as innermost line.
inline constexpr std::string_view trace_of_add =
    "File \"/home/user/model.py\", line 12, in <module>\n    run(model)\n"
    "File \"/home/user/model.py\", line 5, in forward\n    return x + h\n";
inline constexpr std::string_view trace_of_mul = "File \"/home/user/model.py\", line 7, in forward\n    return x * h\n";

/// A program whose graph inputs are all user inputs and whose outputs are all user outputs.
constexpr davit::ProgramTables user_program(davit::GraphModule module) {
  davit::ProgramTables program;
  program.graph_module = std::move(module);
  const davit::GraphModuleView graph = program.view();
  const auto argument = [&](const davit::Argument& a) -> davit::UserArgument {
    switch (a.kind) {
      case davit::ArgumentKind::int_: return davit::ConstantArgument{davit::Name(graph.str(a.name)), a.payload};
      case davit::ArgumentKind::float_: return davit::ConstantArgument{davit::Name(graph.str(a.name)), a.float_value()};
      case davit::ArgumentKind::bool_: return davit::ConstantArgument{davit::Name(graph.str(a.name)), a.payload != 0};
      case davit::ArgumentKind::string:
        return davit::ConstantArgument{davit::Name(graph.str(a.name)), davit::Name(graph.string(a))};
      case davit::ArgumentKind::value: break;
      default: return davit::ConstantArgument{davit::Name(graph.str(a.name)), {}};
    }
    const davit::Name name(graph.name(a.value()));
    switch (graph.values[a.value()].kind) {
      case davit::ValueKind::sym_int: return davit::SymIntArgument{name};
      case davit::ValueKind::sym_float: return davit::SymFloatArgument{name};
      case davit::ValueKind::sym_bool: return davit::SymBoolArgument{name};
      default: return davit::TensorArgument{name};
    }
  };
  for (const davit::Argument& a : graph.args(graph.root().inputs))
    program.signature.input_specs.push_back(davit::UserInputSpec{argument(a)});
  for (const davit::Argument& a : graph.args(graph.root().outputs))
    program.signature.output_specs.push_back(davit::UserOutputSpec{argument(a)});
  return program;
}

/// forward(self, x): return x
constexpr davit::ProgramTables identity(Sizes sizes = {}, davit::ScalarType dtype = davit::ScalarType::float32) {
  davit::GraphBuilder b;
  b.begin_graph();
  const davit::ValueId x = b.input("x", dtype, sizes);
  b.end_graph({x});
  return user_program(std::move(b).finish());
}

/// forward(self, x, h): return x <op> h
constexpr davit::ProgramTables binary(std::string_view target, Sizes sizes = {}, std::string_view trace = trace_of_add,
                                      davit::ScalarType dtype = davit::ScalarType::float32) {
  davit::GraphBuilder b;
  b.begin_graph();
  const davit::ValueId x = b.input("x", dtype, sizes);
  const davit::ValueId h = b.input("h", dtype, sizes);
  const std::uint32_t metadata = b.metadata(trace, "L__self__,,__main__.M");
  const davit::ValueId out =
      b.call(target, {{"self", b.value(x)}, {"other", b.value(h)}}, "result", dtype, sizes, metadata);
  b.end_graph({out});
  return user_program(std::move(b).finish());
}
constexpr davit::ProgramTables add(Sizes sizes = {}) { return binary("aten.add.Tensor", sizes); }

/// forward(self, a0, a1, ...): return a0 (and a0 ... again, `outputs` times)
/// A method of one node, "test.echo", that takes float tensors x (or a0, a1, ...) and makes values r0, r1, ... of these
/// kinds: for backends that take any operator.
constexpr davit::ProgramTables echo(std::size_t inputs = 1,
                                    const std::vector<davit::ValueKind>& outputs = {davit::ValueKind::tensor}) {
  davit::GraphBuilder b;
  b.begin_graph();
  std::vector<davit::Argument> in;
  for (std::size_t i = 0; i < inputs; ++i)
    in.push_back(
        b.value(b.input(inputs == 1 ? davit::Name("x") : davit::concat("a", i), davit::ScalarType::float32, {})));
  std::vector<davit::Argument> out;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const davit::Name name = davit::concat("r", i);
    out.push_back(b.value(outputs[i] == davit::ValueKind::tensor
                              ? b.tensor(name, davit::ScalarType::float32, {})
                              : b.declare({.name = b.text(name), .kind = outputs[i]})));
  }
  b.node("test.echo.default", in, out);
  b.end_graph(std::span<const davit::Argument>(out));
  return user_program(std::move(b).finish());
}

constexpr davit::ProgramTables passes(std::size_t inputs, std::size_t outputs) {
  davit::GraphBuilder b;
  b.begin_graph();
  std::vector<davit::ValueId> in;
  for (std::size_t i = 0; i < inputs; ++i) in.push_back(b.input(davit::concat("a", i), davit::ScalarType::float32, {}));
  std::vector<davit::Argument> out;
  for (std::size_t i = 0; i < outputs; ++i) out.push_back(b.value(in[i < inputs ? i : 0]));
  b.end_graph(std::span<const davit::Argument>(out));
  return user_program(std::move(b).finish());
}

/// The example of torch's documentation of ExportGraphSignature: a parameter, two buffers, of which one is mutated.
///   forward(self, x1, x2): output = (x1 + self.my_parameter) * self.my_buffer1 + x2 * self.my_buffer2
///                          self.my_buffer2.add_(1.0); return output
constexpr davit::GraphModule seed_graph() {
  constexpr auto f32 = davit::ScalarType::float32;
  davit::GraphBuilder b;
  b.begin_graph();
  const auto parameter = b.input("p_my_parameter", f32, {});
  const auto buffer1 = b.input("b_my_buffer1", f32, {});
  const auto buffer2 = b.input("b_my_buffer2", f32, {});
  const auto x1 = b.input("x1", f32, {});
  const auto x2 = b.input("x2", f32, {});
  const auto call = [&](std::string_view target, davit::Argument x, davit::Argument y, std::string_view name) {
    return b.call(target, {{"self", x}, {"other", y}}, name, f32, {});
  };
  const auto add = call("aten.add.Tensor", b.value(x1), b.value(parameter), "add");
  const auto mul = call("aten.mul.Tensor", b.value(add), b.value(buffer1), "mul");
  const auto mul_1 = call("aten.mul.Tensor", b.value(x2), b.value(buffer2), "mul_1");
  const auto add_1 = call("aten.add.Tensor", b.value(mul), b.value(mul_1), "add_1");
  const auto add_2 = call("aten.add.Tensor", b.value(buffer2), b.real(1.0), "add_2");
  b.end_graph({add_2, add_1});
  return std::move(b).finish();
}
constexpr davit::ExportGraphSignature seed_signature() {
  using namespace davit;
  return {.input_specs = {InputToParameterSpec({"p_my_parameter"}, "my_parameter"),
                          InputToBufferSpec({"b_my_buffer1"}, "my_buffer1", true),
                          InputToBufferSpec({"b_my_buffer2"}, "my_buffer2", true), UserInputSpec{TensorArgument{"x1"}},
                          UserInputSpec{TensorArgument{"x2"}}},
          .output_specs = {BufferMutationSpec({"add_2"}, "my_buffer2"), UserOutputSpec{TensorArgument{"add_1"}}}};
}
/// seed() with a state dict whose tensors have no storage, for tests that do not run it.
constexpr davit::ProgramTables seed() {
  davit::ProgramTables program;
  program.graph_module = seed_graph();
  program.signature = seed_signature();
  for (const std::string_view name : {"my_parameter", "my_buffer1", "my_buffer2"})
    program.state_dict.push_back(
        {davit::Name(name), {.dtype = davit::ScalarType::float32, .sizes = {}, .strides = {}, .storage = {}}});
  return program;
}

// -- at run time ------------------------------------------------------------------------------------------------------

/// A float tensor that owns its elements.
inline davit::Tensor tensor(Sizes sizes, std::initializer_list<float> values) {
  davit::Tensor t = davit::Tensor::zeros(davit::ScalarType::float32, sizes);
  std::size_t i = 0;
  for (const float v : values) t.view().as<float>()[i++] = v;
  return t;
}
inline davit::Tensor scalar(float value) { return tensor({}, {value}); }

/// The single element of a float tensor.
inline float item(const EValue& value) { return value.is_tensor() ? value.tensor().as<float>()[0] : -1e9f; }

/// `b = b + x; return b` with buffer b: a method with state.
inline davit::ProgramTables counter(float start) {
  davit::GraphBuilder b;
  b.begin_graph();
  const auto buffer = b.input("b_total", davit::ScalarType::float32, {});
  const auto x = b.input("x", davit::ScalarType::float32, {});
  const auto sum = b.call("aten.add.Tensor", {{"self", b.value(buffer)}, {"other", b.value(x)}}, "add",
                          davit::ScalarType::float32, {});
  b.end_graph({sum, sum});
  davit::ProgramTables program;
  program.graph_module = std::move(b).finish();
  program.signature = {.input_specs = {davit::InputToBufferSpec({"b_total"}, "total", true),
                                       davit::UserInputSpec{davit::TensorArgument{"x"}}},
                       .output_specs = {davit::BufferMutationSpec({"add"}, "total"),
                                        davit::UserOutputSpec{davit::TensorArgument{"add"}}}};
  program.state_dict.push_back({"total", scalar(start)});
  return program;
}

}  // namespace programs
