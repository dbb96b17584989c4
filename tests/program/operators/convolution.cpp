// SPDX-License-Identifier: MIT
#include "davit/program/operators/convolution.hpp"

#include <doctest/doctest.h>

#include "one_call.hpp"

using namespace davit;
using operators::ConvolutionView;
using operators::Spatial;

namespace {

using Made = one_call::Reading<ConvolutionView>;

/// The arguments besides input and weight; empty ones are omitted.
struct Given {
  std::string_view target = "aten.conv2d.default";
  std::initializer_list<std::int64_t> input{1, 4, 9, 9};
  std::initializer_list<std::int64_t> weight{6, 4, 3, 3};
  std::initializer_list<std::int64_t> stride{};
  std::initializer_list<std::int64_t> padding{};
  std::initializer_list<std::int64_t> dilation{};
  std::initializer_list<std::int64_t> bias{};
  std::string_view word{};
  std::int64_t groups = 1;
  bool transposed = false;
};
constexpr Made read(const Given& g) {
  return one_call::reading<ConvolutionView>(
      [&](GraphBuilder& b) {
        const ValueId x = one_call::tensor(b, g.input), w = one_call::tensor(b, g.weight);
        const Argument bias = g.bias.size() == 0 ? b.none() : b.value(one_call::tensor(b, g.bias));
        const auto ints = [&](std::initializer_list<std::int64_t> list) {
          return list.size() == 0 ? b.none() : b.ints(list);
        };
        return one_call::call(b, g.target,
                              {{"input", b.value(x)},
                               {"weight", b.value(w)},
                               {"bias", bias},
                               {"stride", ints(g.stride)},
                               {"padding", g.word.empty() ? ints(g.padding) : b.string(g.word)},
                               {"dilation", ints(g.dilation)},
                               {"transposed", b.boolean(g.transposed)},
                               {"output_padding", b.ints({0})},
                               {"groups", b.integer(g.groups)}});
      },
      [](const auto& call, ConvolutionView& view) { return operators::read_convolution(call, view); });
}

constexpr bool check_defaults() {
  const Made made = read({});
  return made.why.empty() && made.view == ConvolutionView{.input = 0, .weight = 1, .dims = 2, .kernel = {1, 3, 3}};
}
static_assert(check_defaults());

constexpr bool check_lists() {
  const Made one = read({.stride = {2}, .padding = {1}, .dilation = {3}});
  const Made each = read({.stride = {2, 1}, .padding = {1, 0}, .dilation = {1, 2}, .bias = {6}});
  return one.view.stride == Spatial{1, 2, 2} && one.view.padding == Spatial{0, 1, 1} &&
         one.view.padding_end == Spatial{0, 1, 1} && one.view.dilation == Spatial{1, 3, 3} &&
         each.view.stride == Spatial{1, 2, 1} && each.view.padding == Spatial{0, 1, 0} &&
         each.view.dilation == Spatial{1, 1, 2} && each.view.bias == 2;
}
static_assert(check_lists());

constexpr bool check_words() {
  const Made same = read({.target = "aten.conv2d.padding", .weight = {6, 4, 2, 3}, .dilation = {1, 2}, .word = "same"});
  const Made valid = read({.target = "aten.conv2d.padding", .word = "valid"});
  return same.view.padding == Spatial{0, 0, 2} && same.view.padding_end == Spatial{0, 1, 2} && valid.why.empty() &&
         valid.view.padding == Spatial{} &&
         read({.target = "aten.conv2d.padding", .word = "reflect"}).why ==
             "convolution: the padding is neither numbers nor a known word" &&
         read({.target = "aten.conv2d.padding", .stride = {2}, .word = "same"}).why ==
             "convolution: padding 'same' needs strides of 1";
}
static_assert(check_words());

constexpr bool check_aliases() {
  const Made line =
      read({.target = "aten.conv1d.default", .input = {4, 9}, .weight = {6, 2, 5}, .stride = {2}, .groups = 2});
  const Made general = read(
      {.target = "aten.convolution.default", .input = {1, 6, 9, 9, 9}, .weight = {6, 4, 3, 1, 2}, .transposed = true});
  return line.why.empty() && !line.view.batched && line.view.dims == 1 && line.view.kernel == Spatial{1, 1, 5} &&
         line.view.stride == Spatial{1, 1, 2} && line.view.groups == 2 && general.why.empty() &&
         general.view.transposed && general.view.dims == 3 && general.view.kernel == Spatial{3, 1, 2};
}
static_assert(check_aliases());

constexpr bool check_hostile() {
  const std::string_view range = "a window size, stride, padding or dilation is negative, zero or too large";
  const std::string_view length = "a list of window sizes, strides, paddings or dilations has the wrong length";
  return read({.target = "aten.relu.default"}).why == "the operator is no convolution" &&
         read({.stride = {0}}).why == range && read({.stride = {INT64_MAX}}).why == range &&
         read({.padding = {-1, 0}}).why == range && read({.dilation = {INT64_MIN}}).why == range &&
         read({.stride = {1, 2, 3}}).why == length &&
         read({.weight = {6, 4, 0, 3}}).why == "convolution: the kernel has no elements" &&
         read({.groups = 0}).why == "convolution: the weight's filters do not divide into the groups" &&
         read({.groups = 4}).why == "convolution: the weight's filters do not divide into the groups" &&
         read({.weight = {6, std::int64_t{1} << 60, 3, 3}, .groups = 6}).why == "convolution: too many groups" &&
         read({.weight = {6, std::int64_t{1} << 62, 3, 3}, .groups = 3}).why == "convolution: too many groups" &&
         read({.groups = 2}).why == "convolution: the input's channels do not fit weight and groups" &&
         read({.bias = {5}}).why == "convolution: the bias needs one element per output channel" &&
         read({.bias = {6, 1}}).why == "convolution: the bias needs one element per output channel" &&
         read({.weight = {6, 4, 3}}).why == "the weight does not have the operator's number of spatial dimensions" &&
         read({.weight = {6, 4}}).why == "convolution: the weight needs one to three spatial dimensions" &&
         read({.target = "aten.convolution.default", .input = {4, 9, 9}}).why ==
             "convolution: input and weight must have the same number of dimensions";
}
static_assert(check_hostile());

}  // namespace

TEST_CASE("a convolution's defaults, lists of one, words and aliases") {
  CHECK(check_defaults());
  CHECK(check_lists());
  CHECK(check_words());
  CHECK(check_aliases());
}

TEST_CASE("impossible convolutions are refused with a reason") { CHECK(check_hostile()); }

TEST_CASE("convolutions have their arguments where their schemas say") {
  for (const operators::ConvolutionOperator& op : operators::convolution_operators) {
    for (const operators::Parameter p : {op.at("input", 0), op.at("weight", 1), op.at("stride", 3), op.at("padding", 4),
                                         op.at("dilation", 5), op.at("groups", op.general ? 8 : 6)})
      CHECK(one_call::stands_there(op.target, p));
    if (!op.general) continue;
    CHECK(one_call::stands_there(op.target, op.at("transposed", 6)));
    CHECK(one_call::stands_there(op.target, op.at("output_padding", 7)));
  }
}
