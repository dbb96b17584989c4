// SPDX-License-Identifier: MIT
#include "davit/program/operators/movement.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "davit/program/views.hpp"
#include "one_call.hpp"

using namespace davit;
using operators::PadView;
using operators::PermutationView;
using operators::SliceView;

namespace {

using B = GraphBuilder;
using Sizes = std::initializer_list<std::int64_t>;

constexpr one_call::Reading<PermutationView> permutation(std::string_view target, Sizes sizes, Sizes dims) {
  return one_call::reading<PermutationView>(
      [&](GraphBuilder& b) {
        const Argument x = b.value(one_call::tensor(b, sizes));
        if (target != "aten.transpose.int") return one_call::call(b, target, {{"self", x}, {"dims", b.ints(dims)}});
        return one_call::call(
            b, target, {{"self", x}, {"dim0", b.integer(dims.begin()[0])}, {"dim1", b.integer(dims.begin()[1])}});
      },
      [](const auto& call, PermutationView& view) { return operators::read_permutation(call, view); });
}
constexpr bool check_permutations() {
  const Sizes three{2, 3, 4};
  return permutation("aten.permute.default", three, {2, -3, 1}).view ==
             PermutationView{.input = 0, .rank = 3, .from = {2, 0, 1}} &&
         permutation("aten.transpose.int", three, {-1, 0}).view.from ==
             permutation("aten.permute.default", three, {2, 1, 0}).view.from &&
         permutation("aten.t.default", {2, 3}, {}).view == PermutationView{.input = 0, .rank = 2, .from = {1, 0}} &&
         permutation("aten.t.default", {2}, {}).view == PermutationView{.input = 0, .rank = 1} &&
         permutation("aten.transpose.int", {}, {0, -1}).why.empty();
}
constexpr bool check_composition() {
  const PermutationView turn{.input = 1, .rank = 3, .from = {2, 0, 1}}, first{.input = 0, .rank = 3, .from = {1, 0, 2}};
  return turn.after(first) == PermutationView{.input = 0, .rank = 3, .from = {2, 1, 0}} &&
         turn.after(turn).after(turn).is_identity() && !turn.is_identity();
}
static_assert(check_composition());
static_assert(check_permutations());

constexpr bool check_hostile_permutations() {
  const Sizes three{2, 3, 4};
  const std::string_view rank = "a dimension is outside the tensor's rank";
  return permutation("aten.permute.default", three, {0, 1}).why ==
             "a permutation needs one entry per dimension of the tensor" &&
         permutation("aten.permute.default", three, {0, 1, 3}).why == rank &&
         permutation("aten.permute.default", three, {0, 1, -2}).why == "a dimension is named twice" &&
         permutation("aten.transpose.int", three, {0, INT64_MAX}).why == rank &&
         permutation("aten.t.default", three, {}).why == "t takes at most two dimensions" &&
         permutation("aten.permute.default", {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {}).why ==
             "a tensor has too many dimensions" &&
         permutation("aten.relu.default", three, {}).why == "the operator is no permutation";
}
static_assert(check_hostile_permutations());

constexpr one_call::Reading<SliceView> slice(std::string_view target, Argument dim, Argument start,
                                             Argument step = B::none(), Argument end = B::none()) {
  return one_call::reading<SliceView>(
      [&](GraphBuilder& b) {
        const std::string_view name = target.find(".select") != std::string_view::npos ? "index" : "start";
        const Argument x = b.value(one_call::tensor(b, {2, 3, 4}));
        return one_call::call(b, target,
                              {{"self", x}, {"src", x}, {"dim", dim}, {name, start}, {"end", end}, {"step", step}});
      },
      [](const auto& call, SliceView& view) { return operators::read_slice(call, view); });
}
constexpr bool check_slices() {
  const auto none = B::none();
  return slice("aten.slice.Tensor", none, none).view == SliceView{.input = 0, .length = 2} &&
         slice("aten.slice.Tensor", B::integer(-1), B::integer(-3), B::integer(2)).view ==
             SliceView{.input = 0, .dim = 2, .start = 1, .step = 2, .length = 2} &&
         slice("aten.slice.Tensor", B::integer(2), none, B::integer(3), B::integer(-1)).view.length == 1 &&
         slice("aten.slice.Tensor", B::integer(2), B::integer(3), none, B::integer(1)).view.length == 0 &&
         slice("aten.slice.Tensor", B::integer(2), none, none, B::integer(INT64_MIN)).view.length == 0 &&
         slice("aten.slice.Tensor", B::integer(2), none, none, B::integer(INT64_MAX)).view.length == 4 &&
         slice("aten.slice.Tensor", B::integer(2), none, none, B::value(0)).view.length == -1 &&
         slice("aten.slice_scatter.default", B::integer(1), B::integer(1)).view ==
             SliceView{.input = 0, .dim = 1, .start = 1, .length = 2, .source = 0} &&
         slice("aten.select_scatter.default", B::integer(1), B::integer(3)).why ==
             "the index is outside the dimension" &&
         slice("aten.slice.Tensor", B::integer(1), B::integer(INT64_MIN)).view.start == 0 &&
         slice("aten.slice.Tensor", B::integer(1), B::integer(INT64_MAX)).view.start == 3 &&
         slice("aten.select.int", B::integer(1), B::integer(-1)).view ==
             SliceView{.input = 0, .dim = 1, .start = 2, .length = 1, .selects = true} &&
         slice("aten.select.int", B::integer(1), B::integer(3)).why == "the index is outside the dimension" &&
         slice("aten.select.int", B::integer(1), B::integer(INT64_MIN)).why == "the index is outside the dimension" &&
         slice("aten.slice.Tensor", B::integer(3), none).why == "the dimension is out of range" &&
         slice("aten.slice.Tensor", none, none, B::integer(0)).why == "the step must be positive" &&
         slice("aten.slice.Tensor", none, B::real(1)).why == "an index is not known" &&
         slice("aten.relu.default", none, none).why == "the operator is no slice";
}
static_assert(check_slices());

/// Part `item` of a 2 x 7 tensor that is split along `dim` into parts of these lengths.
constexpr one_call::Reading<SliceView> part(std::string_view target, std::int64_t dim, Sizes lengths,
                                            std::size_t item) {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = one_call::tensor(b, {2, 7});
  std::vector<Argument> made;
  for (const std::int64_t length : lengths)
    made.push_back(b.value(length < 0 ? b.tensor("y", ScalarType::float32, {2})
                                      : b.tensor("y", ScalarType::float32, {2, length})));
  const Argument inputs[] = {b.value(x), b.integer(3), b.integer(dim)};
  const Argument outputs[] = {b.list(made, ArgumentKind::value)};
  b.node(target, inputs, outputs);
  b.end_graph({x});
  const GraphModule module = std::move(b).finish();
  one_call::Reading<SliceView> answer;
  if (const operators::Refusal wrong =
          operators::read_part(operators::NodeArguments(module.view(), 0), made[item].value(), answer.view))
    return {.why = wrong.what};
  return answer;
}
constexpr bool check_parts() {
  constexpr auto huge = std::numeric_limits<std::int64_t>::max();
  return part("aten.split.Tensor", 1, {3, 3, 1}, 0).view == SliceView{.input = 0, .dim = 1, .start = 0, .length = 3} &&
         part("aten.chunk.default", -1, {3, 3, 1}, 2).view ==
             SliceView{.input = 0, .dim = 1, .start = 6, .length = 1} &&
         part("aten.tensor_split.sections", 1, {4, 3}, 1).view ==
             SliceView{.input = 0, .dim = 1, .start = 4, .length = 3} &&
         part("aten.split.Tensor", 2, {3, 4}, 1).why == "the dimension is out of range" &&
         part("aten.split.Tensor", 1, {3, -1, 4}, 2).why == "a part has another rank" &&
         part("aten.split.Tensor", 1, {huge, huge, 1}, 2).why == "the parts are larger than any tensor" &&
         part("aten.unbind.int", 1, {3, 4}, 1).why == "the operator is no split";
}
static_assert(check_parts());

constexpr one_call::Reading<PadView> pad(Sizes amounts, Argument value = B::none()) {
  return one_call::reading<PadView>(
      [&](GraphBuilder& b) {
        return one_call::call(
            b, "aten.constant_pad_nd.default",
            {{"self", b.value(one_call::tensor(b, {2, 3, 4}))}, {"pad", b.ints(amounts)}, {"value", value}});
      },
      [](const auto& call, PadView& view) { return operators::read_pad(call, view); });
}
constexpr one_call::Reading<PadView> pad_of_edges(Argument amounts) {
  return one_call::reading<PadView>(
      [&](GraphBuilder& b) {
        return one_call::call(b, "aten.reflection_pad1d.default",
                              {{"self", b.value(one_call::tensor(b, {2, 3, 4}))}, {"padding", amounts}});
      },
      [](const auto& call, PadView& view) { return operators::read_pads(call, "padding", view); });
}
constexpr bool check_pads() {
  return pad({1, 2, 0, -1}, B::integer(5)).view ==
             PadView{.input = 0, .rank = 3, .before = {0, 0, 1}, .after = {0, -1, 2}, .value = 5} &&
         pad({}).view == PadView{.input = 0, .rank = 3} &&
         pad_of_edges(B::integer(1)).why ==
             "padding takes two numbers for each dimension, and no more dimensions than the tensor has" &&
         pad_of_edges(B::none()).why == "the padding is missing" &&
         pad({1}).why == "padding takes two numbers for each dimension, and no more dimensions than the tensor has" &&
         pad({1, 1, 1, 1, 1, 1, 1, 1}).why ==
             "padding takes two numbers for each dimension, and no more dimensions than the tensor has" &&
         pad({INT64_MAX, 0}).why == "the padding is too large" &&
         pad({0, INT64_MIN}).why == "the padding is too large" &&
         pad({1, 1}, B::value(0)).why == "the value is no number";
}
static_assert(check_pads());

constexpr one_call::Reading<std::size_t> cat(Argument dim, std::size_t rank, bool empty = false) {
  return one_call::reading<std::size_t>(
      [&](GraphBuilder& b) {
        const ValueId x = one_call::tensor(b, {2, 3});
        const Argument items[] = {b.value(x), b.value(x)};
        const Argument list = b.list(std::span<const Argument>(items, empty ? 0 : 2), ArgumentKind::value);
        return one_call::call(b, "aten.cat.default", {{"tensors", list}, {"dim", dim}});
      },
      [&](const auto& call, std::size_t& axis) { return operators::read_cat(call, rank, axis); });
}
constexpr bool check_cats() {
  return cat(B::none(), 2).view == 0 && cat(B::integer(-1), 2).view == 1 &&
         cat(B::integer(2), 2).why == "the dimension is out of range" &&
         cat(B::none(), 0).why == "the dimension is out of range" &&
         cat(B::value(0), 2).why == "the dimension is not known" &&
         cat(B::none(), 2, true).why == "its operands are no list";
}
static_assert(check_cats());

}  // namespace

TEST_CASE("orders of dimensions") {
  CHECK(check_permutations());
  CHECK(check_composition());
  CHECK(check_hostile_permutations());
}

TEST_CASE("slices and selections begin within their dimension") { CHECK(check_slices()); }

TEST_CASE("the parts of a split follow each other, with their given lengths") { CHECK(check_parts()); }

TEST_CASE("padding: the last dimension first") { CHECK(check_pads()); }

TEST_CASE("concatenations") { CHECK(check_cats()); }

TEST_CASE("operators that keep the order of the elements") {
  const auto keeps = [](std::string_view target, std::optional<bool> train = std::nullopt) {
    return one_call::reading<bool>(
               [&](GraphBuilder& b) {
                 const Argument x = b.value(one_call::tensor(b, {4}));
                 return train ? one_call::call(b, target,
                                               {{"input", x}, {"p", b.real(0.5)}, {"train", b.boolean(*train)}})
                              : one_call::call(b, target, {{"self", x}});
               },
               [](const auto& call, bool& answer) {
                 answer = operators::read_same_elements(call) != no_id;
                 return operators::Refusal{};
               })
        .view;
  };
  static_assert(keeps("aten.view.default") && keeps("aten.clone.default") && !keeps("aten.permute.default"));
  CHECK(!keeps("aten.relu.default"));
  CHECK(keeps("aten.dropout.default", false));
  CHECK(!keeps("aten.dropout.default", true));
}

TEST_CASE("movement operators have their arguments in the places of the schemas") {
  for (const operators::PermutationOperator& op : operators::permutation_operators) {
    CHECK(one_call::stands_there(op.target, {"self", 0}));
    if (op.form == operators::PermutationForm::list) CHECK(one_call::stands_there(op.target, {"dims", 1}));
    if (op.form == operators::PermutationForm::pair) CHECK(one_call::stands_there(op.target, {"dim1", 2}));
  }
  for (const operators::SliceOperator& op : operators::slice_operators) {
    CHECK(one_call::stands_there(op.target, op.at("dim", 1)));
    CHECK(one_call::stands_there(op.target, op.at(op.selects ? "index" : "start", 2)));
    if (!op.selects) CHECK(one_call::stands_there(op.target, op.at("end", 3)));
    if (!op.selects) CHECK(one_call::stands_there(op.target, op.at("step", 4)));
    if (op.puts) CHECK(one_call::stands_there(op.target, {"src", 1}));
  }
  CHECK(one_call::stands_there("aten.constant_pad_nd.default", {"pad", 1}));
  CHECK(one_call::stands_there("aten.constant_pad_nd.default", {"value", 2}));
  CHECK(one_call::stands_there("aten.cat.default", {"dim", 1}));
  for (const char* target :
       {"aten.reflection_pad1d.default", "aten.reflection_pad2d.default", "aten.reflection_pad3d.default",
        "aten.replication_pad2d.default", "aten.replication_pad3d.default"})
    CHECK(one_call::stands_there(target, {"padding", 1}));
  for (const char* target : operators::split_operators) {
    CHECK(one_call::stands_there(target, {"dim", 2}));
    CHECK(view_kind(target) == ViewKind::split);
  }
}
