// SPDX-License-Identifier: MIT
#include "davit/program/operators/pooling.hpp"

#include <doctest/doctest.h>

#include "one_call.hpp"

using namespace davit;
using operators::AdaptivePoolView;
using operators::PoolView;
using operators::Spatial;

namespace {

using Made = one_call::Reading<PoolView>;

struct Given {
  std::string_view target = "aten.max_pool2d.default";
  std::initializer_list<std::int64_t> input{1, 2, 8, 8};
  std::initializer_list<std::int64_t> kernel{3};
  std::initializer_list<std::int64_t> stride{};  ///< given as an empty list
  std::initializer_list<std::int64_t> padding{0};
  std::initializer_list<std::int64_t> dilation{1};
  bool ceil_mode = false;
  Argument divisor = GraphBuilder::none();
};
constexpr Made read(const Given& g) {
  return one_call::reading<PoolView>(
      [&](GraphBuilder& b) {
        return one_call::call(b, g.target,
                              {{"self", b.value(one_call::tensor(b, g.input))},
                               {"kernel_size", b.ints(g.kernel)},
                               {"stride", b.ints(g.stride)},
                               {"padding", b.ints(g.padding)},
                               {"dilation", b.ints(g.dilation)},
                               {"ceil_mode", b.boolean(g.ceil_mode)},
                               {"count_include_pad", b.boolean(false)},
                               {"divisor_override", g.divisor}});
      },
      [](const auto& call, PoolView& view) { return operators::read_pool(call, view); });
}

constexpr bool check_windows() {
  const Made same = read({});
  const Made each = read({.target = "aten.max_pool2d_with_indices.default",
                          .kernel = {3, 2},
                          .stride = {2},
                          .padding = {1, 0},
                          .dilation = {2, 1}});
  const Made average =
      read({.target = "aten.avg_pool1d.default", .input = {2, 8}, .kernel = {4}, .stride = {2}, .ceil_mode = true});
  const Made divided = read(
      {.target = "aten.avg_pool3d.default", .input = {2, 8, 8, 8}, .kernel = {2}, .divisor = GraphBuilder::integer(5)});
  return same.why.empty() && same.view.maximum && same.view.kernel == Spatial{1, 3, 3} &&
         same.view.stride == same.view.kernel && each.view.kernel == Spatial{1, 3, 2} &&
         each.view.stride == Spatial{1, 2, 2} && each.view.padding == Spatial{0, 1, 0} &&
         each.view.dilation == Spatial{1, 2, 1} && average.why.empty() && !average.view.maximum &&
         !average.view.batched && average.view.ceil_mode && !average.view.count_include_pad && average.view.dims == 1 &&
         divided.view.divisor == 5 && divided.view.kernel == Spatial{2, 2, 2};
}
static_assert(check_windows());

constexpr bool check_sizes() {
  const PoolView down{.kernel = {1, 3, 3}, .stride = {1, 2, 2}};
  PoolView up = down;
  up.ceil_mode = true;
  PoolView padded = up;
  padded.padding = {0, 1, 1};
  return down.out_size(2, 8) == 3 && up.out_size(2, 8) == 4 && down.padding_end(2, 8, 3) == 0 &&
         up.padding_end(2, 8, 4) == 1 && down.out_size(2, 2) == 0 && padded.out_size(2, 2) == 2 && padded.is_padded() &&
         !up.is_padded() &&
         PoolView{.ceil_mode = true, .kernel = {1, 1, 1}, .stride = {1, 4, 4}}.out_size(2, 2) ==
             1;  // no window begins outside the padded input
}
static_assert(check_sizes());

constexpr bool check_hostile() {
  return read({.target = "aten.relu.default"}).why == "the operator is no pooling" &&
         read({.input = {8, 8}}).why == "pooling: the input has the wrong number of dimensions" &&
         read({.kernel = {0}}).why == "a window size, stride, padding or dilation is negative, zero or too large" &&
         read({.kernel = {}}).why == "a list of window sizes, strides, paddings or dilations has the wrong length" &&
         read({.stride = {INT64_MAX}}).why ==
             "a window size, stride, padding or dilation is negative, zero or too large" &&
         read({.stride = {1, 2, 3}}).why ==
             "a list of window sizes, strides, paddings or dilations has the wrong length" &&
         read({.padding = {2}}).why == "pooling: the padding is more than half of the kernel size" &&
         read({.target = "aten.avg_pool2d.default", .divisor = GraphBuilder::integer(0)}).why ==
             "avg_pool: the divisor must not be zero" &&
         read({.target = "aten.avg_pool2d.default", .divisor = GraphBuilder::real(1)}).why ==
             "pooling: the divisor is not known";
}
static_assert(check_hostile());

constexpr one_call::Reading<AdaptivePoolView> adaptive(std::string_view target,
                                                       std::initializer_list<std::int64_t> input,
                                                       std::initializer_list<std::int64_t> out) {
  return one_call::reading<AdaptivePoolView>(
      [&](GraphBuilder& b) {
        return one_call::call(b, target, {{"self", b.value(one_call::tensor(b, input))}, {"output_size", b.ints(out)}});
      },
      [](const auto& call, AdaptivePoolView& view) { return operators::read_adaptive_pool(call, view); });
}
constexpr bool check_adaptive() {
  const auto two = adaptive("aten._adaptive_avg_pool2d.default", {2, 6, 8}, {3, 2});
  return two.why.empty() && two.view == AdaptivePoolView{.input = 0, .dims = 2, .batched = false, .out = {1, 3, 2}} &&
         adaptive("aten.adaptive_avg_pool1d.default", {1, 2, 6}, {1}).view.out == Spatial{1, 1, 1} &&
         adaptive("aten.adaptive_avg_pool1d.default", {1, 2, 6}, {-1}).why ==
             "a window size, stride, padding or dilation is negative, zero or too large" &&
         adaptive("aten.adaptive_avg_pool1d.default", {1, 2, 6, 6}, {1}).why ==
             "pooling: the input has the wrong number of dimensions" &&
         adaptive("aten.relu.default", {1, 2, 6}, {1}).why == "the operator is no adaptive pooling";
}
static_assert(check_adaptive());

}  // namespace

TEST_CASE("poolings: strides are the kernel's size unless they are given") { CHECK(check_windows()); }

TEST_CASE("sizes of pooled planes, and how far the last window reaches") { CHECK(check_sizes()); }

TEST_CASE("impossible poolings are refused with a reason") { CHECK(check_hostile()); }

TEST_CASE("adaptive averages") { CHECK(check_adaptive()); }

TEST_CASE("poolings have their arguments where their schemas say") {
  for (const operators::PoolOperator& op : operators::pool_operators) {
    for (const operators::Parameter p :
         {op.at("self", 0), op.at("kernel_size", 1), op.at("stride", 2), op.at("padding", 3),
          op.at("ceil_mode", op.maximum ? 5 : 4), op.at(op.maximum ? "dilation" : "ceil_mode", 4)})
      CHECK(one_call::stands_there(op.target, p));
    if (op.maximum) continue;
    CHECK(one_call::stands_there(op.target, op.at("count_include_pad", 5)));
    if (op.dims > 1) CHECK(one_call::stands_there(op.target, op.at("divisor_override", 6)));
  }
  for (const operators::AdaptivePoolOperator& op : operators::adaptive_pool_operators)
    CHECK(one_call::stands_there(op.target, {"output_size", 1}));
}
