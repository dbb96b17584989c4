// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/pytree_json.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace davit;
using namespace davit::formats;

namespace {

const std::string leaf = R"({"type": null, "context": null, "children_spec": []})";

[[nodiscard]] std::string node(std::string_view type, std::string_view context, std::string_view children) {
  return std::string(R"({"type": ")")
      .append(type)
      .append(R"(", "context": )")
      .append(context)
      .append(R"(, "children_spec": [)")
      .append(children)
      .append("]}");
}
[[nodiscard]] std::vector<Name> names(const std::string& spec) { return pytree_names("[1, " + spec + "]"); }
[[nodiscard]] std::string two(const std::string& first, const std::string& second) { return first + ", " + second; }

}  // namespace

TEST_CASE("leaves in dicts and dataclasses are named by their path") {
  const std::string pair = node("builtins.tuple", R"("null")", two(leaf, leaf));
  CHECK(names(node("builtins.dict", R"("[\"logits\", \"past\"]")", two(leaf, pair))) ==
        std::vector<Name>{"logits", "past.0", "past.1"});
  CHECK(names(node("m.Answer", R"("[[\"logits\", \"past\"], [\"loss\"]]")", two(leaf, pair))) ==
        std::vector<Name>{"logits", "past.0", "past.1"});
  CHECK(names(node("collections.OrderedDict", R"("[3, \"a.b\"]")", two(leaf, leaf))) == std::vector<Name>{"3", "a.b"});
  CHECK(names(node("collections.defaultdict", R"("{\"default_factory_name\": \"list\", \"dict_context\": [\"k\"]}")",
                   leaf)) == std::vector<Name>{"k"});
  CHECK(names(node("builtins.dict", R"("[\"a\"]")", node("builtins.dict", R"("[\"b\"]")", leaf))) ==
        std::vector<Name>{"a.b"});
}

TEST_CASE("where no key leads, there is no name") {
  CHECK(names(leaf) == std::vector<Name>{""});
  CHECK(names(node("builtins.tuple", R"("null")", two(leaf, leaf))) == std::vector<Name>{"", ""});
  CHECK(names(node("builtins.list", R"("null")", two(leaf, node("builtins.dict", R"("[\"z\"]")", leaf)))) ==
        std::vector<Name>{"", "1.z"});
  CHECK(names(node("collections.namedtuple", R"("m.Pair")", two(leaf, leaf))) == std::vector<Name>{"", ""});
  CHECK(names(node("m.Own", R"("[[1, 2], 3]")", two(leaf, leaf))) == std::vector<Name>{"", ""});
  CHECK(names(node("builtins.dict", R"("[]")", "")).empty());
}

TEST_CASE("malformed specifications name nothing") {
  for (const std::string_view text : {"", "[", "7", "{}", "[1]", "[1, {}]", "[1, 2]", R"([1, {"type": null}])",
                                      R"([1, {"type": "t", "context": "null", "children_spec": 3}])"})
    CHECK_MESSAGE(pytree_names(text).empty(), text);
  // one child too many, invalid keys
  CHECK(names(node("builtins.dict", R"("[\"a\"]")", two(leaf, leaf))) == std::vector<Name>{"", ""});
  CHECK(names(node("builtins.dict", R"("[null]")", leaf)) == std::vector<Name>{""});
  CHECK(names(node("builtins.dict", R"("[18446744073709551615]")", leaf)).size() == 1);
  // a long path to each of many leaves would be a large result of a small file
  const std::string key = R"("[\")" + std::string(300, 'k') + R"(\"]")";
  CHECK(names(node("builtins.dict", key, leaf)).empty());
}
