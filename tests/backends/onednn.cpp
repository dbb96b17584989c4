// SPDX-License-Identifier: MIT
#include "davit/backends/onednn.hpp"
#include "davit/lowering/to_backend.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "davit/backend/program_body.hpp"
#include "davit/backends/onednn/code.hpp"
#include "davit/backends/onednn/threads.hpp"
#include "davit/backends/portable.hpp"
#include "davit/kernels/thread_team.hpp"
#include "support/backend_check.hpp"
#include "support/count_own_allocations.hpp"
#include "support/net_programs.hpp"
#include "support/odd_values.hpp"

using namespace davit;
using support::Net;
using support::residual_block;

namespace {

[[nodiscard]] std::string faults(const ExportedProgram& program, const std::vector<EValue>& sample) {
  return support::faults_of<onednn>(program, sample, {1e-4, 1e-5});
}

/// The names of a program's steps in order, separated by spaces.
[[nodiscard]] std::string steps(const ExportedProgram& program) {
  const auto lowered = to_backend<onednn>(program, {});
  if (!lowered) return to_string(lowered.error());
  std::string text;
  for (const onednn_ops::Step& step : handle_of<onednn>(lowered->methods()[0].delegates[0]).code->steps)
    text += (text.empty() ? "" : " ") + std::string(step.name);
  return text;
}

}  // namespace

TEST_CASE("oneDNN works here") { REQUIRE(onednn::is_available()); }

TEST_CASE("a residual block is one primitive per convolution, and reorders at its borders") {
  Net n;
  const ExportedProgram program = residual_block(n);
  CHECK(faults(program, n.sample()) == "");
  const std::string names = steps(program);
  CHECK(std::ranges::count(names, 'v') >= 3);
  CHECK(names.find("batch_norm") == std::string::npos);
  CHECK(names.find("add") == std::string::npos);
  CHECK(names.find("relu") == std::string::npos);
}

TEST_CASE("weights that are not constant, and norms that cannot be folded") {
  Net n;
  const ExportedProgram program = support::convolution_with_input_weights(n);
  CHECK(faults(program, n.sample()) == "");
}

TEST_CASE("a norm that is not folded into weights takes the relu after it") {
  Net n;
  const auto c = n.relu(
      "a", n.conv("c", n.input("x", {1, 16, 6, 6}), n.weight("w", {32, 16, 3, 3}), {1, 32, 6, 6}, 1, 1), {1, 32, 6, 6});
  const ExportedProgram program = n.finish({n.relu("r", n.norm("bn", c, {1, 32, 6, 6}), {1, 32, 6, 6})});
  CHECK(faults(program, n.sample()) == "");
  CHECK(steps(program).find("batch_norm") != std::string::npos);
  CHECK(steps(program).find("relu") == std::string::npos);
}

TEST_CASE("a norm of a series, that is no part of weights, is portable's where oneDNN 2.6 has its reference alone") {
  Net n;
  const auto series = [&](std::string_view name, std::int64_t kernel) {
    return n.op("aten.conv1d.default", name, {1, 16, 20},
                {{"input", n.v(n.input("x" + std::string(name), {1, 16, 20}))},
                 {"weight", n.v(n.weight("w" + std::string(name), {16, 16, kernel}, 0.2))},
                 {"bias", {}},
                 {"stride", n.ints({1})},
                 {"padding", n.ints({kernel / 2})}});
  };
  const auto a = series("a", 9), b = series("b", 5);
  const auto joined =
      n.op("aten.cat.default", "joined", {1, 32, 20}, {{"tensors", n.draft.b.tensors({a, b})}, {"dim", n.i(1)}});
  const ExportedProgram program = n.finish({n.relu("r", n.norm("bn", joined, {1, 32, 20}), {1, 32, 20})});
  CHECK(faults(program, n.sample()) == "");
  if (onednn_ops::major_version >= 3) return;  // 3 has code for other layouts
  const auto lowered = to_backend<onednn>(program, {});
  REQUIRE(lowered);
  std::size_t norms = 0;
  for (const onednn_ops::Step& step : handle_of<onednn>(lowered->methods()[0].delegates[0]).code->steps) {
    if (step.name.find("batch_norm") == std::string_view::npos) continue;
    ++norms;
    CHECK(step.kind == onednn_ops::StepKind::kernel);
  }
  CHECK(norms == 1);
}

TEST_CASE("groups, depthwise, dilation, padding by hand and by a word") {
  Net n;
  const auto w1 = n.weight("w1", {32, 16, 3, 3}, 0.2);
  const auto w2 = n.weight("w22", {32, 1, 3, 3});
  const auto w3 = n.weight("w333", {5, 32, 2, 2}, 0.2);
  const auto bias = n.weight("bias", {5});
  const auto x = n.input("x", {1, 32, 9, 9});
  const auto padded = n.op("aten.constant_pad_nd.default", "p", {1, 32, 12, 10},
                           {{"self", n.v(x)}, {"pad", n.ints({1, 0, 2, 1})}, {"value", n.i(0)}});
  const auto c1 = n.conv("c1", padded, w1, {1, 32, 8, 6}, 1, 0, 2, 2);
  const auto c2 = n.op("aten.hardtanh.default", "h", {1, 32, 8, 6},
                       {{"self", n.v(n.conv("c2", c1, w2, {1, 32, 8, 6}, 1, 1, 32))},
                        {"min_val", davit::GraphBuilder::real(0)},
                        {"max_val", davit::GraphBuilder::real(6)}});
  const auto c3 = n.op("aten.conv2d.default", "c3", {1, 5, 8, 7},
                       {{"input", n.v(c2)},
                        {"weight", n.v(w3)},
                        {"bias", n.v(bias)},
                        {"stride", n.ints({1, 1})},
                        {"padding", n.ints({1, 1})},
                        {"dilation", n.ints({2, 1})},
                        {"groups", n.i(1)}});
  const ExportedProgram program = n.finish({c3});
  CHECK(faults(program, n.sample()) == "");
  CHECK(steps(program).find("pad_nd") == std::string::npos);
}

TEST_CASE("padding by a word is padding by hand") {
  for (const std::string_view word : {"same", "valid"}) {
    CAPTURE(word);
    const std::int64_t size = word == "same" ? 5 : 3;
    Net words;
    Net hands;
    const auto w = words.weight("w", {4, 3, 2, 3});
    const auto x = words.input("x", {1, 3, 5, 5});
    const ExportedProgram by_word = words.finish(
        {words.op("aten.conv2d.padding", "y", {1, 4, size == 5 ? 5 : 4, size},
                  {{"input", words.v(x)}, {"weight", words.v(w)}, {"padding", words.draft.b.string(word)}})});
    const auto w2 = hands.weight("w", {4, 3, 2, 3});
    const auto x2 = hands.input("x", {1, 3, 5, 5});
    const std::int64_t more = size == 5 ? 1 : 0;
    const auto padded = hands.op("aten.constant_pad_nd.default", "p", {1, 3, 5 + more, 5 + 2 * more},
                                 {{"self", hands.v(x2)}, {"pad", hands.ints({more, more, 0, more})}});
    const ExportedProgram by_hand = hands.finish({hands.conv("y", padded, w2, {1, 4, size == 5 ? 5 : 4, size})});
    const auto lowered = to_backend<onednn>(by_word, {});
    REQUIRE(lowered);
    Session session = *Session::make(*lowered);
    const auto results = session.run(0, words.sample());
    REQUIRE(results);
    CHECK(support::differs_from_portable(by_hand, hands.sample(), results->all(), {1e-4, 1e-5}) == "");
  }
}

TEST_CASE("hardsigmoid and hardswish as they are decomposed, behind convolutions and on padded blocks of channels") {
  for (const std::int64_t channels : {32, 40}) {
    CAPTURE(channels);
    Net n;
    const support::Sizes sizes{1, channels, 6, 6};
    const auto w1 = n.weight("w1", {channels, 16, 1, 1}, 0.3);
    const auto w2 = n.weight("w2", {channels, channels, 1, 1}, 0.2);
    const auto w3 = n.weight("w3", {channels, channels, 1, 1}, 0.2);
    const auto with_number = [&](std::string_view target, std::string_view name, ValueId x, double number) {
      return n.op(target, name, sizes, {{"self", n.v(x)}, {"other", GraphBuilder::real(number)}});
    };
    const auto gate = [&](std::string name, ValueId x) {
      const ValueId more = with_number("aten.add.Tensor", name + "_more", x, 3);
      return n.op("aten.clamp.default", name + "_clamp", sizes,
                  {{"self", n.v(more)}, {"min", GraphBuilder::real(0)}, {"max", GraphBuilder::real(6)}});
    };
    const auto a = n.conv("c1", n.input("x", {1, 16, 6, 6}), w1, sizes);
    const auto product = n.op("aten.mul.Tensor", "swish", sizes, {{"self", n.v(a)}, {"other", n.v(gate("s", a))}});
    const auto swish = with_number("aten.div.Tensor", "swish6", product, 6);
    const auto sigmoid = with_number("aten.div.Tensor", "sigmoid", gate("h", n.conv("c2", swish, w2, sizes)), 6);
    const ExportedProgram program = n.finish({n.conv("c3", sigmoid, w3, sizes)});
    CHECK(faults(program, n.sample()) == "");
  }
}

TEST_CASE("a convolution in channels-last order plus an input that is not, or that is broadcast") {
  const auto check = [](support::Sizes operand) {
    Net n;
    const auto w = n.weight("w", {96, 576, 1, 1}, 0.05);
    const auto w2 = n.weight("w22", {32, 96, 1, 1}, 0.1);
    const auto x = n.input("x", {2, 576, 3, 3});
    const auto other = n.input("other", operand);
    const auto sum = n.add("sum", n.conv("c", x, w, {2, 96, 3, 3}), other, {2, 96, 3, 3});
    const ExportedProgram program = n.finish({n.conv("c2", sum, w2, {2, 32, 3, 3})});
    CHECK(faults(program, n.sample()) == "");
  };
  check({2, 96, 3, 3});
  check({2, 96, 1, 1});
  check({1, 96, 3, 3});
  check({1, 1, 3, 3});
  check({2, 1, 1, 1});
  check({1, 96, 1, 1});
}

TEST_CASE("two sums, the second with a number per channel, of tensors that end in dimensions of size 1") {
  const auto check = [](support::Sizes sizes, support::Sizes operand) {
    Net n;
    const auto sum = n.add("sum", n.input("x", sizes), n.input("y", sizes), sizes);
    const ExportedProgram program = n.finish({n.add("again", sum, n.input("z", operand), sizes)});
    CHECK(faults(program, n.sample()) == "");
  };
  check({4, 4, 1}, {1, 4, 1});
  check({3, 2, 1, 1}, {2, 1, 1});
  check({4, 4}, {1, 4});
}

TEST_CASE("a product, and a sum and a product with strided numbers per channel") {
  Net n;
  const auto y = n.relu("y", n.input("in", {1, 4, 2}), {1, 4, 2});
  const auto part = n.op("aten.slice.Tensor", "part", {1, 4, 1},
                         {{"self", n.v(y)}, {"dim", n.i(2)}, {"start", n.i(1)}, {"end", n.i(2)}});
  const auto product = n.op("aten.mul.Tensor", "product", {3, 4, 2},
                            {{"self", n.v(n.input("x", {3, 4, 2}))}, {"other", n.v(n.input("z", {3, 4, 2}))}});
  const auto scaled =
      n.op("aten.mul.Tensor", "scaled", {3, 4, 2}, {{"self", n.v(n.input("w", {3, 4, 2}))}, {"other", n.v(part)}});
  const ExportedProgram program = n.finish({n.add("sum", product, part, {3, 4, 2}), scaled});
  CHECK(faults(program, n.sample()) == "");
}

TEST_CASE("a product of transposed matrices plus a number per column") {
  Net n;
  const auto x = n.relu("y", n.input("in", {5, 4}), {5, 4});
  const auto turned =
      n.op("aten.permute.default", "turned", {4, 5}, {{"self", n.v(x)}, {"dims", n.draft.b.ints({1, 0})}});
  const auto product = n.op("aten.mul.Tensor", "product", {4, 5}, {{"self", n.v(turned)}, {"other", n.v(turned)}});
  const ExportedProgram program = n.finish({n.add("sum", product, n.input("z", {5}), {4, 5}), turned});
  CHECK(faults(program, n.sample()) == "");
}

TEST_CASE("NaN and infinities are those of exact kernels, unless fast_math allows to lose them") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto results = [](const ExportedProgram& program, std::span<const EValue> inputs, bool fast) {
    const auto lowered = to_backend<onednn>(program, {.fast_math = fast});
    REQUIRE(lowered);
    Session session = *Session::make(*lowered);
    std::vector<float> all;
    for (int run = 0; run < 2; ++run) {
      const auto out = session.run(0, inputs);
      REQUIRE(out);
      for (const EValue& result : out->all()) {
        const auto* values = result.tensor().as<float>();
        all.insert(all.end(), values, values + result.tensor().numel());
      }
    }
    return all;
  };
  Net n;
  const auto x = n.input("x", {1, 16, 6, 6});
  const auto w = n.weight("w", {16, 16, 3, 3}, 0.2);
  const auto c = n.relu("r", n.conv("c", x, w, {1, 16, 6, 6}, 1, 1), {1, 16, 6, 6});
  const auto pooled = n.op("aten.amax.default", "m", {1, 16},
                           {{"self", n.v(c)}, {"dim", n.ints({2, 3})}, {"keepdim", GraphBuilder::boolean(false)}});
  const ExportedProgram program = n.finish({c, pooled});
  std::vector<float> image(16 * 36, 0.5f);
  const Tensor pixels = *tensor(image, {1, 16, 6, 6});
  const std::vector<EValue> inputs{EValue(pixels.view())};
  CHECK(std::ranges::none_of(results(program, inputs, false), [](float v) { return std::isnan(v); }));
  image[40] = -std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> exact = results(program, inputs, false);
  CHECK(std::ranges::count_if(exact, [](float v) { return std::isnan(v); }) == 2 * (16 * 6 + 16));  // twice: two runs
  CHECK(std::ranges::none_of(results(program, inputs, true), [](float v) { return std::isnan(v); }));
  image[40] = 0.5f;
  CHECK(std::ranges::none_of(results(program, inputs, false), [](float v) { return std::isnan(v); }));

  Net m;  // a row that is masked whole
  const auto scores = m.input("s", {2, 20});
  const auto weights = m.op("aten._softmax.default", "p", {2, 20},
                            {{"self", m.v(scores)}, {"dim", m.i(-1)}, {"half_to_float", GraphBuilder::boolean(false)}});
  const ExportedProgram softmax = m.finish({weights});
  std::vector<float> masked(40, -infinity);
  for (std::size_t i = 0; i < 10; ++i) masked[i] = masked[20 + i] = 1;
  const Tensor lines = *tensor(masked, {2, 20});
  const std::vector<EValue> rows{EValue(lines.view())};
  CHECK(results(softmax, rows, false)[19] == 0);
  for (std::size_t i = 0; i < 10; ++i) masked[20 + i] = -infinity;
  const std::vector<float> half = results(softmax, rows, false);
  CHECK(half[0] == doctest::Approx(0.1));
  CHECK(std::isnan(half[20]));
  CHECK(std::isnan(half[39]));

  onednn::set_fast_math(true);
  image[40] = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::ranges::none_of(results(program, inputs, false), [](float v) { return std::isnan(v); }));
  onednn::set_fast_math(false);
  CHECK(onednn::load_spec(onednn::save_spec({.threads = 2, .fast_math = true}))->fast_math);
}

TEST_CASE("a mask of infinities does not make the rest run on exact kernels; NaN of attention is found behind it") {
  Net n;
  Tensor hidden = Net::numbers({6, 6});
  for (std::int64_t i = 0; i < 36; ++i)
    hidden.view().as<float>()[i] = i % 6 > i / 6 ? -std::numeric_limits<float>::infinity() : 0;
  const auto mask = n.draft.parameter("mask", hidden);
  const auto q = n.input("q", {1, 2, 6, 8}), k = n.input("k", {1, 2, 6, 8}), v = n.input("v", {1, 2, 6, 8});
  const auto mixed = n.op("aten.scaled_dot_product_attention.default", "mixed", {1, 2, 6, 8},
                          {{"query", n.v(q)}, {"key", n.v(k)}, {"value", n.v(v)}, {"attn_mask", n.v(mask)}});
  const auto product = n.op("aten.linear.default", "product", {1, 2, 6, 4},
                            {{"input", n.v(mixed)}, {"weight", n.v(n.weight("w", {4, 8}))}});
  const ExportedProgram program = n.finish({n.relu("r", product, {1, 2, 6, 4})});
  const auto lowered = to_backend<onednn>(program, {});
  REQUIRE(lowered);
  CHECK(!handle_of<onednn>(lowered->methods()[0].delegates[0]).code->always_falls_back);
  CHECK(support::differs_on_odd_values<onednn>(n, program) == "");
}

TEST_CASE("each operator that the library makes without regard for NaN and infinities keeps them") {
  const auto real = [](double number) { return GraphBuilder::real(number); };
  for (const std::string_view target :
       {"aten.relu.default", "aten.sigmoid.default", "aten.tanh.default", "aten.abs.default", "aten.exp.default",
        "aten.silu.default", "aten.hardswish.default", "aten.hardsigmoid.default", "aten.relu6.default",
        "aten.mish.default", "aten.elu.default", "aten.leaky_relu.default"}) {
    CAPTURE(target);
    CHECK(support::differs_on_odd_values<onednn>(target) == "");
  }
  CHECK(support::differs_on_odd_values<onednn>("aten.hardtanh.default",
                                               {{"min_val", real(-1)}, {"max_val", real(2)}}) == "");
  CHECK(support::differs_on_odd_values<onednn>("aten.clamp.default", {{"min", real(-1)}, {"max", real(2)}}) == "");
  CHECK(support::differs_on_odd_values<onednn>("aten.clamp.default", {{"max", real(2)}}) == "");
  Net erf, by_tanh;
  for (Net* const n : {&erf, &by_tanh}) {
    const auto x = n->input("x", {3, 20});
    const Argument how = n->draft.b.string(n == &erf ? "none" : "tanh");
    const ExportedProgram program =
        n->finish({n->op("aten.gelu.default", "y", {3, 20}, {{"self", n->v(x)}, {"approximate", how}})});
    CHECK(support::differs_on_odd_values<onednn>(*n, program) == "");
  }
  for (const std::string_view target : {"aten._softmax.default", "aten._log_softmax.default"})
    CHECK(support::differs_on_odd_values<onednn>(
              target, {{"dim", Net::i(-1)}, {"half_to_float", GraphBuilder::boolean(false)}}) == "");
  for (const std::string_view target : {"aten.minimum.default", "aten.maximum.default", "aten.add.Tensor",
                                        "aten.mul.Tensor", "aten.sub.Tensor", "aten.div.Tensor"}) {
    CAPTURE(target);
    CHECK(support::differs_on_odd_pairs<onednn>(target) == "");
  }
  for (const std::string_view target :
       {"aten.amax.default", "aten.amin.default", "aten.mean.dim", "aten.sum.dim_IntList"}) {
    CAPTURE(target);
    Net n;
    const auto x = n.input("x", {3, 20});
    const ExportedProgram program = n.finish({n.op(target, "y", {3}, {{"self", n.v(x)}, {"dim", n.ints({1})}})});
    CHECK(support::differs_on_odd_values<onednn>(n, program) == "");
  }
  Net n;
  const auto x = n.input("x", {1, 8, 6, 6});
  const ExportedProgram pooled = n.finish(
      {n.op("aten.max_pool2d.default", "p", {1, 8, 3, 3}, {{"self", n.v(x)}, {"kernel_size", n.ints({2, 2})}})});
  CHECK(support::differs_on_odd_values<onednn>(n, pooled) == "");
}

TEST_CASE("operators that the library lacks run on portable's kernels between its primitives") {
  Net n;
  const auto w = n.weight("w", {16, 16, 3, 3}, 0.1);
  const auto x = n.input("x", {1, 16, 6, 5}), place = n.input("place", {1, 4, 4, 2});
  const auto c = n.conv("c", x, w, {1, 16, 4, 3});
  const auto padded = n.op("aten.reflection_pad2d.default", "padded", {1, 16, 6, 5},
                           {{"self", n.v(c)}, {"padding", n.ints({1, 1, 1, 1})}});
  const auto wave =
      n.op("aten.sin.default", "wave", {1, 16, 4, 3}, {{"self", n.v(n.conv("d", padded, w, {1, 16, 4, 3}))}});
  const auto large = n.op("aten.upsample_bilinear2d.vec", "large", {1, 16, 8, 6},
                          {{"input", n.v(wave)},
                           {"output_size", n.ints({8, 6})},
                           {"align_corners", GraphBuilder::boolean(false)},
                           {"scale_factors", {}}});
  const auto taken = n.op("aten.grid_sampler_2d.default", "taken", {1, 16, 4, 4},
                          {{"input", n.v(large)},
                           {"grid", n.v(place)},
                           {"interpolation_mode", n.i(0)},
                           {"padding_mode", n.i(0)},
                           {"align_corners", GraphBuilder::boolean(false)}});
  const auto last = n.op("aten.log_softmax.int", "last", {1, 16, 4, 4}, {{"self", n.v(taken)}, {"dim", n.i(1)}});
  const ExportedProgram program = n.finish({n.relu("y", last, {1, 16, 4, 4}), wave});
  CHECK(faults(program, n.sample()) == "");
  for (const std::string_view name :
       {"reflection_pad2d", "sin", "upsample_bilinear2d", "grid_sampler_2d", "log_softmax"})
    CHECK(steps(program).find(name) != std::string::npos);

  Net m;  // nothing is gained by these alone
  const auto v = m.op("aten.cos.default", "v", {2, 3}, {{"self", m.v(m.input("x", {2, 3}))}});
  const ExportedProgram alone = m.finish({m.op("aten.mul.Tensor", "y", {2, 3}, {{"self", m.v(v)}, {"other", m.v(v)}})});
  const NodeId nodes[] = {0, 1};
  CHECK_FALSE(onednn::is_profitable(alone.view(), nodes));
}

TEST_CASE("a convolution that gains less than its border costs is left to portable") {
  using List = BackendList<onednn, portable>;
  Net depthwise;
  const auto x = depthwise.input("x", {1, 64, 56, 56});
  CHECK(support::only_partition<List>(depthwise.finish({depthwise.conv("y", x, depthwise.weight("w", {64, 1, 3, 3}),
                                                                       {1, 64, 56, 56}, 1, 1, 64)})) == "portable_0");
  Net dense;  // its weight has many more elements than its operand; it is packed once
  const auto z = dense.input("z", {1, 512, 7, 7});
  CHECK(support::only_partition<List>(dense.finish(
            {dense.conv("y", z, dense.weight("w", {512, 512, 3, 3}), {1, 512, 7, 7}, 1, 1)})) == "onednn_0");
}

TEST_CASE("recurrent layers, and operators with only a reference implementation, run on portable's kernels") {
  Net n;
  const auto x = n.input("x", {5, 1, 6}), h = n.input("h", {1, 1, 4});
  const auto zero = n.op("aten.mul.Scalar", "zero", {1, 1, 4}, {{"self", n.v(h)}, {"other", n.i(0)}});
  const auto w = n.weight("w", {16, 6}), wx = n.weight("wx", {16, 4});
  const auto made = n.many("aten.lstm.input", {{"all", {5, 1, 4}}, {"end", {1, 1, 4}}, {"cell", {1, 1, 4}}},
                           {{"input", n.v(x)},
                            {"hx", n.draft.b.tensors({h, zero})},
                            {"params", n.draft.b.tensors({w, wx})},
                            {"has_biases", GraphBuilder::boolean(false)},
                            {"num_layers", n.i(1)},
                            {"dropout", GraphBuilder::real(0)},
                            {"train", GraphBuilder::boolean(false)},
                            {"bidirectional", GraphBuilder::boolean(false)},
                            {"batch_first", GraphBuilder::boolean(false)}});
  const auto scores = n.input("scores", {1, 8, 3, 7, 7}), mask = n.input("mask", {1, 8, 1, 7, 7});
  const auto masked = n.op("aten.add.Tensor", "masked", {1, 8, 3, 7, 7}, {{"self", n.v(scores)}, {"other", n.v(mask)}});
  const ExportedProgram program =
      n.finish({n.relu("y", made[0], {5, 1, 4}), made[1], made[2], n.relu("m", masked, {1, 8, 3, 7, 7})});
  CHECK(faults(program, n.sample()) == "");
  CHECK(steps(program).find("aten.lstm.input") != std::string::npos);
  CHECK(steps(program).find("aten.add.Tensor") != std::string::npos);
  const auto lowered = to_backend<onednn>(program, {});
  REQUIRE(lowered);
  CHECK(handle_of<onednn>(lowered->methods()[0].delegates[0]).code->kernels.size() == 2);
}

TEST_CASE("a padding that others use too stays") {
  Net n;
  const ExportedProgram program = support::convolution_with_shared_padding(n);
  CHECK(faults(program, n.sample()) == "");
}

TEST_CASE("a pointwise convolution and the depthwise one after it") {
  Net n;
  const auto w1 = n.weight("w1", {96, 16, 1, 1}, 0.3);
  const auto w2 = n.weight("w22", {96, 1, 3, 3}, 0.4);
  const auto x = n.input("x", {1, 16, 112, 112});
  const auto a =
      n.relu("r", n.norm("n1", n.conv("c1", x, w1, {1, 96, 112, 112}), {1, 96, 112, 112}), {1, 96, 112, 112});
  const auto b =
      n.relu("s", n.norm("n2", n.conv("c2", a, w2, {1, 96, 56, 56}, 2, 1, 96), {1, 96, 56, 56}), {1, 96, 56, 56});
  const ExportedProgram program = n.finish({b});
  CHECK(faults(program, n.sample()) == "");
}

TEST_CASE("parts of a concatenation, at batch 1 made in their places") {
  for (const std::int64_t batch : {1, 2}) {
    CAPTURE(batch);
    Net n;
    const auto w1 = n.weight("w1", {16, 16, 1, 1});
    const auto w2 = n.weight("w22", {32, 16, 3, 3}, 0.2);
    const auto x = n.input("x", {batch, 16, 6, 6});
    const auto a = n.relu("a", n.conv("c1", x, w1, {batch, 16, 6, 6}), {batch, 16, 6, 6});
    const auto b = n.relu("b", n.conv("c2", x, w2, {batch, 32, 6, 6}, 1, 1), {batch, 32, 6, 6});
    const auto cat =
        n.op("aten.cat.default", "cat", {batch, 48, 6, 6}, {{"tensors", n.draft.b.tensors({a, b})}, {"dim", n.i(1)}});
    const auto pool = n.op(
        "aten.max_pool2d.default", "pool", {batch, 48, 3, 3},
        {{"self", n.v(cat)}, {"kernel_size", n.ints({3, 3})}, {"stride", n.ints({2, 2})}, {"padding", n.ints({1, 1})}});
    const ExportedProgram program =
        n.finish({pool, n.op("aten.neg.default", "neg", {batch, 16, 6, 6}, {{"self", n.v(a)}})});
    CHECK(faults(program, n.sample()) == "");
  }
}

TEST_CASE("nested concatenations: an earlier concatenation is a part of the next one") {
  for (const std::int64_t channels : {16, 6}) {  // in whole blocks, and in partial ones
    CAPTURE(channels);
    Net n;
    auto x = n.input("x", {1, 16, 6, 6});
    std::vector<ValueId> parts{
        n.relu("first", n.conv("c", x, n.weight("w", {channels, 16, 1, 1}), {1, channels, 6, 6}), {1, channels, 6, 6})};
    ValueId whole = parts[0];
    for (std::int64_t i = 1; i < 4; ++i) {
      const std::string number = std::to_string(i);
      const auto own = n.op("aten.mul.Tensor", "own" + number, {1, i * channels, 6, 6},
                            {{"self", n.v(whole)}, {"other", n.v(whole)}});
      const auto w =
          n.weight(std::string("w").append(static_cast<std::size_t>(i), 'x'), {channels, i * channels, 3, 3}, 0.1);
      parts.push_back(
          n.relu("part" + number, n.conv("c" + number, own, w, {1, channels, 6, 6}, 1, 1), {1, channels, 6, 6}));
      std::vector<Argument> items;
      for (const ValueId part : parts) items.push_back(n.v(part));
      whole = n.op("aten.cat.default", "cat" + number, {1, (i + 1) * channels, 6, 6},
                   {{"tensors", n.draft.b.list(items, ArgumentKind::value)}, {"dim", n.i(1)}});
    }
    const auto some = n.op("aten.cat.default", "some", {1, 3 * channels, 6, 6},
                           {{"tensors", n.draft.b.tensors({parts[3], parts[1], parts[1]})}, {"dim", n.i(1)}});
    const ExportedProgram program =
        n.finish({n.op("aten.neg.default", "neg", {1, 4 * channels, 6, 6}, {{"self", n.v(whole)}}), some});
    CHECK(faults(program, n.sample()) == "");
    const bool in_blocks =
        channels == 16 &&
        (onednn_ops::major_version < 3 || onednn_ops::has_wide_vectors());  // 3 uses channels_last for 256-bit vectors
    if (in_blocks)
      CHECK(steps(program).find("aten.cat.default") ==
            steps(program).rfind("aten.cat.default") -
                2 * std::string("aten.cat.default ").size());  // only the parts of `some`
  }
}

TEST_CASE("one part twice, and a part that is an output itself") {
  Net n;
  const auto x = n.input("x", {1, 4});
  const auto a = n.relu("a", x, {1, 4});
  const auto cat =
      n.op("aten.cat.default", "cat", {1, 12}, {{"tensors", n.draft.b.tensors({a, x, a})}, {"dim", n.i(-1)}});
  CHECK(faults(n.finish({cat, a}), n.sample()) == "");
}

TEST_CASE("attention: products of permuted tensors, softmax, layer norm, gelu behind a view") {
  Net n;
  const auto w1 = n.weight("w1", {96, 32}, 0.3);
  const auto b1 = n.weight("b1x", {96});
  const auto w2 = n.weight("w2xx", {64, 32}, 0.3);
  const auto gamma = n.weight("gamma", {32}, 0.5, 1);
  const auto beta = n.weight("betaxx", {32});
  const auto x = n.input("x", {2, 6, 32});
  const auto norm =
      n.many("aten.native_layer_norm.default", {{"ln", {2, 6, 32}}, {"mean", {2, 6, 1}}, {"rstd", {2, 6, 1}}},
             {{"input", n.v(x)},
              {"normalized_shape", n.ints({32})},
              {"weight", n.v(gamma)},
              {"bias", n.v(beta)},
              {"eps", davit::GraphBuilder::real(1e-5)}})[0];
  const auto qkv =
      n.op("aten.linear.default", "qkv", {2, 6, 96}, {{"input", n.v(norm)}, {"weight", n.v(w1)}, {"bias", n.v(b1)}});
  const auto parts = n.op("aten.permute.default", "parts", {3, 2, 4, 6, 8},
                          {{"self", n.v(n.op("aten.view.default", "split", {2, 6, 3, 4, 8},
                                             {{"self", n.v(qkv)}, {"size", n.ints({2, 6, 3, 4, 8})}}))},
                           {"dims", n.ints({2, 0, 3, 1, 4})}});
  std::vector<Net::Value> heads;
  for (const std::int64_t i : {0, 1, 2})
    heads.push_back(n.op("aten.select.int", davit::concat("part", i), {2, 4, 6, 8},
                         {{"self", n.v(parts)}, {"dim", n.i(0)}, {"index", n.i(i)}}));
  const auto kt =
      n.op("aten.transpose.int", "kt", {2, 4, 8, 6}, {{"self", n.v(heads[1])}, {"dim0", n.i(-2)}, {"dim1", n.i(-1)}});
  const auto scores =
      n.op("aten.matmul.default", "scores", {2, 4, 6, 6}, {{"self", n.v(heads[0])}, {"other", n.v(kt)}});
  const auto scaled = n.op("aten.mul.Tensor", "scaled", {2, 4, 6, 6},
                           {{"self", n.v(scores)}, {"other", davit::GraphBuilder::real(0.35)}});
  const auto weights =
      n.op("aten._softmax.default", "sm", {2, 4, 6, 6},
           {{"self", n.v(scaled)}, {"dim", n.i(-1)}, {"half_to_float", davit::GraphBuilder::boolean(false)}});
  const auto mixed =
      n.op("aten.matmul.default", "mixed", {2, 4, 6, 8}, {{"self", n.v(weights)}, {"other", n.v(heads[2])}});
  const auto back =
      n.op("aten.permute.default", "back", {2, 6, 4, 8}, {{"self", n.v(mixed)}, {"dims", n.ints({0, 2, 1, 3})}});
  const auto rows = n.op("aten.view.default", "rows", {12, 32}, {{"self", n.v(back)}, {"size", n.ints({12, 32})}});
  const auto wt = n.op("aten.permute.default", "wt", {32, 64}, {{"self", n.v(w2)}, {"dims", n.ints({1, 0})}});
  const auto product = n.op("aten.mm.default", "product", {12, 64}, {{"self", n.v(rows)}, {"mat2", n.v(wt)}});
  const auto viewed =
      n.op("aten.view.default", "viewed", {2, 6, 64}, {{"self", n.v(product)}, {"size", n.ints({2, 6, 64})}});
  const auto gelu = n.op("aten.gelu.default", "gelu", {2, 6, 64}, {{"self", n.v(viewed)}});
  const ExportedProgram program = n.finish({gelu});
  CHECK(faults(program, n.sample()) == "");
  const std::string names = steps(program);
  CHECK(names.find("gelu") == std::string::npos);
  CHECK(names.find("mul.Tensor") == std::string::npos);
}

TEST_CASE("pooling, reductions and elementwise functions") {
  Net n;
  const auto x = n.input("x", {2, 3, 7, 8});
  const auto avg = n.op(
      "aten.avg_pool2d.default", "avg", {2, 3, 4, 4},
      {{"self", n.v(x)}, {"kernel_size", n.ints({3, 3})}, {"stride", n.ints({2, 2})}, {"padding", n.ints({1, 1})}});
  const auto adaptive = n.op("aten._adaptive_avg_pool2d.default", "ad", {2, 3, 2, 1},
                             {{"self", n.v(avg)}, {"output_size", n.ints({2, 1})}});
  const auto mean = n.op("aten.mean.dim", "mean", {2, 3}, {{"self", n.v(x)}, {"dim", n.ints({-1, -2})}});
  const auto sum = n.op("aten.sum.dim_IntList", "sum", {2, 1, 7, 8},
                        {{"self", n.v(x)}, {"dim", n.ints({1})}, {"keepdim", davit::GraphBuilder::boolean(true)}});
  const auto scaled = n.op("aten.mul.Tensor", "scaled", {2, 3, 7, 8}, {{"self", n.v(sum)}, {"other", n.v(x)}});
  std::vector<Net::Value> out{adaptive, mean, scaled};
  for (const std::string_view f :
       {"hardswish", "sigmoid", "silu", "tanh", "gelu", "hardsigmoid", "elu", "leaky_relu", "abs", "neg"})
    out.push_back(n.op(davit::concat("aten.", f, ".default"), f, {2, 3, 7, 8}, {{"self", n.v(x)}}));
  for (const auto v : out) n.draft.output(v);
  CHECK(faults(n.draft.finish(), n.sample()) == "");
}

TEST_CASE("slices, parts of a split, views of inputs, outputs that are inputs or the same value twice") {
  Net n;
  const auto x = n.input("x", {4, 6});
  const auto y = n.input("y", {6});
  const auto slice = n.op("aten.slice.Tensor", "slice", {2, 6},
                          {{"self", n.v(x)}, {"dim", n.i(0)}, {"start", n.i(-3)}, {"end", n.i(4)}, {"step", n.i(2)}});
  const auto column = n.op("aten.select.int", "column", {4}, {{"self", n.v(x)}, {"dim", n.i(1)}, {"index", n.i(-1)}});
  const auto t = n.op("aten.t.default", "t", {6, 4}, {{"self", n.v(x)}});
  const auto sum = n.op("aten.sub.Tensor", "sum", {2, 6}, {{"self", n.v(slice)}, {"other", n.v(y)}});
  const ExportedProgram program = n.finish({slice, column, t, sum, sum, x});
  CHECK(faults(program, n.sample()) == "");
}

TEST_CASE("an input in another order that is used twice, first by a primitive that could write in place") {
  Net n;
  const auto turned =
      n.op("aten.permute.default", "turned", {6, 4}, {{"self", n.v(n.input("x", {4, 6}))}, {"dims", n.ints({1, 0})}});
  const auto rows = n.op("aten.view.default", "rows", {3, 8}, {{"self", n.v(turned)}, {"size", n.ints({3, 8})}});
  const auto twice = n.add("twice", rows, n.input("y", {8}), {3, 8});
  const auto product =
      n.op("aten.mm.default", "product", {3, 5}, {{"self", n.v(twice)}, {"mat2", n.v(n.input("w", {8, 5}))}});
  const ExportedProgram program =
      n.finish({product, n.op("aten.cos.default", "cosine", {6, 4}, {{"self", n.v(turned)}})});
  CHECK(faults(program, n.sample()) == "");
}

TEST_CASE("slices that end before the step after their last element") {
  Net n;
  const auto x = n.input("x", {2, 5, 3});
  const auto y = n.relu("y", x, {2, 5, 3});
  const auto slice = [&](const char* name, support::Sizes sizes, std::int64_t dim, std::int64_t start,
                         std::int64_t step) {
    const auto part =
        n.op("aten.slice.Tensor", name, sizes,
             {{"self", n.v(y)}, {"dim", n.i(dim)}, {"start", n.i(start)}, {"end", n.i(100)}, {"step", n.i(step)}});
    return n.op("aten.neg.default", std::string("neg_") + name, sizes, {{"self", n.v(part)}});
  };
  const ExportedProgram program = n.finish({slice("s1", {2, 3, 3}, 1, 0, 2), slice("s2", {2, 2, 3}, 1, 1, 3),
                                            slice("s3", {1, 5, 3}, 0, 1, 7), slice("s4", {2, 5, 2}, 2, 0, 2)});
  CHECK(faults(program, n.sample()) == "");
}

TEST_CASE("operations on two tensors, one after the other, are one step; so is a cell of a GRU's end") {
  Net n;
  const auto x = n.input("x", {2, 48});
  const auto y = n.input("y", {2, 48});
  const auto z = n.input("z", {1, 48});
  const auto binary = [&](std::string_view target, std::string_view name, auto a, auto b) {
    return n.op(target, name, {2, 48}, {{"self", n.v(a)}, {"other", n.v(b)}});
  };
  const auto full =
      n.op("aten.full.default", "full", {2, 48}, {{"size", n.ints({2, 48})}, {"fill_value", GraphBuilder::real(0.25)}});
  const auto gate = n.op("aten.sigmoid.default", "gate", {2, 48}, {{"self", n.v(n.add("a", x, full, {2, 48}))}});
  const auto sum = binary("aten.add.Tensor", "sum", z, binary("aten.mul.Tensor", "m", y, gate));
  const auto made = n.op("aten.tanh.default", "made", {2, 48}, {{"self", n.v(sum)}});
  const auto state = binary("aten.mul.Tensor", "m2", binary("aten.sub.Tensor", "s", y, made), x);
  const ExportedProgram program = n.finish({binary("aten.add.Tensor", "next", state, made)});
  CHECK(faults(program, n.sample()) == "");
  CHECK(steps(program) == "aten.add.Tensor aten.sub.Tensor");
}

TEST_CASE("a constant that is made when compiling") {
  Net n;
  const auto full =
      n.op("aten.full.default", "full", {3, 4}, {{"size", n.ints({3, 4})}, {"fill_value", GraphBuilder::real(-2)}});
  const ExportedProgram program = n.finish({full, n.relu("r", n.add("a", full, n.input("x", {4}), {3, 4}), {3, 4})});
  CHECK(faults(program, n.sample()) == "");
}

TEST_CASE("one row times a large matrix, alone and with an epilogue that one primitive cannot take") {
  for (const std::uint32_t threads : {1, 2}) {  // a kernel that reads the matrix unpacked; a convolution of one pixel
    CAPTURE(threads);
    onednn::set_threads(threads);
    Net n;
    const auto x = n.input("x", {1, 523});
    const auto shortcut = n.input("shortcut", {1, 607});
    const auto w = n.weight("w", {607, 523}, 0.1), turned = n.weight("wx", {523, 607}, 0.1);
    const auto bias = n.weight("bias", {607});
    const auto linear = [&](std::string_view name) {
      return n.op("aten.linear.default", name, {1, 607}, {{"input", n.v(x)}, {"weight", n.v(w)}, {"bias", n.v(bias)}});
    };
    const auto wide =
        n.op("aten.linear.default", "l3", {2, 607}, {{"input", n.v(n.input("x2", {2, 523}))}, {"weight", n.v(w)}});
    const auto product = n.op("aten.mm.default", "mm", {1, 607}, {{"self", n.v(x)}, {"mat2", n.v(turned)}});
    const ExportedProgram program =
        n.finish({n.relu("r", linear("l"), {1, 607}), n.add("sum", linear("l2"), shortcut, {1, 607}), wide, product});
    CHECK(faults(program, n.sample()) == "");
    const auto lowered = to_backend<onednn>(program, {});
    REQUIRE(lowered);
    CHECK(handle_of<onednn>(lowered->methods()[0].delegates[0]).code->kernels.size() == (threads == 1 ? 2 : 0));
    onednn::set_threads(1);
  }
}

TEST_CASE("long columns that fill a quarter of a vector are multiplied by a kernel, with the epilogue behind it") {
  Net n;
  const auto x = n.input("x", {3, 8, 256});
  const auto w = n.weight("w", {4, 256}, 0.1), wide = n.weight("wide", {16, 256}, 0.1), bias = n.weight("bias", {4});
  const auto thin =
      n.op("aten.linear.default", "thin", {3, 8, 4}, {{"input", n.v(x)}, {"weight", n.v(w)}, {"bias", n.v(bias)}});
  const auto other = n.op("aten.linear.default", "other", {3, 8, 16}, {{"input", n.v(x)}, {"weight", n.v(wide)}});
  const ExportedProgram program = n.finish({n.relu("r", thin, {3, 8, 4}), other});
  CHECK(faults(program, n.sample()) == "");
  const auto lowered = to_backend<onednn>(program, {});
  REQUIRE(lowered);
  CHECK(handle_of<onednn>(lowered->methods()[0].delegates[0]).code->kernels.size() ==
        (onednn_ops::has_wide_vectors() ? 1 : 0));
}

TEST_CASE("3 x 3 on large and on small images; a step with little to do takes one thread") {
  Net n;
  const auto x = n.input("x", {1, 64, 16, 16});
  const auto w = n.weight("w", {64, 64, 3, 3}, 0.1);
  const auto a = n.relu("a", n.conv("c1", x, w, {1, 64, 16, 16}, 1, 1), {1, 64, 16, 16});
  const auto b = n.relu("b", n.conv("c2", a, w, {1, 64, 8, 8}, 2, 1), {1, 64, 8, 8});
  const auto c = n.conv("c3", b, w, {1, 64, 8, 8}, 1, 1);
  const ExportedProgram program =
      n.finish({n.op("aten.mean.dim", "m", {1, 64}, {{"self", n.v(c)}, {"dim", n.ints({2, 3})}})});
  CHECK(faults(program, n.sample()) == "");
  const auto lowered = to_backend<onednn>(program, {.threads = 3, .fast_math = true});
  REQUIRE(lowered);
  const std::vector<onednn_ops::Step>& made = handle_of<onednn>(lowered->methods()[0].delegates[0]).code->steps;
  CHECK(made.front().threads == 3);
  CHECK(made.back().threads == 1);
  Session session = *Session::make(*lowered);
  CHECK(session.run(0, n.sample()));
}

TEST_CASE("3 x 3 by Winograd's algorithm: with a sum and clamps behind it, and with other epilogues") {
  for (const std::int64_t size : {10, 24})  // squares of 2 x 2 and of 4 x 4
    for (const std::int64_t batch : {1, 3}) {
      CAPTURE(size);
      CAPTURE(batch);
      Net n;
      const auto x = n.input("x", {batch, 48, size, size});
      const auto w = n.weight("w", {48, 48, 3, 3}, 0.02);
      const auto first = n.relu("first", n.conv("c1", x, w, {batch, 48, size, size}, 1, 1), {batch, 48, size, size});
      const auto added =
          n.op("aten.add.Tensor", "added", {batch, 48, size, size},
               {{"self", n.v(n.conv("c2", first, w, {batch, 48, size, size}, 1, 1))}, {"other", n.v(x)}});
      const auto bounded = n.relu("bounded", added, {batch, 48, size, size});  // the input is still needed
      const auto again =
          n.op("aten.add.Tensor", "again", {batch, 48, size, size},
               {{"self", n.v(bounded)},
                {"other",
                 n.v(n.conv("c3", bounded, w, {batch, 48, size, size}, 1, 1))}});  // over a value without later uses
      const auto other = n.op("aten.sigmoid.default", "other", {batch, 48, size, size},
                              {{"self", n.v(n.conv("c4", again, w, {batch, 48, size, size}, 1, 1))}});
      CHECK(faults(n.finish({n.op("aten.sub.Tensor", "end", {batch, 48, size, size},
                                  {{"self", n.v(other)}, {"other", n.v(x)}})}),
                   n.sample()) == "");
    }
}

TEST_CASE("inputs may have any strides") {
  Net n;
  const auto w = n.weight("w", {5, 3});
  const auto x = n.input("x", {4, 3});
  const ExportedProgram program =
      n.finish({n.op("aten.linear.default", "y", {4, 5}, {{"input", n.v(x)}, {"weight", n.v(w)}})});
  const auto lowered = to_backend<onednn>(program, {});
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  const std::vector<EValue> sample = n.sample();
  const auto straight = session.run(0, sample);
  REQUIRE(straight);
  const std::vector<float> expected = support::elements((*straight)[0]);
  Tensor turned = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{3, 4});
  for (std::int64_t r = 0; r < 4; ++r)
    for (std::int64_t c = 0; c < 3; ++c)
      turned.view().as<float>()[c * 4 + r] = sample[0].tensor().as<float>()[r * 3 + c];
  const std::int64_t sizes[] = {4, 3};
  const std::int64_t strides[] = {1, 4};
  const EValue inputs[] = {TensorView{turned.view().data, sizes, strides, 2, ScalarType::float32}};
  for (const bool again : {false, true}) {
    CAPTURE(again);
    const auto permuted = session.run(0, inputs);
    REQUIRE(permuted);
    CHECK(support::elements((*permuted)[0]) == expected);
    const auto plain = session.run(0, sample);
    REQUIRE(plain);
    CHECK(support::elements((*plain)[0]) == expected);
  }
}

TEST_CASE("preprocess names the node that it refuses") {
  const ExportedProgram program = programs::binary("aten.igamma.default", {2});
  const auto lowered = to_backend<onednn>(program, {});
  REQUIRE_FALSE(lowered);
  CHECK(lowered.error().code == ErrorCode::unsupported_operator);
  CHECK(lowered.error().source.view().find("return x + h") != std::string_view::npos);
}

TEST_CASE("sessions run at the same time") {
  Net n;
  const auto lowered = to_backend<onednn>(residual_block(n), {.threads = 1});
  REQUIRE(lowered);
  CHECK(support::wrong_concurrent_runs(*lowered, n.sample(), 4, 20) == 0);
}

TEST_CASE("a run allocates nothing once it is warm") {
  Net n;
  const ExportedProgram program = residual_block(n);
  for (const std::uint32_t threads : {1u, 3u}) {
    const auto lowered = to_backend<onednn>(program, {.threads = threads});
    REQUIRE(lowered);
    support::check_no_allocations_once_warm(*Session::make(*lowered), n.sample());
  }
}

TEST_CASE("threads are part of the spec, or a default") {
  Net n;
  const ExportedProgram program = residual_block(n);
  for (const std::uint32_t threads : {1u, 3u}) {
    const auto lowered = to_backend<onednn>(program, {.threads = threads});
    REQUIRE(lowered);
    CHECK(handle_of<onednn>(lowered->methods()[0].delegates[0]).code->threads == static_cast<int>(threads));
    Session session = *Session::make(*lowered);
    CHECK(session.run(0, n.sample()));
    const kernels::ThreadTeam* const team =
        kernels::team_of_this_thread(threads);  // of what portable computes in the same list
    if (team != nullptr && onednn_ops::OpenMp::loaded().parallel != nullptr)
      CHECK(team->runs_on(onednn_ops::run_on_openmp, nullptr));
  }
  onednn::set_threads(2);
  const auto lowered = to_backend<onednn>(program, {});
  onednn::set_threads(1);
  REQUIRE(lowered);
  CHECK(handle_of<onednn>(lowered->methods()[0].delegates[0]).code->threads == 2);
  const auto spec = onednn::load_spec(onednn::save_spec({.threads = 5}));
  REQUIRE(spec);
  CHECK(spec->threads == 5);
  CHECK_FALSE(onednn::load_spec({}));
}

TEST_CASE("a file may declare anything") {
  Net n;
  const ExportedProgram program = residual_block(n);
  const auto lowered = to_backend<onednn>(program, {});
  REQUIRE(lowered);
  const ProgramBody& body = *processed_of<onednn>(lowered->methods()[0].delegates[0]).body;
  const auto compiled = [&](auto&& damage) {
    ProgramBody copy = body;
    damage(copy);
    return onednn::compile({std::make_shared<const ProgramBody>(std::move(copy))}, {});
  };
  CHECK(compiled([](auto&) {}));
  CHECK_FALSE(compiled([](auto& b) { b.constants[0].sizes[0] = 1 << 20; }));
  CHECK_FALSE(compiled([](auto& b) { b.constants[0].strides[0] = 1 << 20; }));
  CHECK_FALSE(compiled([](auto& b) { b.constants[0].dtype = ScalarType::int32; }));
  CHECK_FALSE(compiled([](auto& b) { b.graph.values.back().dtype = ScalarType::complex64; }));
  for (std::size_t d = 0; d < body.graph.dims.size(); ++d) (void)compiled([&](auto& b) { b.graph.dims[d].value += 1; });
  for (std::size_t d = 0; d < body.graph.dims.size(); ++d) (void)compiled([&](auto& b) { b.graph.dims[d].value = -1; });
  for (std::size_t a = 0; a < body.graph.arguments.size(); ++a)
    if (body.graph.arguments[a].kind == ArgumentKind::int_) {
      (void)compiled([&](auto& b) { b.graph.arguments[a].payload = 0; });
      (void)compiled([&](auto& b) { b.graph.arguments[a].payload = INT64_MIN; });
      (void)compiled([&](auto& b) { b.graph.arguments[a].payload = INT64_MAX; });
    }
}

TEST_CASE("any damaged byte of a saved module is an error or another program, never a crash") {
  Net n;
  const auto w = n.weight("w", {4, 2, 3, 3});
  const auto x = n.input("x", {1, 2, 5, 5});
  const auto c = n.relu("r", n.conv("c", x, w, {1, 4, 5, 5}, 1, 1), {1, 4, 5, 5});
  const auto flat = n.op("aten.view.default", "v", {4, 25}, {{"self", n.v(c)}, {"size", n.ints({4, 25})}});
  const auto m = n.weight("mm", {25, 3});
  const auto product = n.op("aten.mm.default", "p", {4, 3}, {{"self", n.v(flat)}, {"mat2", n.v(m)}});
  const auto part =
      n.op("aten.slice.Tensor", "s", {4, 2}, {{"self", n.v(product)}, {"dim", n.i(1)}, {"start", n.i(1)}});
  const auto cat =
      n.op("aten.cat.default", "cat", {8, 2}, {{"tensors", n.draft.b.tensors({part, part})}, {"dim", n.i(0)}});
  const auto lowered = to_backend<onednn>(n.finish({cat}), {});
  REQUIRE(lowered);
  CHECK(support::run_damaged(*lowered, n.sample()) > 0);
}

TEST_CASE("a function of a sum whose channels do not fill a vector") {
  for (const std::int64_t channels : {8, 24}) {
    Net n;
    const auto w = n.weight("w", {channels, channels / 2, 3, 3}, 0.3);
    const auto x = n.input("x", {2, channels, 8, 8});
    const auto c = n.conv("c", x, w, {2, channels, 8, 8}, 1, 1, 2);
    const ExportedProgram program =
        n.finish({n.relu("r", n.add("sum", c, c, {2, channels, 8, 8}), {2, channels, 8, 8})});
    CHECK(faults(program, n.sample()) == "");
  }
}

TEST_CASE("an image times its one channel of weights, where channels do not fill their blocks") {
  for (const std::int64_t channels : {24, 33}) {
    CAPTURE(channels);
    Net n;
    const auto x = n.input("x", {2, 16, 32, 32}), w = n.weight("w", {channels, 16, 3, 3}, 0.1),
               v = n.weight("v", {1, channels, 3, 3}, 0.1);
    const auto wide = n.conv("c", x, w, {2, channels, 32, 32}, 1, 1);
    const auto image = n.op("aten.max_pool2d.default", "p", {2, channels, 16, 16},
                            {{"self", n.v(wide)}, {"kernel_size", n.ints({2, 2})}});
    const auto gate = n.conv("g", image, v, {2, 1, 16, 16}, 1, 1);
    const auto product =
        n.op("aten.mul.Tensor", "m", {2, channels, 16, 16}, {{"self", n.v(image)}, {"other", n.v(gate)}});
    const ExportedProgram program = n.finish({product});
    CHECK(faults(program, n.sample()) == "");
  }
}

TEST_CASE("division by a number is rounded once, alone and after a convolution") {
  Net n;
  const auto x = n.input("x", {1, 16, 10, 10});
  const auto quotient = n.op("aten.div.Tensor", "q", {1, 16, 10, 10}, {{"self", n.v(x)}, {"other", n.i(41)}});
  Tensor kernel = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{16, 16, 1, 1});
  for (std::int64_t i = 0; i < 16; ++i) kernel.view().as<float>()[17 * i] = 1;
  const auto same = n.conv("c", x, n.draft.parameter("w", kernel), {1, 16, 10, 10});
  const auto after = n.relu(
      "r", n.op("aten.div.Tensor", "p", {1, 16, 10, 10}, {{"self", n.v(same)}, {"other", n.i(41)}}), {1, 16, 10, 10});
  const auto lowered = to_backend<onednn>(n.finish({quotient, after}), {});
  REQUIRE(lowered);
  Tensor input = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{1, 16, 10, 10});
  for (std::int64_t i = 0; i < input.numel(); ++i) input.view().as<float>()[i] = static_cast<float>(i);
  Session session = *Session::make(*lowered);
  const auto out = session.run(0, std::vector<EValue>{input.view()});
  REQUIRE(out);
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < input.numel(); ++i)
    for (const EValue& result : out->all())
      wrong += result.tensor().as<float>()[i] == static_cast<float>(i) / 41 ? 0 : 1;
  CHECK(wrong == 0);
}
