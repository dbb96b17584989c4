// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/argument_json.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string>

#include "support/program_json.hpp"

using namespace davit;
using namespace davit::formats;

namespace {

/// A graph in which the tensors a and b, the int s, the float f, the bool p and the object o are defined.
class Scene {
 public:
  Scene() {
    using program_json::value;
    const std::string graph = R"({"tensor_values": {)" + value("a") + ", " + value("b") + ", " + value("c") +
                              R"(}, "sym_int_values": {"s": {"as_int": 3}}, "sym_float_values": {"f": {"as_float": 3}},
                                 "sym_bool_values": {"p": {"as_bool": true}},
                                 "custom_obj_values": {"o": {"name": "o", "class_fqn": "ns.Foo"}}})";
    graph_ = *parse_json(graph, "graph");
    scope_ = ValueScope::of(graph_.root()).value();
    builder.begin_graph();
    for (const char* name : {"a", "b", "s", "f", "p", "o"})
      REQUIRE(scope_.define(name, graph_.root(), values_, builder).has_value());
  }

  Result<Argument> read(std::string_view text, bool define = false) {
    const auto document = parse_json(text, "arg");
    REQUIRE_MESSAGE(document, text);
    return define ? reader_.define(document->root()) : reader_.use(document->root());
  }
  Argument used(std::string_view text) {
    const Result<Argument> argument = read(text);
    REQUIRE_MESSAGE(argument, to_string(argument.error()));
    return *argument;
  }
  std::string text(std::string_view json) {
    const Argument argument = used(json);
    return std::string(builder.module().view().string(argument));
  }
  /// Items of a list as texts: a name, a number, "None".
  std::string items(const Argument& list) {
    std::string all;
    for (const Argument& item : builder.module().view().args(list.items)) {
      if (item.is_value()) all += std::string(builder.module().view().name(item.value())) + " ";
      if (item.kind == ArgumentKind::none) all += "None ";
      if (item.kind == ArgumentKind::list) all += "[" + items(item) + "] ";
      if (item.kind == ArgumentKind::int_ || item.kind == ArgumentKind::bool_)
        all += std::to_string(item.payload) + " ";
      if (item.kind == ArgumentKind::string) all += std::string(builder.module().view().string(item)) + " ";
      if (item.kind == ArgumentKind::float_) all += std::to_string(item.float_value()) + " ";
    }
    return all;
  }
  std::string list(std::string_view text, ArgumentKind element) {
    const Argument argument = used(text);
    CHECK(argument.is_list());
    CHECK(argument.element == element);
    return items(argument);
  }
  std::string refused(std::string_view text, bool define = false) {
    const Result<Argument> argument = read(text, define);
    REQUIRE(!argument);
    return std::string(argument.error().where.view()) + ": " + std::string(argument.error().what.view());
  }

  GraphBuilder builder;

 private:
  JsonDocument graph_;
  ValueReader values_{builder};
  ValueScope scope_;
  ArgumentReader reader_{builder, values_, scope_};
};

}  // namespace

TEST_CASE("operator names lose their module") {
  CHECK(normalized_target("torch.ops.aten.add.Tensor") == "aten.add.Tensor");
  CHECK(normalized_target("torch.ops.higher_order.cond") == "higher_order.cond");
  CHECK(normalized_target("torch.ops.quantized_decomposed.quantize_per_tensor.default") ==
        "quantized_decomposed.quantize_per_tensor.default");
  CHECK(normalized_target("_operator.add") == "_operator.add");
  CHECK(normalized_target("torch.sym_not") == "torch.sym_not");
  CHECK(normalized_target("torch._sym_sqrt") == "torch.sym_sqrt");
  CHECK(normalized_target("torch.fx.experimental.sym_node.sym_max") == "torch.sym_max");
  CHECK(normalized_target("torch.foo.bar") == "torch.foo.bar");
  CHECK(normalized_target("#ns:op") == "#ns:op");
  CHECK(normalized_target("") == "");
}

TEST_CASE("numbers, texts and enumerators") {
  Scene s;
  CHECK(s.used(R"({"as_none": true})").kind == ArgumentKind::none);
  CHECK(s.used(R"({"as_int": 9223372036854775807})").payload == INT64_MAX);
  CHECK(s.used(R"({"as_float": 2})").float_value() == 2.0);
  CHECK(s.used(R"({"as_float": -Infinity})").float_value() == -INFINITY);
  CHECK(std::isnan(s.used(R"({"as_float": "NaN"})").float_value()));
  CHECK(s.used(R"({"as_bool": true})").kind == ArgumentKind::bool_);
  CHECK(s.text(R"({"as_string": "mean"})") == "mean");
  CHECK(s.used(R"({"as_scalar_type": 7})").payload == static_cast<std::int64_t>(ScalarType::float32));
  CHECK(s.used(R"({"as_layout": 7})").kind == ArgumentKind::layout);
  CHECK(s.used(R"({"as_memory_format": 2})").payload == static_cast<std::int64_t>(MemoryFormat::channels_last));
  CHECK(s.text(R"({"as_device": {"type": "cpu"}})") == "cpu");
  const Argument op = s.used(R"({"as_operator": "torch.ops.aten._print.default"})");
  CHECK(op.kind == ArgumentKind::operator_name);
  CHECK(s.builder.module().view().string(op) == "aten._print.default");
  const Argument complex = s.used(R"({"as_complex": {"real": 1.5, "imag": -2.5}})");
  CHECK(complex.float_value() == 1.5);
  CHECK(complex.imaginary() == -2.5);
}

TEST_CASE("values") {
  Scene s;
  CHECK(s.used(R"({"as_tensor": {"name": "b"}})").value() == 1);
  CHECK(s.used(R"({"as_optional_tensor": {"as_tensor": {"name": "a"}}})").is_value());
  CHECK(s.used(R"({"as_optional_tensor": {"as_none": true}})").kind == ArgumentKind::none);
  CHECK(s.used(R"({"as_sym_int": {"as_name": "s"}})").value() == 2);
  CHECK(s.used(R"({"as_sym_int": {"as_int": 7}})").kind == ArgumentKind::int_);
  CHECK(s.used(R"({"as_sym_float": {"as_name": "f"}})").is_value());
  CHECK(s.used(R"({"as_sym_float": {"as_float": 7}})").kind == ArgumentKind::float_);
  CHECK(s.used(R"({"as_sym_bool": {"as_name": "p"}})").is_value());
  CHECK(s.used(R"({"as_custom_obj": {"name": "o", "class_fqn": "ns.Foo"}})").is_value());
  CHECK(s.read(R"({"as_tensor": {"name": "c"}})", true)->value() == 6);
  CHECK(s.used(R"({"as_tensor": {"name": "c"}})").value() == 6);
}

TEST_CASE("lists") {
  Scene s;
  CHECK(s.list(R"({"as_tensors": [{"name": "b"}, {"name": "a"}]})", ArgumentKind::value) == "b a ");
  CHECK(s.list(R"({"as_tensors": []})", ArgumentKind::value) == "");
  CHECK(s.list(R"({"as_ints": [1, -2]})", ArgumentKind::int_) == "1 -2 ");
  CHECK(s.list(R"({"as_ints": []})", ArgumentKind::int_) == "");
  CHECK(s.list(R"({"as_floats": [1, 0.5]})", ArgumentKind::float_) == "1.000000 0.500000 ");
  CHECK(s.list(R"({"as_bools": [true, false]})", ArgumentKind::bool_) == "1 0 ");
  CHECK(s.list(R"({"as_strings": ["x", "y"]})", ArgumentKind::string) == "x y ");
  CHECK(s.list(R"({"as_sym_ints": [{"as_name": "s"}, {"as_int": 1}]})", ArgumentKind::int_) == "s 1 ");
  CHECK(s.list(R"({"as_sym_floats": [{"as_name": "f"}]})", ArgumentKind::float_) == "f ");
  CHECK(s.list(R"({"as_sym_bools": [{"as_name": "p"}, {"as_bool": false}]})", ArgumentKind::bool_) == "p 0 ");
  CHECK(s.list(R"({"as_optional_tensors": [{"as_none": true}, {"as_tensor": {"name": "a"}}]})", ArgumentKind::value) ==
        "None a ");
  CHECK(s.list(R"({"as_nested_tensors": [[{"name": "a"}], []]})", ArgumentKind::list) == "[a ] [] ");
  CHECK(s.list(R"({"as_int_lists": [[1, 2], [3]]})", ArgumentKind::list) == "[1 2 ] [3 ] ");
  CHECK(s.list(R"({"as_float_lists": [[1, 0.5], []]})", ArgumentKind::list) == "[1.000000 0.500000 ] [] ");
  const Argument dictionary = s.used(R"({"as_string_to_argument": {"k": {"as_int": 3}, "l": {"as_ints": [4]}}})");
  CHECK(s.items(dictionary) == "3 [4 ] ");
  CHECK(s.builder.module().view().str(s.builder.module().view().args(dictionary.items)[1].name) == "l");
}

TEST_CASE("damaged arguments are refused with their place") {
  Scene s;
  CHECK(s.refused("3") == "arg: expected an object with one key, found an integer");
  CHECK(s.refused("{}") == "arg: expected an object with exactly one key, found 0");
  CHECK(s.refused(R"({"as_what": 3})") == "arg.as_what: arguments of kind 'as_what' are not known");
  CHECK(s.refused(R"({"as_int": 1.5})").starts_with("arg.as_int: expected an integer of 64 bits"));
  CHECK(s.refused(R"({"as_tensor": {"name": "z"}})") == "arg.as_tensor.name: value 'z' does not exist in this graph");
  CHECK(s.refused(R"({"as_tensors": [{"name": "a"}, {"name": "c"}]})") ==
        "arg.as_tensors[1].name: value 'c' is used before it is defined");
  CHECK(s.refused(R"({"as_tensor": {"name": "a"}})", true) == "arg.as_tensor.name: value 'a' is defined a second time");
  CHECK(s.refused(R"({"as_tensor": {"name": "s"}})") == "arg.as_tensor.name: value 's' is of another kind");
  CHECK(s.refused(R"({"as_sym_int": {"as_name": "a"}})") == "arg.as_sym_int.as_name: value 'a' is of another kind");
  CHECK(s.refused(R"({"as_sym_int": {"as_float": 1}})") == "arg.as_sym_int.as_float: expected as_name or as_int");
  CHECK(s.refused(R"({"as_graph": {}})") == "arg.as_graph: a sub-graph cannot stand here");
  CHECK(s.refused(R"({"as_scalar_type": 99})") == "arg.as_scalar_type: scalar type 99 is not known");
  CHECK(s.refused(R"({"as_optional_tensors": [{"as_int": 3}]})") ==
        "arg.as_optional_tensors[0].as_int: expected a tensor or none");
  std::string deep = R"({"as_int": 3})";
  for (int i = 0; i < 5; ++i) deep = R"({"as_string_to_argument": {"k": )" + deep + "}}";
  CHECK(s.refused(deep).ends_with("dictionaries are nested too deeply"));
}
