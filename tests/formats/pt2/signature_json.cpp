// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/signature_json.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace davit;
using namespace davit::formats;

namespace {

Result<ExportGraphSignature> read(std::string_view text) {
  const auto document = parse_json(text, "signature");
  REQUIRE(document);
  return read_signature(document->root());
}

Result<ExportGraphSignature> read_input(std::string_view spec) {
  return read("{\"input_specs\": [" + std::string(spec) + "], \"output_specs\": []}");
}

Result<ExportGraphSignature> read_output(std::string_view spec) {
  return read("{\"input_specs\": [], \"output_specs\": [" + std::string(spec) + "]}");
}

void check_refused(const Result<ExportGraphSignature>& result, std::string_view where) {
  REQUIRE(!result);
  CHECK(result.error().code == ErrorCode::corrupt_data);
  CHECK(result.error().where == where);
}

}  // namespace

TEST_CASE("every kind of input is read") {
  const auto signature = read(R"({"input_specs": [
      {"token": {"arg": {"name": "token"}}},
      {"parameter": {"arg": {"name": "p_w"}, "parameter_name": "w"}},
      {"buffer": {"arg": {"name": "b_m"}, "buffer_name": "m", "persistent": false}},
      {"tensor_constant": {"arg": {"name": "c_k"}, "tensor_constant_name": "k"}},
      {"custom_obj": {"arg": {"name": "obj", "class_fqn": "ns.Foo"}, "custom_obj_name": "o"}},
      {"user_input": {"arg": {"as_tensor": {"name": "x"}}}},
      {"user_input": {"arg": {"as_sym_int": {"as_name": "n"}}}},
      {"user_input": {"arg": {"as_sym_float": {"as_name": "f"}}}},
      {"user_input": {"arg": {"as_sym_bool": {"as_name": "b"}}}},
      {"user_input": {"arg": {"as_custom_obj": {"name": "held", "class_fqn": "ns.Bar"}}}},
      {"user_input": {"arg": {"as_int": 3}}},
      {"constant_input": {"name": "k", "value": {"as_string": "txt"}}}], "output_specs": [], "newer": 1})");
  REQUIRE(signature);
  CHECK(signature->input_specs ==
        std::vector<InputSpec>{InputTokenSpec{{"token"}}, InputToParameterSpec({"p_w"}, "w"),
                               InputToBufferSpec({"b_m"}, "m", false), InputToTensorConstantSpec({"c_k"}, "k"),
                               InputToCustomObjSpec({"obj", "ns.Foo"}, "o"), UserInputSpec{TensorArgument{"x"}},
                               UserInputSpec{SymIntArgument{"n"}}, UserInputSpec{SymFloatArgument{"f"}},
                               UserInputSpec{SymBoolArgument{"b"}}, UserInputSpec{CustomObjArgument{"held", "ns.Bar"}},
                               UserInputSpec{ConstantArgument{"", 3}},
                               UserInputSpec{ConstantArgument{"k", Name("txt")}}});
}

TEST_CASE("every kind of output is read") {
  const auto signature = read(R"({"input_specs": [], "output_specs": [
      {"token": {"arg": {"name": "t"}}},
      {"buffer_mutation": {"arg": {"name": "add"}, "buffer_name": "m"}},
      {"parameter_mutation": {"arg": {"name": "sub"}, "parameter_name": "w"}},
      {"user_input_mutation": {"arg": {"name": "mul"}, "user_input_name": "x"}},
      {"user_output": {"arg": {"as_none": true}}},
      {"loss_output": {"arg": {"name": "loss"}}},
      {"gradient_to_parameter": {"arg": {"name": "gw"}, "parameter_name": "w"}},
      {"gradient_to_user_input": {"arg": {"name": "gx"}, "user_input_name": "x"}}]})");
  REQUIRE(signature);
  CHECK(signature->output_specs ==
        std::vector<OutputSpec>{OutputTokenSpec{{"t"}}, BufferMutationSpec({"add"}, "m"),
                                ParameterMutationSpec({"sub"}, "w"), UserInputMutationSpec({"mul"}, "x"),
                                UserOutputSpec{ConstantArgument{"", {}}}, LossOutputSpec{{"loss"}},
                                GradientToParameterSpec({"gw"}, "w"), GradientToUserInputSpec({"gx"}, "x")});
}

TEST_CASE("constants keep their type") {
  const auto value = [](std::string_view json) {
    const auto signature = read_output("{\"user_output\": {\"arg\": " + std::string(json) + "}}");
    REQUIRE(signature);
    return signature->user_outputs().at(0);
  };
  CHECK(value(R"({"as_int": 1})") == ConstantValue(1));
  CHECK(value(R"({"as_float": 1.0})") == ConstantValue(1.0));
  CHECK(value(R"({"as_float": 1})") == ConstantValue(1.0));
  CHECK(value(R"({"as_float": "Infinity"})") == value(R"({"as_float": Infinity})"));
  CHECK(value(R"({"as_bool": true})") == ConstantValue(true));
  CHECK(value(R"({"as_string": ""})") == ConstantValue(Name()));
  CHECK(value(R"({"as_none": true})") == ConstantValue());
}

TEST_CASE("hostile signatures are errors that name the place") {
  check_refused(read("[]"), "signature");
  check_refused(read("{}"), "signature.input_specs");
  check_refused(read(R"({"input_specs": [], "output_specs": null})"), "signature.output_specs");
  check_refused(read(R"({"input_specs": {}, "output_specs": []})"), "signature.input_specs");
  check_refused(read_input("3"), "signature.input_specs[0]");
  check_refused(read_input("{}"), "signature.input_specs[0]");
  check_refused(read_input(R"({"token": {"arg": {"name": "t"}}}, {"token": 1, "parameter": 2})"),
                "signature.input_specs[1]");
  check_refused(read_input(R"({"banana": {}})"), "signature.input_specs[0].banana");
  check_refused(read_input(R"({"parameter": {"arg": {"name": 3}, "parameter_name": "w"}})"),
                "signature.input_specs[0].parameter.arg.name");
  check_refused(read_input(R"({"parameter": {"arg": {"name": "p"}}})"),
                "signature.input_specs[0].parameter.parameter_name");
  check_refused(read_input(R"({"custom_obj": {"arg": {"name": "p"}, "custom_obj_name": "o"}})"),
                "signature.input_specs[0].custom_obj.arg.class_fqn");
  check_refused(read_input(R"({"user_input": {"arg": {"as_sym_int": {"as_int": 3}}}})"),
                "signature.input_specs[0].user_input.arg.as_sym_int.as_name");
  check_refused(read_input(R"({"user_input": {"arg": {"as_ints": [3]}}})"),
                "signature.input_specs[0].user_input.arg.as_ints");
  check_refused(read_input(R"({"user_input": {"arg": {"as_int": 3, "as_bool": true}}})"),
                "signature.input_specs[0].user_input.arg");
  check_refused(read_input(R"({"constant_input": {"name": "k", "value": {"as_int": 3.0}}})"),
                "signature.input_specs[0].constant_input.value.as_int");
  check_refused(read_input(R"({"constant_input": {"name": "k", "value": {"as_tensor": {"name": "x"}}}})"),
                "signature.input_specs[0].constant_input.value.as_tensor");
  check_refused(read_output(R"({"loss_output": {"arg": {"as_tensor": {"name": "x"}}}})"),
                "signature.output_specs[0].loss_output.arg.name");
  check_refused(read_output(R"({"banana": {}})"), "signature.output_specs[0].banana");
}

TEST_CASE("K01 a buffer without persistent is refused") {
  check_refused(read_input(R"({"buffer": {"arg": {"name": "b"}, "buffer_name": "m"}})"),
                "signature.input_specs[0].buffer.persistent");
  check_refused(read_input(R"({"buffer": {"arg": {"name": "b"}, "buffer_name": "m", "persistent": null}})"),
                "signature.input_specs[0].buffer.persistent");
  check_refused(read_input(R"({"buffer": {"arg": {"name": "b"}, "buffer_name": "m", "persistent": 1}})"),
                "signature.input_specs[0].buffer.persistent");
}
