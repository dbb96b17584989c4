// SPDX-License-Identifier: MIT
#include "davit/lowered/method_interface.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <utility>
#include <vector>

#include "../programs.hpp"

using namespace davit;

namespace {

/// (Tensor x[s0, 4], SymInt n, int 3, float 2.5, bool True, str "mode", None) -> (x, n, 7, None)
constexpr ProgramTables mixed() {
  GraphBuilder b;
  b.begin_graph();
  const Dim sizes[] = {{.value = 2, .expr = b.symbol("s0")}, {.value = 4}};
  const ValueId x = b.declare({.name = b.text("x"), .sizes = b.dims(sizes), .dtype = ScalarType::float32});
  const ValueId n = b.declare({.name = b.text("n"), .expr = b.symbol("s1"), .kind = ValueKind::sym_int});
  b.input(b.value(x));
  b.input(b.value(n));
  for (Argument a : {b.integer(3), b.real(2.5), b.boolean(true), b.string("mode"), b.none()}) {
    a.name = b.text("k");
    b.input(a);
  }
  const Argument outputs[] = {b.value(x), b.value(n), b.integer(7), b.none()};
  b.end_graph(outputs);
  ProgramTables program = programs::user_program(std::move(b).finish());
  program.range_constraints.push_back({"s0", 2, 8});
  program.guards.nodes = {
      {.op = GuardOp::size, .a = 0, .b = 1}, {.op = GuardOp::input, .a = 1}, {.op = GuardOp::less, .a = 0, .b = 1}};
  program.guards.roots = {2};
  program.module_call_graph.push_back({.fqn = "", .output_names = {"past.0", "past.1", "", "rest"}});
  return program;
}

bool check_mixed() {
  const MethodInterface i = method_interface(mixed());
  return i.inputs.size() == 7 && !i.is_static() && i.inputs[0].type.tag == EValue::Tag::tensor &&
         i.inputs[0].type.dtype == ScalarType::float32 && i.inputs[0].type.dims.size() == 2 &&
         !i.inputs[0].type.dims[0].is_static() && i.inputs[0].type.dims[1].value == 4 &&
         i.inputs[1].type.tag == EValue::Tag::int_ && !i.inputs[1].constant &&
         i.inputs[2].type.tag == EValue::Tag::int_ && i.inputs[2].constant == ConstantValue(std::int64_t{3}) &&
         i.inputs[3].constant == ConstantValue(2.5) && i.inputs[4].constant == ConstantValue(true) &&
         i.inputs[5].constant == ConstantValue(Name("mode")) && i.inputs[6].constant == ConstantValue() &&
         i.inputs[6].type.tag == EValue::Tag::none && i.outputs.size() == 4 && i.outputs[0].name == "x" &&
         i.outputs[1].type.tag == EValue::Tag::int_ && i.outputs[2].type.tag == EValue::Tag::int_ &&
         i.outputs[3].type.tag == EValue::Tag::none && i.outputs[0].user_name() == "past.0" &&
         i.outputs[3].user_name() == "rest" && i.outputs[2].user_name() == i.outputs[2].name && i.ranges.size() == 1 &&
         i.ranges[0].min == 2 && i.ranges[0].max == 8 && i.guards == mixed().guards;
}

bool check_state() {
  const MethodInterface i = method_interface(programs::seed());
  return i.is_static() && i.inputs.size() == 3 && i.inputs[0].role == InputRole::state &&
         i.inputs[0].target == "my_buffer2" && i.inputs[1].role == InputRole::user && i.inputs[1].name == "x1" &&
         i.outputs.size() == 2 && i.outputs[0].kind == OutputKind::buffer_mutation &&
         i.outputs[0].target == "my_buffer2" && i.outputs[1].kind == OutputKind::user_output &&
         i.outputs[1].name == "add_1";
}

}  // namespace

TEST_CASE("C01: an interface knows the kind of every input and output; None stays None") { CHECK(check_mixed()); }

TEST_CASE("a root module that lists other outputs than the signature names none") {
  ProgramTables program = mixed();
  program.module_call_graph[0].output_names.pop_back();
  for (const OutputPort& port : method_interface(program).outputs) CHECK(port.keys.empty());
}

TEST_CASE("a changed buffer is an input and an output; parameters and unchanged buffers are neither") {
  CHECK(check_state());
}

TEST_CASE("an interface survives being written and read; damage makes the reader bad") {
  const MethodInterface interface = method_interface(mixed());
  ByteWriter out;
  write_interface(out, interface);
  ByteReader in(out.written());
  const MethodInterface read = read_interface(in);
  CHECK(in.ok());
  CHECK(in.at_end());
  REQUIRE(read.inputs.size() == interface.inputs.size());
  for (std::size_t i = 0; i < read.inputs.size(); ++i) {
    CHECK(read.inputs[i].name == interface.inputs[i].name);
    CHECK(read.inputs[i].constant == interface.inputs[i].constant);
    CHECK(read.inputs[i].type.tag == interface.inputs[i].type.tag);
  }
  CHECK(read.outputs[1].keys == "past.1");
  CHECK(read.ranges.size() == 1);
  CHECK(read.guards == interface.guards);
  CHECK(guard_names(read)[1] == read.inputs[1].name);
  for (std::size_t size = 0; size < out.written().size(); ++size) {
    ByteReader part(std::span(out.written()).first(size));
    (void)read_interface(part);
    CHECK_FALSE(part.ok());
  }
  for (std::size_t at = 0; at < out.written().size();
       ++at) {  // a damaged enumerator is either a known one, or the reader reports an error
    std::vector<std::byte> bytes(out.written().begin(), out.written().end());
    bytes[at] = std::byte{200};
    ByteReader damaged(bytes);
    const MethodInterface interface_of_damage = read_interface(damaged);
    if (!damaged.ok()) continue;
    const auto is_one = [](const PortType& type) {
      return type.tag <= EValue::Tag::list && (type.tag != EValue::Tag::tensor || size_of(type.dtype) > 0);
    };
    for (const OutputPort& port : interface_of_damage.outputs) CHECK((name_of(port.kind) != "?" && is_one(port.type)));
    for (const InputPort& port : interface_of_damage.inputs)
      CHECK(((port.role == InputRole::user || port.role == InputRole::state) && is_one(port.type)));
  }
}

TEST_CASE("an interface is printed with the names of its symbols, which a loaded one takes from its program") {
  GraphBuilder b;
  b.begin_graph();
  const ExprId two = b.expr({.value = 2}), rows = b.symbol("s77"), count = b.symbol("s3");
  const Dim sizes[] = {{.value = 5, .expr = rows},
                       {.value = 4},
                       {.value = 10, .expr = b.expr({.op = ExprOp::mul, .a = two, .b = rows})}};
  const ValueId x = b.declare({.name = b.text("x"), .sizes = b.dims(sizes), .dtype = ScalarType::float32});
  const ValueId n = b.declare({.name = b.text("n"), .expr = count, .kind = ValueKind::sym_int});
  for (const ValueId v : {x, n}) b.input(b.value(v));
  Argument mode = b.string("mode");
  mode.name = b.text("mode");
  b.input(mode);
  b.end_graph({x, n});
  ExportedProgram program = programs::user_program(std::move(b).finish());
  program.range_constraints = {{"s77", 2, 8}, {"s3", 1, {}}};
  program.guards.nodes = {
      {.op = GuardOp::size, .a = 0, .b = 1}, {.op = GuardOp::input, .a = 1}, {.op = GuardOp::less, .a = 0, .b = 1}};
  program.guards.roots = {2};
  const MethodInterface interface = method_interface(program);
  const std::string_view call =
      "f(x: float32[s77, 4, 2*s77], n: int, mode: str = as exported) with s77=2..8, s3=1.., x.shape[1] < n";
  CHECK(signature_text("f", interface) == call);
  ByteWriter out;
  write_interface(out, interface);
  const std::vector<std::byte> bytes = std::move(out).take();
  ByteReader in(bytes);
  MethodInterface read = read_interface(in);
  CHECK(signature_text("f", read) != call);
  name_symbols(read, program);
  CHECK(signature_text("f", read) == call);
  // the sizes of the export's example, of a call, and of one whose values are no tensors of that rank
  CHECK(symbol_sizes_text(interface) == "s77=5");
  const Tensor seven = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{7, 4, 14});
  const EValue values[] = {seven.view(), std::int64_t{3}, {}}, wrong[] = {1.5, {}, {}};
  CHECK(symbol_sizes_text(interface, values) == "s77=7");
  CHECK(symbol_sizes_text(interface, wrong).empty());
  // more conditions than the text shows
  for (int i = 0; i < 9; ++i) read.guards.roots.push_back(2);
  CHECK(signature_text("f", read).view().ends_with("x.shape[1] < n, x.shape[1] < n, ..."));
}
