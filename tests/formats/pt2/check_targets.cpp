// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/check_targets.hpp"

#include <doctest/doctest.h>

#include "davit/program/graph_builder.hpp"

using namespace davit;
using namespace davit::formats;

namespace {

NamedTensor weight(Name name, ScalarType dtype, std::vector<std::int64_t> sizes) {
  return {std::move(name), Tensor::zeros(dtype, sizes)};
}

/// A parameter w of 2 x 3 floats, a buffer b that is not persistent, an object o.
ExportedProgram program() {
  GraphBuilder builder;
  builder.begin_graph();
  builder.input("p_w", ScalarType::float32, {2, 3});
  builder.input("b_b", ScalarType::int64, {});
  builder.input(builder.value(builder.declare({.name = builder.text("obj"), .kind = ValueKind::custom_obj})));
  builder.end_graph(std::span<const Argument>());
  ExportedProgram program;
  program.graph_module = std::move(builder).finish();
  program.signature.input_specs = {InputToParameterSpec({"p_w"}, "w"), InputToBufferSpec({"b_b"}, "b", false),
                                   InputToCustomObjSpec{{"obj", "ns.Foo"}, "o"}};
  program.state_dict.push_back(weight("w", ScalarType::float32, {2, 3}));
  program.constants.push_back(weight("b", ScalarType::int64, {}));
  program.custom_objects.push_back({"o", "ns.Foo", {}});
  return program;
}

void check_refused(const ExportedProgram& program, ErrorCode code, std::string_view where, std::string_view what) {
  const auto checked = check_targets(program);
  REQUIRE(!checked);
  CHECK(checked.error().code == code);
  CHECK(checked.error().where == where);
  CHECK(checked.error().what == what);
}

}  // namespace

TEST_CASE("targets of the signature must exist") {
  CHECK(check_targets(program()).has_value());
  ExportedProgram broken = program();
  broken.state_dict.clear();
  check_refused(broken, ErrorCode::not_found, "signature, input 0", "PARAMETER 'w' is not in the file");
  broken = program();
  broken.constants.clear();
  check_refused(broken, ErrorCode::not_found, "signature, input 1", "BUFFER 'b' is not in the file");
  broken = program();
  broken.custom_objects.clear();
  check_refused(broken, ErrorCode::not_found, "signature, input 2", "CUSTOM_OBJ 'o' is not in the file");
  broken.constants.push_back(weight("o", ScalarType::int64, {}));
  check_refused(broken, ErrorCode::not_found, "signature, input 2", "CUSTOM_OBJ 'o' is not in the file");
}

TEST_CASE("weights must fit the graph") {
  ExportedProgram broken = program();
  broken.state_dict[0] = weight("w", ScalarType::float64, {2, 3});
  check_refused(broken, ErrorCode::corrupt_data, "signature, input 0, 'w'",
                "the graph wants float32, the file has float64");
  broken.state_dict[0] = weight("w", ScalarType::float32, {3, 2});
  check_refused(broken, ErrorCode::corrupt_data, "signature, input 0, 'w'",
                "the graph wants other sizes than the file has");
  broken.state_dict[0] = weight("w", ScalarType::float32, {2});
  check_refused(broken, ErrorCode::corrupt_data, "signature, input 0, 'w'",
                "the graph wants other sizes than the file has");
  broken = program();
  broken.graph_module.values[0].kind = ValueKind::sym_int;
  check_refused(broken, ErrorCode::corrupt_data, "signature, input 0, 'w'", "the graph's input is not a tensor");
}

TEST_CASE("signature and graph must have as many inputs") {
  ExportedProgram broken = program();
  broken.signature.input_specs.pop_back();
  check_refused(broken, ErrorCode::corrupt_data, "signature", "it lists 2 inputs, the graph has 3");
}
