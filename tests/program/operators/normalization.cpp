// SPDX-License-Identifier: MIT
#include "davit/program/operators/normalization.hpp"

#include <doctest/doctest.h>

#include "one_call.hpp"

using namespace davit;
using operators::BatchNormView;
using operators::GroupNormView;
using operators::LayerNormView;

namespace {

using Sizes = std::initializer_list<std::int64_t>;

struct Given {
  std::string_view target = "aten.batch_norm.default";
  Sizes input{1, 3, 2};
  Sizes weight{3};
  bool has_mean = true;
  bool has_variance = true;
  Argument training = GraphBuilder::boolean(false);
  Argument eps = GraphBuilder::real(0.5);
};
constexpr one_call::Reading<BatchNormView> read(const Given& g) {
  return one_call::reading<BatchNormView>(
      [&](GraphBuilder& b) {
        const Argument x = b.value(one_call::tensor(b, g.input)), w = b.value(one_call::tensor(b, g.weight)),
                       mean = b.value(one_call::tensor(b, {3}));
        return one_call::call(b, g.target,
                              {{"input", x},
                               {"weight", w},
                               {"bias", b.none()},
                               {"running_mean", g.has_mean ? mean : b.none()},
                               {"running_var", g.has_variance ? mean : b.none()},
                               {"training", g.training},
                               {"momentum", b.real(0.25)},
                               {"eps", g.eps}});
      },
      [](const auto& call, BatchNormView& view) { return operators::read_batch_norm(call, view); });
}

constexpr bool check_batch_norm() {
  BatchNormView expected{.input = 0, .weight = 1, .mean = 2, .variance = 2, .momentum = 0.25, .eps = 0.5};
  const bool plain = read({}).why.empty() && read({}).view == expected;
  const bool decomposed = read({.target = "aten._native_batch_norm_legit_no_training.default"}).view == expected;
  const auto alone =
      read({.target = "aten._native_batch_norm_legit.no_stats", .training = GraphBuilder::boolean(true)});
  expected.mean = expected.variance = no_id;
  expected.training = true;
  return plain && decomposed && alone.view == expected;
}
static_assert(check_batch_norm());

constexpr bool check_hostile_batch_norm() {
  return read({.input = {3}}).why == "batch_norm: the input needs at least two dimensions" &&
         read({.weight = {2}}).why == "batch_norm: a parameter needs one element per channel" &&
         read({.weight = {3, 1}}).why == "batch_norm: a parameter must have one dimension" &&
         read({.has_mean = false}).why == "batch_norm: the running statistics must be given" &&
         read({.has_mean = false, .training = GraphBuilder::boolean(true)}).why ==
             "batch_norm: the running statistics must be given" &&
         read({.training = GraphBuilder::none()}).why == "batch_norm: whether it trains is not known" &&
         read({.eps = GraphBuilder::value(0)}).why == "batch_norm: momentum or epsilon is no number" &&
         read({.target = "aten.relu.default"}).why == "the operator is no batch norm";
}
static_assert(check_hostile_batch_norm());

constexpr one_call::Reading<LayerNormView> layer(Sizes normalized, Sizes weight, Sizes input = {2, 3, 4}) {
  return one_call::reading<LayerNormView>(
      [&](GraphBuilder& b) {
        const Argument x = b.value(one_call::tensor(b, input)), w = b.value(one_call::tensor(b, weight));
        return one_call::call(b, "aten.layer_norm.default",
                              {{"input", x}, {"normalized_shape", b.ints(normalized)}, {"weight", w}});
      },
      [](const auto& call, LayerNormView& view) { return operators::read_layer_norm(call, view); });
}
constexpr bool check_layer_norm() {
  const std::string_view sizes = "layer_norm: normalized_shape does not match the input's sizes";
  const std::string_view rank = "layer_norm: normalized_shape does not fit the input's rank";
  const std::string_view parameters = "layer_norm: weight and bias must have the sizes normalized_shape";
  return layer({3, 4}, {3, 4}).view == LayerNormView{.input = 0, .weight = 1, .dims = 2, .eps = 1e-5} &&
         layer({4}, {4}).view.dims == 1 && layer({3}, {3}).why == sizes && layer({}, {4}).why == rank &&
         layer({1, 2, 3, 4}, {4}).why == rank && layer({3, 4}, {12}).why == parameters &&
         layer({4}, {3}).why == parameters && layer({1}, {1}, {}).why == rank;
}
static_assert(check_layer_norm());

constexpr one_call::Reading<GroupNormView> group_norm(Argument channels, std::int64_t groups,
                                                      Argument eps = GraphBuilder::none()) {
  return one_call::reading<GroupNormView>(
      [&](GraphBuilder& b) {
        const Argument x = b.value(one_call::tensor(b, {2, 6, 4}));
        return one_call::call(b, "aten.native_group_norm.default",
                              {{"input", x},
                               {"weight", x},
                               {"bias", b.none()},
                               {"N", b.integer(2)},
                               {"C", channels},
                               {"HxW", b.integer(4)},
                               {"group", b.integer(groups)},
                               {"eps", eps}});
      },
      [](const auto& call, GroupNormView& view) { return operators::read_group_norm(call, view); });
}
constexpr bool check_group_norm() {
  using B = GraphBuilder;
  const std::string_view groups = "group_norm: the channels do not divide into the groups";
  return group_norm(B::integer(6), 3, B::real(0.5)).view ==
             GroupNormView{.input = 0, .weight = 0, .batch = 2, .channels = 6, .plane = 4, .groups = 3, .eps = 0.5} &&
         group_norm(B::integer(6), 3).view.group_channels() == 2 && group_norm(B::value(0), 4).view.channels == -1 &&
         group_norm(B::integer(6), 4).why == groups && group_norm(B::integer(6), 0).why == groups &&
         group_norm(B::integer(6), 2, B::value(0)).why == "group_norm: epsilon is no number";
}
static_assert(check_group_norm());

}  // namespace

TEST_CASE("batch norms and their variants") { CHECK(check_batch_norm()); }

TEST_CASE("impossible batch norms are refused with a reason") { CHECK(check_hostile_batch_norm()); }

TEST_CASE("layer norms: the last sizes, which the parameters have") { CHECK(check_layer_norm()); }

TEST_CASE("group norms: the groups divide the channels") { CHECK(check_group_norm()); }

TEST_CASE("normalizations have their arguments where their schemas say") {
  for (const operators::BatchNormOperator& op : operators::batch_norm_operators) {
    const std::uint32_t at = (op.has_running ? 5u : 3u) + (op.has_training ? 1u : 0u);
    CHECK(one_call::stands_there(op.target, {"weight", 1}));
    if (op.has_running) CHECK(one_call::stands_there(op.target, {"running_mean", 3}));
    if (op.has_training) CHECK(one_call::stands_there(op.target, {"training", at - 1}));
    CHECK(one_call::stands_there(op.target, {"momentum", at}));
    CHECK(one_call::stands_there(op.target, {"eps", at + 1}));
  }
  for (const operators::LayerNormOperator& op : operators::layer_norm_operators) {
    CHECK(one_call::stands_there(op.target, {"normalized_shape", 1}));
    CHECK(one_call::stands_there(op.target, {"eps", 4}));
  }
  CHECK(one_call::stands_there("aten.native_group_norm.default", {"group", 6}));
  CHECK(one_call::stands_there("aten.native_group_norm.default", {"eps", 7}));
  CHECK(one_call::stands_there("aten.native_group_norm_backward.default", {"N", 5}));
}
