// SPDX-License-Identifier: MIT
#include "davit/program/operators/spatial.hpp"

#include <doctest/doctest.h>

#include <string_view>

#include "one_call.hpp"

using namespace davit;
using operators::Spatial;

namespace {

/// Reads the argument that `make` adds as parameters of `dims` dimensions.
constexpr std::pair<Spatial, std::string_view> read(std::size_t dims, auto&& make) {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = one_call::tensor(b, {2, 5, 7});
  const Argument list = make(b);
  b.end_graph({one_call::call(b, "toy.op.default", {{"self", b.value(x)}, {"list", list}})});
  const GraphModule module = std::move(b).finish();
  const operators::NodeArguments call(module.view(), 0);
  Spatial out{};
  const operators::Refusal wrong = operators::read_spatial(call, {"list", 1}, dims, 0, 1, out);
  return {out, wrong ? wrong.what : ""};
}
constexpr bool check() {
  const auto list = [](std::initializer_list<std::int64_t> numbers) {
    return [numbers](GraphBuilder& b) { return b.ints(numbers); };
  };
  const auto one = [](Argument a) { return [a](GraphBuilder&) { return a; }; };
  using B = GraphBuilder;
  return read(2, list({3, 4})).first == Spatial{1, 3, 4} && read(3, list({5})).first == Spatial{5, 5, 5} &&
         read(1, one(B::integer(6))).first == Spatial{1, 1, 6} && read(2, one(B::none())).first == Spatial{1, 1, 1} &&
         read(2, list({})).second == "a list of window sizes, strides, paddings or dilations has the wrong length" &&
         read(2, list({1, 2, 3})).second ==
             "a list of window sizes, strides, paddings or dilations has the wrong length" &&
         read(2, one(B::real(2))).second ==
             "a list of window sizes, strides, paddings or dilations has the wrong length" &&
         read(2, list({1, operators::max_window})).second.empty() &&
         read(2, list({1, operators::max_window + 1})).second ==
             "a window size, stride, padding or dilation is negative, zero or too large" &&
         read(2, [](GraphBuilder& b) {
           const Argument items[] = {b.integer(1), b.value(0)};
           return b.list(items, ArgumentKind::value);
         }).second == "a window argument is not an int";
}
static_assert(check());
static_assert(operators::volume({2, 3, 4}) == 24);

constexpr bool check_sizes() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = one_call::tensor(b, {2, 5, 7});
  b.end_graph({one_call::call(b, "toy.op.default", {{"self", b.value(x)}})});
  const GraphModule module = std::move(b).finish();
  const operators::NodeArguments call(module.view(), 0);
  return operators::spatial_sizes(call, x, 1) == Spatial{1, 1, 7} &&
         operators::spatial_sizes(call, x, 3) == Spatial{2, 5, 7};
}
static_assert(check_sizes());

}  // namespace

TEST_CASE("spatial numbers: as many as there are dimensions, or one for all") {
  CHECK(check());
  CHECK(check_sizes());
}
