// SPDX-License-Identifier: MIT
#include "davit/backends/xnnpack/convolution_rules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "backends/xnnpack/check.hpp"
#include "davit/backends/portable.hpp"
#include "davit/backends/xnnpack.hpp"
#include "davit/lowered/backend_list.hpp"

using namespace davit;
using support::Net;
using support::residual_block;
using xnnpack_check::faults;
using xnnpack_check::real;
using xnnpack_check::steps;
using xnnpack_parts::Op;

TEST_CASE("a residual block: norms and relus are part of the convolutions and of the sum") {
  Net n;
  const ExportedProgram program = residual_block(n);
  CHECK(faults(program, n.sample()) == "");
  CHECK(steps(program) ==
        std::vector{Op::copy, Op::convolution, Op::convolution, Op::convolution, Op::kernel, Op::copy});
}

TEST_CASE("groups, depthwise, dilation, padding by hand") {
  Net n;
  const auto w1 = n.weight("w1", {32, 16, 3, 3}, 0.2);
  const auto w2 = n.weight("w22", {32, 1, 3, 3});
  const auto x = n.input("x", {1, 32, 9, 9});
  const auto padded = n.op("aten.constant_pad_nd.default", "p", {1, 32, 12, 10},
                           {{"self", n.v(x)}, {"pad", n.ints({1, 0, 2, 1})}, {"value", n.i(0)}});
  const auto c1 = n.conv("c1", padded, w1, {1, 32, 8, 6}, 1, 0, 2, 2);
  const auto c2 =
      n.op("aten.hardtanh.default", "h", {1, 32, 8, 6},
           {{"self", n.v(n.conv("c2", c1, w2, {1, 32, 8, 6}, 1, 1, 32))}, {"min_val", real(0)}, {"max_val", real(6)}});
  const ExportedProgram program = n.finish({c2});
  CHECK(faults(program, n.sample()) == "");
  CHECK(std::ranges::count(steps(program), Op::kernel) == 0);
}

namespace {

/// A transposed convolution's numbers, the same in each dimension.
struct Transposed {
  std::int64_t stride = 1, pad = 0, output_pad = 0, dilation = 1, groups = 1;
};

/// A transposed convolution with a weight (in, out / groups, spatial).
ValueId transposed(Net& n, ValueId x, ValueId w, ValueId bias, support::Sizes sizes, const Transposed& t) {
  const auto all = [&](std::int64_t number) { return sizes.size() == 3 ? n.ints({number}) : n.ints({number, number}); };
  return n.op("aten.convolution.default", "up", sizes,
              {{"input", n.v(x)},
               {"weight", n.v(w)},
               {"bias", bias == no_id ? Argument{} : n.v(bias)},
               {"stride", all(t.stride)},
               {"padding", all(t.pad)},
               {"dilation", all(t.dilation)},
               {"transposed", GraphBuilder::boolean(true)},
               {"output_padding", all(t.output_pad)},
               {"groups", n.i(t.groups)}});
}

void check_transposed(support::Sizes input, support::Sizes weight, support::Sizes output, const Transposed& t) {
  for (const bool constant : {true, false}) {
    Net n;
    const auto x = n.input("x", input);
    const auto w = constant ? n.weight("w", weight, 0.3) : n.input("w", weight);
    const auto bias = n.weight("bias", {output.begin()[1]});
    const ExportedProgram program = n.finish({n.relu("r", transposed(n, x, w, bias, output, t), output)});
    CHECK(faults(program, n.sample()) == "");
    CHECK(std::ranges::count(steps(program), Op::transposed_convolution) == (constant ? 1 : 0));
    CHECK(std::ranges::count(steps(program), Op::kernel) == (constant ? 0 : 2));
  }
}

}  // namespace

TEST_CASE("transposed convolutions: strides, paddings, dilation, groups, images and lines") {
  check_transposed({2, 6, 5, 4}, {6, 8, 2, 2}, {2, 8, 10, 8}, {.stride = 2});
  check_transposed({1, 6, 5, 4}, {6, 8, 3, 3}, {1, 8, 10, 8}, {.stride = 2, .pad = 1, .output_pad = 1});
  check_transposed({1, 6, 5, 4}, {6, 8, 3, 3}, {1, 8, 5, 4}, {.pad = 1});
  check_transposed({1, 4, 5, 4}, {4, 3, 4, 4}, {1, 3, 15, 12}, {.stride = 3, .pad = 1, .output_pad = 1});
  check_transposed({1, 4, 5, 4}, {4, 3, 2, 2}, {1, 3, 14, 11}, {.stride = 3});
  check_transposed({2, 8, 4, 4}, {8, 3, 3, 3}, {2, 6, 11, 11}, {.stride = 2, .dilation = 2, .groups = 2});
  check_transposed({2, 8, 7}, {8, 5, 4}, {2, 5, 14}, {.stride = 2, .pad = 1});
}

TEST_CASE("a batch norm is folded into the weights of a transposed convolution; a padding before it is not") {
  Net n;
  const auto x = n.input("x", {1, 6, 5, 4});
  const auto padded = n.op("aten.constant_pad_nd.default", "p", {1, 6, 6, 5},
                           {{"self", n.v(x)}, {"pad", n.ints({1, 0, 0, 1})}, {"value", n.i(0)}});
  const auto up =
      transposed(n, padded, n.weight("w", {6, 4, 3, 3}, 0.3), no_id, {1, 8, 13, 11}, {.stride = 2, .groups = 2});
  const ExportedProgram program = n.finish({n.relu("r", n.norm("bn", up, {1, 8, 13, 11}), {1, 8, 13, 11})});
  CHECK(faults(program, n.sample()) == "");
  CHECK(std::ranges::count(steps(program), Op::kernel) == 1);
  CHECK(std::ranges::count(steps(program), Op::transposed_convolution) == 1);
  CHECK(std::ranges::count(steps(program), Op::convolution) == 0);
}

TEST_CASE(
    "depthwise convolutions of taps that XNNPACK has no kernels for, and small groups, are portable's kernels, padding "
    "included") {
  const auto is_by_kernel = [](std::int64_t channels, std::int64_t filters, std::int64_t groups, std::int64_t size) {
    Net n;
    const auto w = n.weight("w", {filters, channels / groups, size, size}, 0.2);
    const auto x = n.input("x", {1, channels, 9, 9});
    const std::int64_t left = 9 - size + 2;
    const auto padded = n.op("aten.constant_pad_nd.default", "p", {1, channels, 10, 10},
                             {{"self", n.v(x)}, {"pad", n.ints({1, 0, 0, 1})}, {"value", n.i(0)}});
    const ExportedProgram program = n.finish(
        {n.relu("r", n.conv("c", padded, w, {1, filters, left, left}, 1, 0, groups), {1, filters, left, left})});
    CHECK(faults(program, n.sample()) == "");
    return std::ranges::count(steps(program), Op::convolution) == 0;
  };
  for (const std::int64_t size : {2, 3, 5}) CHECK(!is_by_kernel(8, 8, 8, size));
  for (const std::int64_t size : {1, 4, 7}) CHECK(is_by_kernel(8, 8, 8, size));
  CHECK(!is_by_kernel(32, 32, 2, 3));
  CHECK(is_by_kernel(32, 32, 4, 3));
  CHECK(is_by_kernel(32, 64, 32, 3));
}

TEST_CASE("a batch norm of volumes") {
  Net n;
  const auto x = n.input("x", {2, 3, 2, 4, 5});
  const ExportedProgram program = n.finish({n.relu("r", n.norm("bn", x, {2, 3, 2, 4, 5}), {2, 3, 2, 4, 5})});
  CHECK(faults(program, n.sample()) == "");
}

TEST_CASE("padding 'same' puts the odd element at the end") {
  Net n;
  const auto w = n.weight("w", {5, 4, 2, 4}, 0.2);
  const auto x = n.input("x", {1, 4, 8, 6});
  const auto same = n.op("aten.conv2d.padding", "same", {1, 5, 8, 6},
                         {{"input", n.v(x)},
                          {"weight", n.v(w)},
                          {"bias", {}},
                          {"stride", n.ints({1, 1})},
                          {"padding", n.draft.b.string("same")},
                          {"dilation", n.ints({1, 1})},
                          {"groups", n.i(1)}});
  const auto padded =
      n.op("aten.constant_pad_nd.default", "p", {1, 4, 9, 9}, {{"self", n.v(x)}, {"pad", n.ints({1, 2, 0, 1})}});
  const std::vector<Tensor> out =
      xnnpack_check::outputs(n.finish({same, n.conv("c", padded, w, {1, 5, 8, 6})}), n.sample());
  REQUIRE(out.size() == 2);
  CHECK(testing::compare(EValue(out[0].view()), EValue(out[1].view()), {}, testing::Check::close) == "");
}

TEST_CASE("weights that are not constant, and norms that cannot be folded") {
  Net n;
  const ExportedProgram program = support::convolution_with_input_weights(n);
  CHECK(faults(program, n.sample()) == "");
}

TEST_CASE("a norm without a convolution") {
  Net n;
  const auto x = n.input("x", {2, 5, 3, 3});
  const ExportedProgram program = n.finish({n.relu("r", n.norm("bn", x, {2, 5, 3, 3}), {2, 5, 3, 3})});
  CHECK(faults(program, n.sample()) == "");
  CHECK(std::ranges::count(steps(program), Op::convolution) == 1);
}

TEST_CASE("weights beyond the cache are cut into parts") {
  Net n;
  const auto w = n.weight("w", {304, 128, 3, 3}, 0.05);
  const auto m = n.weight("mm", {700, 1216}, 0.05);
  const auto bias = n.weight("bias", {700});
  const auto x = n.input("x", {9, 128, 2, 2});
  const auto c = n.relu("r", n.conv("c", x, w, {9, 304, 2, 2}, 1, 1), {9, 304, 2, 2});
  const auto flat = n.op("aten.view.default", "flat", {9, 1216}, {{"self", n.v(c)}, {"size", n.ints({9, 1216})}});
  CHECK(faults(n.finish({n.op("aten.linear.default", "l", {9, 700},
                              {{"input", n.v(flat)}, {"weight", n.v(m)}, {"bias", n.v(bias)}})}),
               n.sample()) == "");
}

TEST_CASE("an overflow of a convolution stays one where a batch norm makes it small") {
  Net n;
  const auto w = n.weight("w", {2, 2, 1, 1}, 0, 1e31);
  const auto gamma = n.weight("gamma", {2}, 0, 1), beta = n.weight("beta", {2}), mean = n.weight("mean", {2}),
             variance = n.weight("variance", {2}, 0, 1e36);
  const auto x = n.input("x", {1, 2, 2, 2});
  const ExportedProgram program =
      n.finish({n.norm("bn", n.conv("c", x, w, {1, 2, 2, 2}), gamma, beta, mean, variance, {1, 2, 2, 2})});
  const std::vector<float> image(8, 1e8f);
  const Tensor pixels = *tensor(image, {1, 2, 2, 2});
  CHECK(faults(program, {EValue(pixels.view())}) == "");
}

TEST_CASE("a padding that others use too stays") {
  Net n;
  const ExportedProgram program = support::convolution_with_shared_padding(n);
  CHECK(faults(program, n.sample()) == "");
  CHECK(std::ranges::count(steps(program), Op::kernel) == 1);
}
