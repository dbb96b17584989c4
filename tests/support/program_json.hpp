// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

/// Writes the JSON of exported programs, in parts.
namespace program_json {

using std::string;

/// A TensorMeta of float32 with these sizes and strides: "2, 3" and "3, 1".
inline string meta(std::string_view sizes, std::string_view strides, std::string_view dtype = "7") {
  const auto numbers = [](std::string_view list) {
    string all;
    while (!list.empty()) {
      const std::size_t end = list.find(", ");
      all += (all.empty() ? "" : ", ") + string(R"({"as_int": )") + string(list.substr(0, end)) + "}";
      list = end == list.npos ? "" : list.substr(end + 2);
    }
    return "[" + all + "]";
  };
  return R"({"dtype": )" + string(dtype) + R"(, "sizes": )" + numbers(sizes) +
         R"(, "requires_grad": false, "device": {"type": "cpu"}, "strides": )" + numbers(strides) +
         R"(, "storage_offset": {"as_int": 0}, "layout": 7})";
}
inline string vector_meta() { return meta("2", "1"); }

inline string tensor(std::string_view name) { return R"({"as_tensor": {"name": ")" + string(name) + R"("}})"; }
inline string named(std::string_view name, const string& argument) {
  return R"({"name": ")" + string(name) + R"(", "arg": )" + argument + "}";
}
inline string node(std::string_view target, const string& inputs, const string& outputs,
                   const string& metadata = "{}") {
  return R"({"target": ")" + string(target) + R"(", "inputs": [)" + inputs + R"(], "outputs": [)" + outputs +
         R"(], "metadata": )" + metadata + "}";
}
/// torch.ops.aten.add.Tensor(a, b) -> out
inline string add(std::string_view a, std::string_view b, std::string_view out) {
  return node("torch.ops.aten.add.Tensor", named("self", tensor(a)) + ", " + named("other", tensor(b)), tensor(out));
}

struct GraphText {
  string inputs;
  string nodes;
  string outputs;
  string tensor_values;
  string others = R"("sym_int_values": {}, "sym_bool_values": {}, "custom_obj_values": {}, "sym_float_values": {})";

  [[nodiscard]] string text() const {
    return R"({"inputs": [)" + inputs + R"(], "outputs": [)" + outputs + R"(], "nodes": [)" + nodes +
           R"(], "tensor_values": {)" + tensor_values + "}, " + others + R"(, "is_single_tensor_return": false})";
  }
};

/// "name": meta
inline string value(std::string_view name, const string& description = vector_meta()) {
  return "\"" + string(name) + "\": " + description;
}

struct ProgramText {
  GraphText graph{.inputs = tensor("p_w") + ", " + tensor("x"),
                  .nodes = add("x", "p_w", "y"),
                  .outputs = tensor("y"),
                  .tensor_values = value("p_w") + ", " + value("x") + ", " + value("y")};
  string input_specs = R"({"parameter": {"arg": {"name": "p_w"}, "parameter_name": "w"}},
                          {"user_input": {"arg": {"as_tensor": {"name": "x"}}}})";
  string output_specs = R"({"user_output": {"arg": {"as_tensor": {"name": "y"}}}})";
  string calls = "";
  string rest = R"("opset_version": {"aten": 10}, "range_constraints": {}, "schema_version": {"major": 8, "minor": 2},
                   "verifiers": ["ATEN"], "torch_version": "2.6.0")";

  [[nodiscard]] string text() const {
    return R"({"graph_module": {"graph": )" + graph.text() + R"(, "signature": {"input_specs": [)" + input_specs +
           R"(], "output_specs": [)" + output_specs + R"(]}, "module_call_graph": [)" + calls +
           R"(], "metadata": {}}, )" + rest + "}";
  }
};

}  // namespace program_json
