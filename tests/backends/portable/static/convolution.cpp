// SPDX-License-Identifier: MIT
#include "davit/backends/portable/static/convolution.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

#include "davit/backend/step_writer.hpp"
#include "davit/backends/portable/run_time/products/convolution.hpp"
#include "support/sanitized.hpp"
#include "support/static_kernels_test.hpp"

namespace {

namespace sf = davit::static_kernels;
using davit::ErrorCode;
using davit::EValue;
using davit::portable_kernels::convolution_ops;
using sf::Conv2d;
using sf::Layout;

/// The kernel that static lowering chooses.
template <class P>
constexpr void conv2d(const P& params, float* y, const float* x, const float* weight, const float* bias) {
  if (sf::numbers_of(params).has_tiles())
    sf::conv2d_tiles::run(params, y, x, weight, bias);
  else
    sf::conv2d_filters::run(params, y, x, weight, bias);
}

/// The operands of a convolution, and portable's result.
struct ConvTest : StaticFloatTest {
  EValue x, weight, bias;
  std::vector<float> packed;

  void prepare(const Conv2d& c) {
    x = random_tensor({c.batch, c.channels, c.in_h, c.in_w});
    weight = random_tensor({c.filters, c.group_channels(), c.kernel_h, c.kernel_w});
    bias = random_tensor({c.filters});
    packed = output_inner(weight);
    const ErrorCode code =
        run(convolution_ops, "aten.conv2d.default",
            {x, weight, c.bias != 0 ? bias : EValue(), list({EValue(c.stride_h), EValue(c.stride_w)}),
             list({EValue(c.pad_h), EValue(c.pad_w)}), list({EValue(c.dilation_h), EValue(c.dilation_w)}),
             EValue(c.groups)});
    REQUIRE(code == ErrorCode::ok);
    REQUIRE(sizes() == Integers{c.batch, c.filters, c.out_h, c.out_w});
  }
  template <class P>
  std::size_t differences_of(const P& params, Layout layout) {
    std::vector<float> y = room();
    conv2d(params, y.data(), floats(x), layout == Layout::contiguous ? floats(weight) : packed.data(), floats(bias));
    return differences(y);
  }
};

constexpr Conv2d with_outputs(Conv2d c) {
  c.out_h = (c.in_h + 2 * c.pad_h - c.dilation_h * (c.kernel_h - 1) - 1) / c.stride_h + 1;
  c.out_w = (c.in_w + 2 * c.pad_w - c.dilation_w * (c.kernel_w - 1) - 1) / c.stride_w + 1;
  return c;
}
constexpr Conv2d with_layout(Conv2d c, Layout layout) {
  c.layout = layout;
  return c;
}

template <Conv2d C>
void check_constant() {
  ConvTest test;
  constexpr Conv2d packed = with_layout(with_outputs(C), Layout::output_inner);
  constexpr Conv2d plain = with_layout(packed, Layout::contiguous);
  test.prepare(plain);
  CHECK(test.differences_of(davit::Constant<plain>{}, Layout::contiguous) == 0);
  CHECK(test.differences_of(davit::Constant<packed>{}, Layout::output_inner) == 0);
}

/// The unrolled code of a shape takes clang seconds and 200 MB with sanitizers: three shapes are enough for them.
template <bool all>
void check_constants() {
  check_constant<{.channels = 3,
                  .filters = 20,
                  .in_h = 9,
                  .in_w = 23,
                  .kernel_h = 3,
                  .kernel_w = 5,
                  .stride_h = 2,
                  .stride_w = 2,
                  .pad_h = 1,
                  .pad_w = 2}>();
  check_constant<{.channels = 16,
                  .filters = 16,
                  .groups = 2,
                  .in_h = 5,
                  .in_w = 9,
                  .kernel_h = 3,
                  .kernel_w = 3,
                  .pad_h = 1,
                  .pad_w = 1}>();
  check_constant<{.channels = 8,
                  .filters = 8,
                  .groups = 8,
                  .in_h = 7,
                  .in_w = 19,
                  .kernel_h = 3,
                  .kernel_w = 3,
                  .pad_h = 1,
                  .pad_w = 1}>();
  if constexpr (all) {
    check_constant<{
        .channels = 1, .filters = 8, .in_h = 8, .in_w = 8, .kernel_h = 3, .kernel_w = 3, .pad_h = 1, .pad_w = 1}>();
    check_constant<{
        .channels = 8, .filters = 16, .in_h = 4, .in_w = 4, .kernel_h = 3, .kernel_w = 3, .pad_h = 1, .pad_w = 1}>();
    check_constant<{.batch = 2, .channels = 5, .filters = 13, .in_h = 6, .in_w = 7}>();
    check_constant<{.channels = 4,
                    .filters = 10,
                    .in_h = 5,
                    .in_w = 33,
                    .kernel_h = 2,
                    .kernel_w = 3,
                    .pad_w = 2,
                    .dilation_w = 2,
                    .bias = 0}>();
    check_constant<{.channels = 6,
                    .filters = 12,
                    .groups = 6,
                    .in_h = 7,
                    .in_w = 9,
                    .kernel_h = 3,
                    .kernel_w = 3,
                    .stride_h = 2,
                    .stride_w = 2,
                    .pad_h = 1,
                    .pad_w = 1}>();
    check_constant<{.channels = 7, .filters = 9, .in_h = 1, .in_w = 40, .kernel_w = 9, .pad_w = 4}>();
    check_constant<{.channels = 2, .filters = 5, .in_h = 3, .in_w = 3, .kernel_h = 3, .kernel_w = 3}>();
  }
}

[[gnu::noinline]] constexpr void run_shared(const Conv2d& c, const float* x, const float* weight, const float* bias,
                                            float* y) {
  conv2d(c, y, x, weight, bias);
}
constexpr bool check_in_constant_evaluation(Layout layout) {
  const Conv2d c = with_layout(
      with_outputs({.channels = 1, .filters = 3, .in_h = 2, .in_w = 3, .kernel_h = 2, .kernel_w = 2, .pad_w = 1}),
      layout);
  const std::array<float, 6> x{1, 2, 3, 4, 5, 6};
  std::array<float, 32> weight{};
  for (std::size_t f = 0; f < 3; ++f)
    for (std::size_t t = 0; t < 4; ++t)
      weight[layout == Layout::contiguous ? 4 * f + t : 8 * t + f] = static_cast<float>((f + 1) * (t + 1));
  const std::array<float, 3> bias{0, 10, 20};
  std::array<float, 12> y{};
  run_shared(c, x.data(), weight.data(), bias.data(), y.data());
  return y == std::array<float, 12>{18, 37, 47, 21, 46, 84, 104, 52, 74, 131, 161, 83};
}
static_assert(check_in_constant_evaluation(Layout::contiguous));
static_assert(check_in_constant_evaluation(Layout::output_inner));

constexpr bool check_any_type() {
  const std::array<double, 4> x{1, 2, 3, 4};
  const std::array<double, 2> w{1, 10}, bias{0.5};
  sf::Convolution p;
  p.windows.in = {1, 1, 4};
  p.windows.out = {1, 1, 3};
  p.windows.kernel = {1, 1, 2};
  p.first_step = 2;
  p.bias = 1;
  std::array<double, 3> y{};
  sf::convolve<false>::run(p, y.data(), x.data(), w.data(), bias.data());
  if (y != std::array<double, 3>{21.5, 32.5, 43.5}) return false;
  p.windows.in = {1, 1, 2};
  p.windows.out = {1, 1, 4};
  p.windows.stride = {1, 1, 2};
  std::array<double, 4> wide{};
  sf::convolve<true>::run(p, wide.data(), x.data(), w.data(), bias.data());
  return wide == std::array<double, 4>{1.5, 10.5, 2.5, 20.5};
}
static_assert(check_any_type());

}  // namespace

TEST_CASE("static convolutions of any type, transposed too") { CHECK(check_any_type()); }

TEST_CASE("static conv2d: a small one, also in constant evaluation") {
  CHECK(check_in_constant_evaluation(Layout::contiguous));
  CHECK(check_in_constant_evaluation(Layout::output_inner));
}

TEST_CASE("static conv2d: the bits of portable's, random shapes") {
  ConvTest test;
  for (int i = 0; i < 300; ++i) {
    Conv2d c{.batch = test.pick(1, 2), .groups = test.pick(0, 2) == 0 ? test.pick(2, 5) : 1};
    c.channels = c.groups * test.pick(1, 4);
    c.filters = c.groups * (test.pick(0, 2) == 0 ? 8 : test.pick(1, 20));
    if (test.pick(0, 3) == 0) c.channels = c.groups;
    c.in_h = test.pick(1, 9);
    c.in_w = test.pick(1, 21);
    c.stride_h = test.pick(1, 3);
    c.stride_w = test.pick(0, 1) == 0 ? 1 : test.pick(1, 3);
    c.dilation_h = test.pick(1, 2);
    c.dilation_w = test.pick(1, 3);
    c.pad_h = test.pick(0, 3);
    c.pad_w = test.pick(0, 3);
    c.kernel_h = test.pick(1, (c.in_h + 2 * c.pad_h - 1) / c.dilation_h / 2 + 1);
    c.kernel_w = test.pick(1, (c.in_w + 2 * c.pad_w - 1) / c.dilation_w / 2 + 1);
    c.bias = test.pick(0, 3) == 0 ? 0 : 1;
    c = with_outputs(c);
    test.prepare(c);
    CAPTURE(i);
    CHECK(test.differences_of(with_layout(c, Layout::contiguous), Layout::contiguous) == 0);
    CHECK(test.differences_of(with_layout(c, Layout::output_inner), Layout::output_inner) == 0);
  }
}

TEST_CASE("static conv2d: the bits of portable's, constant shapes") { check_constants<!sanitized>(); }
