// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/example_inputs.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "davit/formats/pt2.hpp"
#include "support/data.hpp"
#include "support/pickle_text.hpp"

using namespace davit;
using namespace davit::formats;
using namespace pickle_text;

namespace {

const std::string leaf = R"({"type": null, "context": null, "children_spec": []})";

std::string spec(std::string_view type, std::string_view context, const std::string& children) {
  std::string escaped;
  for (const char c : context) escaped += c == '"' ? std::string("\\\"") : std::string(1, c);
  return R"({"type": ")" + std::string(type) + R"(", "context": ")" + escaped + R"(", "children_spec": [)" + children +
         "]}";
}
/// The specification of (args, kwargs).
std::string call_spec(const std::string& args, std::string_view keys = "[]", const std::string& kwargs = {}) {
  return "[1, " +
         spec("builtins.tuple", "null",
              spec("builtins.tuple", "null", args) + ", " + spec("builtins.dict", keys, kwargs)) +
         "]";
}
std::string list_of(std::initializer_list<std::string> items) {
  std::string all = "](";
  for (const std::string& item : items) all += item;
  return all + "e";
}
std::string floats(std::int64_t offset) { return tensor(storage("FloatStorage", "0", 4), offset, {2}, {1}); }

Result<std::vector<ExampleInput>> read(const std::string& value, const std::string& in_spec,
                                       const Limits& limits = {}) {
  Result<TorchSave> opened = TorchSave::open(saved(value).add("archive/data/0", "0123456789abcdef").bytes(), "s.pt");
  REQUIRE_MESSAGE(opened, value);
  return read_example_inputs(*opened, in_spec, limits);
}
std::vector<ExampleInput> examples(const std::string& value, const std::string& in_spec) {
  const auto found = read(value, in_spec);
  REQUIRE_MESSAGE(found, to_string(found.error()));
  return *found;
}
void check_refused(const std::string& value, const std::string& in_spec, std::string_view what) {
  const auto found = read(value, in_spec);
  REQUIRE(!found);
  CHECK_MESSAGE(to_string(found.error()).find(what) != std::string::npos, to_string(found.error()));
}

}  // namespace

TEST_CASE("values of each kind, in the order of the specification") {
  const std::string real = "G" + std::string("\x3f\xe0\0\0\0\0\0\0", 8);
  const auto values = examples(tuple({tuple({floats(2), integer(-7), real, boolean(true), text("mode"), "N"}), "}"}),
                               call_spec(leaf + ", " + leaf + ", " + leaf + ", " + leaf + ", " + leaf + ", " + leaf));
  REQUIRE(values.size() == 6);
  const Tensor& tensor = std::get<Tensor>(values[0]);
  CHECK(tensor.sizes == std::vector<std::int64_t>{2});
  CHECK(tensor.storage_offset == 2);
  CHECK(std::get<std::int64_t>(values[1]) == -7);
  CHECK(std::get<double>(values[2]) == 0.5);
  CHECK(std::get<bool>(values[3]));
  CHECK(std::get<Name>(values[4]) == "mode");
  CHECK(std::holds_alternative<std::monostate>(values[5]));
}

TEST_CASE("containers are taken apart, dictionaries by the order of their keys in the specification") {
  const std::string pair = leaf + ", " + leaf;
  const std::string nested = spec("builtins.list", "null", leaf + ", " + spec("builtins.tuple", "null", pair));
  const auto values = examples(tuple({tuple({list_of({integer(1), tuple({integer(2), integer(3)})})}),
                                      dict({text("b"), integer(5), text("a"), integer(4), "K\x09", integer(6)})}),
                               call_spec(nested, R"(["a", "b", 9])", pair + ", " + leaf));
  REQUIRE(values.size() == 6);
  for (std::size_t i = 0; i < values.size(); ++i)
    CHECK(std::get<std::int64_t>(values[i]) == static_cast<std::int64_t>(i) + 1);
}

TEST_CASE("registered containers are taken apart without their classes") {
  const std::string pair = leaf + ", " + leaf;
  const std::string named = global("model", "Pair") + tuple({integer(1), integer(2)}) + "\x81";
  const std::string ordered =
      call("collections", "OrderedDict", ")") + "(" + text("u") + integer(3) + text("v") + integer(4) + "u";
  const std::string data =
      global("model", "Data") + ")\x81" + dict({text("y"), integer(6), text("x"), integer(5)}) + "b";
  const std::string queue = call("collections", "deque", tuple({"]", "K\x05"})) + "(" + integer(7) + integer(8) + "e";
  const auto values = examples(
      tuple({tuple({named, ordered, data, queue}), "}"}),
      call_spec(spec("collections.namedtuple", R"("model.Pair")", pair) + ", " +
                spec("collections.OrderedDict", R"(["u", "v"])", pair) + ", " +
                spec("model.Data", R"([["x", "y"], []])", pair) + ", " + spec("collections.deque", "5", pair)));
  REQUIRE(values.size() == 8);
  for (std::size_t i = 0; i < values.size(); ++i)
    CHECK(std::get<std::int64_t>(values[i]) == static_cast<std::int64_t>(i) + 1);
}

TEST_CASE("inputs that the specification does not describe, or that are not plain values, are refused") {
  check_refused(tuple({tuple({integer(1)}), "}"}), call_spec(leaf + ", " + leaf), "not what the specification");
  check_refused(tuple({tuple({integer(1)}), "}"}), call_spec(""), "not what the specification");
  check_refused(tuple({")", dict({text("b"), integer(5)})}), call_spec("", R"(["a"])", leaf),
                "not what the specification");
  check_refused(tuple({")", dict({text("a"), integer(5), text("b"), integer(6)})}), call_spec("", R"(["a"])", leaf),
                "not what the specification");
  check_refused(tuple({tuple({call("os", "system", tuple({text("ls")}))}), "}"}), call_spec(leaf), "'os' 'system'");
  check_refused(tuple({tuple({call("builtins", "complex", tuple({integer(1), integer(2)}))}), "}"}), call_spec(leaf),
                "not supported");
  check_refused(tuple({tuple({"\x8a\x09" + std::string(9, '\x7f')}), "}"}), call_spec(leaf), "not a tensor");
  check_refused(tuple({tuple({floats(3)}), "}"}), call_spec(leaf), "bytes");
  check_refused("N", call_spec(""), "not what the specification");
  check_refused("N", "[1]", "expected a version and a specification");
  check_refused("N", "{}", "expected an array");
  check_refused("N", "", "not JSON");
}

TEST_CASE("a list that holds itself ends with the specification, and many leaves of one value with the limits") {
  const std::string own = "]q\x01" + std::string("h\x01") + "a";
  std::string chain = leaf;
  for (int i = 0; i < 20; ++i) chain = spec("builtins.list", "null", chain);
  check_refused(tuple({tuple({own}), "}"}), call_spec(chain), "not a tensor");
  std::string deep = leaf;
  for (int i = 0; i < 600; ++i) deep = spec("builtins.list", "null", deep);
  check_refused(tuple({tuple({own}), "}"}), call_spec(deep), "max_depth");
  const auto many = read(tuple({list_of({integer(1), integer(2), integer(3)}), "}"}),
                         call_spec(leaf + ", " + leaf + ", " + leaf), {.max_nodes = 47});
  CHECK(!many);
}

TEST_CASE("programs have the inputs that they were exported with, in every layout") {
  for (const std::string layout : {"", ".v28", ".v29"}) {
    const auto program = read_pt2(test_data("pt2/cond_nested" + layout + ".pt2"));
    REQUIRE(program);
    REQUIRE(program->example_inputs);
    CHECK(program->example_inputs->size() == program->signature.user_inputs().size());
    for (const ExampleInput& each : *program->example_inputs) CHECK(std::holds_alternative<Tensor>(each));
  }
  const auto nested = read_pt2(test_data("models/nested_io/program.pt2"));
  REQUIRE(nested);
  REQUIRE(nested->example_inputs);
  CHECK(nested->example_inputs->size() == nested->signature.user_inputs().size());
  const auto primitives = read_pt2(test_data("models/primitive_inputs/program.pt2"));
  REQUIRE(primitives);
  REQUIRE(primitives->example_inputs);
  REQUIRE(primitives->example_inputs->size() == 5);
  CHECK(std::holds_alternative<std::int64_t>((*primitives->example_inputs)[1]));
  CHECK(std::holds_alternative<double>((*primitives->example_inputs)[2]));
  CHECK(std::holds_alternative<bool>((*primitives->example_inputs)[3]));
  CHECK(std::holds_alternative<Name>((*primitives->example_inputs)[4]));
  const auto none = read_pt2(test_data("models/no_user_inputs/program.pt2"));
  REQUIRE(none);
  REQUIRE(none->example_inputs);
  CHECK(none->example_inputs->empty());
}
