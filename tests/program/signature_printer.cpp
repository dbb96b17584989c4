// SPDX-License-Identifier: MIT
#include "davit/program/signature_printer.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace davit;

TEST_CASE("the seed's CustomModule prints as in torch 2.6") {
  ExportGraphSignature signature{
      .input_specs = {InputToParameterSpec({"p_my_parameter"}, "my_parameter"),
                      InputToBufferSpec({"b_my_buffer1"}, "my_buffer1", true),
                      InputToBufferSpec({"b_my_buffer2"}, "my_buffer2", false), UserInputSpec{TensorArgument{"x1"}},
                      UserInputSpec{TensorArgument{"x2"}}},
      .output_specs = {BufferMutationSpec({"add_2"}, "my_buffer2"), UserOutputSpec{TensorArgument{"add_1"}}}};
  CHECK(to_string(signature) ==
        "ExportGraphSignature(input_specs=[InputSpec(kind=<InputKind.PARAMETER: 2>, "
        "arg=TensorArgument(name='p_my_parameter'), target='my_parameter', persistent=None), "
        "InputSpec(kind=<InputKind.BUFFER: 3>, arg=TensorArgument(name='b_my_buffer1'), target='my_buffer1', "
        "persistent=True), InputSpec(kind=<InputKind.BUFFER: 3>, arg=TensorArgument(name='b_my_buffer2'), "
        "target='my_buffer2', persistent=False), InputSpec(kind=<InputKind.USER_INPUT: 1>, "
        "arg=TensorArgument(name='x1'), target=None, persistent=None), InputSpec(kind=<InputKind.USER_INPUT: 1>, "
        "arg=TensorArgument(name='x2'), target=None, persistent=None)], "
        "output_specs=[OutputSpec(kind=<OutputKind.BUFFER_MUTATION: 3>, arg=TensorArgument(name='add_2'), "
        "target='my_buffer2'), OutputSpec(kind=<OutputKind.USER_OUTPUT: 1>, arg=TensorArgument(name='add_1'), "
        "target=None)])");
}

TEST_CASE("an empty signature prints") {
  CHECK(to_string(ExportGraphSignature{}) == "ExportGraphSignature(input_specs=[], output_specs=[])");
}

TEST_CASE("every kind of argument prints") {
  CHECK(to_string(ArgumentSpec(SymIntArgument{"s"})) == "SymIntArgument(name='s')");
  CHECK(to_string(ArgumentSpec(SymFloatArgument{"s"})) == "SymFloatArgument(name='s')");
  CHECK(to_string(ArgumentSpec(SymBoolArgument{"s"})) == "SymBoolArgument(name='s')");
  CHECK(to_string(ArgumentSpec(TokenArgument{"s"})) == "TokenArgument(name='s')");
  CHECK(to_string(ArgumentSpec(CustomObjArgument{"o", "ns.Foo"})) ==
        "CustomObjArgument(name='o', class_fqn='ns.Foo', fake_val=None)");
}

TEST_CASE("constants print with their type's form") {
  const auto printed = [](ConstantValue value) {
    return to_string(ArgumentSpec(ConstantArgument{"c", std::move(value)}));
  };
  CHECK(printed({}) == "ConstantArgument(name='c', value=None)");
  CHECK(printed(1) == "ConstantArgument(name='c', value=1)");
  CHECK(printed(std::numeric_limits<std::int64_t>::min()) == "ConstantArgument(name='c', value=-9223372036854775808)");
  CHECK(printed(1.0) == "ConstantArgument(name='c', value=1.0)");
  CHECK(printed(1e-05) == "ConstantArgument(name='c', value=1e-05)");
  CHECK(printed(-std::numeric_limits<double>::infinity()) == "ConstantArgument(name='c', value=-inf)");
  CHECK(printed(true) == "ConstantArgument(name='c', value=True)");
  CHECK(printed(false) == "ConstantArgument(name='c', value=False)");
  CHECK(printed(Name("it's")) == "ConstantArgument(name='c', value=\"it's\")");
}

TEST_CASE("every kind of output prints") {
  CHECK(to_string(OutputSpec(LossOutputSpec{{"l"}})) ==
        "OutputSpec(kind=<OutputKind.LOSS_OUTPUT: 2>, arg=TensorArgument(name='l'), target=None)");
  CHECK(to_string(OutputSpec(GradientToParameterSpec({"g"}, "w"))) ==
        "OutputSpec(kind=<OutputKind.GRADIENT_TO_PARAMETER: 4>, arg=TensorArgument(name='g'), target='w')");
  CHECK(to_string(OutputSpec(OutputTokenSpec{{"t"}})) ==
        "OutputSpec(kind=<OutputKind.TOKEN: 7>, arg=TokenArgument(name='t'), target=None)");
}
