// SPDX-License-Identifier: MIT
#include "davit/backends/portable/static/product.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

#include "davit/backend/step_writer.hpp"
#include "davit/backends/portable/run_time/products/matmul.hpp"
#include "support/sanitized.hpp"
#include "support/static_kernels_test.hpp"

namespace {

namespace sf = davit::static_kernels;
using davit::ErrorCode;
using davit::EValue;
using davit::portable_kernels::matmul_ops;
using sf::Layout;
using sf::Linear;

struct LinearTest : StaticFloatTest {
  EValue x, weight, bias;
  std::vector<float> packed;

  void prepare(const Linear& p) {
    x = random_tensor({p.rows, p.in});
    weight = random_tensor({p.out, p.in});
    bias = random_tensor({p.out});
    packed = output_inner(weight);
    REQUIRE(run(matmul_ops, "aten.linear.default", {x, weight, p.bias != 0 ? bias : EValue()}) == ErrorCode::ok);
  }
  template <class P>
  std::size_t differences_of(const P& params, Layout layout) {
    std::vector<float> y = room();
    if (layout == Layout::contiguous)
      sf::linear_dots::run(params, y.data(), floats(x), floats(weight), floats(bias));
    else
      sf::linear_tiles::run(params, y.data(), floats(x), packed.data(), floats(bias));
    return differences(y);
  }
};

template <Linear P>
void check_constant() {
  LinearTest test;
  test.prepare(P);
  constexpr Linear packed{P.rows, P.in, P.out, Layout::output_inner, P.bias};
  CHECK(test.differences_of(davit::Constant<P>{}, Layout::contiguous) == 0);
  CHECK(test.differences_of(davit::Constant<packed>{}, Layout::output_inner) == 0);
}

/// The unrolled code of a shape takes clang seconds and 200 MB with sanitizers: two shapes are enough for them.
template <bool all>
void check_constants() {
  check_constant<{1, 7, 1}>();
  check_constant<{3, 33, 45}>();
  if constexpr (all) {
    check_constant<{1, 64, 32}>();
    check_constant<{1, 32, 10}>();
    check_constant<{5, 300, 17, Layout::contiguous, 0}>();
    check_constant<{2, 2, 100}>();
  }
}

constexpr bool check_in_constant_evaluation() {
  const std::array<float, 3> x{1, 2, 3};
  const std::array<float, 6> weight{1, 0, 2, 3, 1, -1};
  const std::array<float, 24> packed{1, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2, -1};
  const std::array<float, 2> bias{0.5f, -2};
  std::array<float, 2> y{}, z{};
  sf::linear_dots::run(Linear{1, 3, 2}, y.data(), x.data(), weight.data(), bias.data());
  sf::linear_tiles::run(Linear{1, 3, 2, Layout::output_inner}, z.data(), x.data(), packed.data(), bias.data());
  return y == std::array<float, 2>{7.5f, 0} && y == z;
}
static_assert(check_in_constant_evaluation());

constexpr bool check_any_type() {
  const std::array<std::int32_t, 4> a{1, 2, 3, 4}, b{5, 6, 7, 8};
  std::array<std::int32_t, 4> c{};
  sf::product::run(sf::Product{1, 2, 2, 2}, c.data(), a.data(), b.data());
  if (c != std::array<std::int32_t, 4>{19, 22, 43, 50}) return false;
  const std::array<std::int32_t, 2> added{1, -1};
  sf::linear_dots::run(Linear{2, 2, 2, Layout::contiguous, 0}, c.data(), a.data(), b.data(), nullptr);
  sf::add_scaled::run(sf::add_scaled::Params{2, 2}, c.data(), added.data());
  return c == std::array<std::int32_t, 4>{18, 22, 40, 52};
}
static_assert(check_any_type());

}  // namespace

TEST_CASE("static products of any type") { CHECK(check_any_type()); }

TEST_CASE("static linear: a small one, also in constant evaluation") { CHECK(check_in_constant_evaluation()); }

TEST_CASE("static linear: the bits of portable's, random shapes") {
  LinearTest test;
  for (int i = 0; i < 300; ++i) {
    const Linear p{.rows = test.pick(0, 1) == 0 ? 1 : test.pick(1, 40),
                   .in = test.pick(1, 90),
                   .out = test.pick(1, 50),
                   .bias = test.pick(0, 3) == 0 ? 0 : 1};
    test.prepare(p);
    CAPTURE(i);
    CHECK(test.differences_of(p, Layout::contiguous) == 0);
    CHECK(test.differences_of(Linear{p.rows, p.in, p.out, Layout::output_inner, p.bias}, Layout::output_inner) == 0);
  }
}

TEST_CASE("static linear: the bits of portable's, constant shapes") { check_constants<!sanitized>(); }

TEST_CASE("static product: the bits of portable's bmm and mm") {
  StaticFloatTest test;
  for (int i = 0; i < 200; ++i) {
    const sf::Product p{
        .batch = test.pick(1, 3), .rows = test.pick(1, 20), .columns = test.pick(1, 40), .depth = test.pick(1, 50)};
    const EValue a = test.random_tensor({p.batch, p.rows, p.depth});
    const EValue b = test.random_tensor({p.batch, p.depth, p.columns});
    REQUIRE(test.run(matmul_ops, "aten.bmm.default", {a, b}) == ErrorCode::ok);
    std::vector<float> y = test.room();
    sf::product::run(p, y.data(), floats(a), floats(b));
    CAPTURE(i);
    CHECK(test.differences(y) == 0);
  }
  constexpr sf::Product p{.rows = 7, .columns = 43, .depth = 19};
  const EValue a = test.random_tensor({7, 19});
  const EValue b = test.random_tensor({19, 43});
  REQUIRE(test.run(matmul_ops, "aten.mm.default", {a, b}) == ErrorCode::ok);
  std::vector<float> y = test.room();
  sf::product::run(davit::Constant<p>{}, y.data(), floats(a), floats(b));
  CHECK(test.differences(y) == 0);
}

TEST_CASE("static product and add_scaled: the bits of portable's addmm") {
  StaticFloatTest test;
  const EValue a = test.random_tensor({6, 9});
  const EValue b = test.random_tensor({9, 11});
  const sf::Product p{.rows = 6, .columns = 11, .depth = 9};
  struct Added {
    KernelTest::Integers sizes;
    std::int32_t row_step, step;
  };
  for (const Added& c : {Added{{11}, 0, 1}, Added{{6, 11}, 11, 1}, Added{{6, 1}, 1, 0}, Added{{1}, 0, 0}}) {
    for (const auto& [beta, alpha] : {std::pair{1.0, 1.0}, {0.5, 1.0}, {1.0, -2.5}, {0.3, 0.7}, {0.0, 3.0}}) {
      const EValue added = test.random_tensor(c.sizes);
      REQUIRE(test.run(matmul_ops, "aten.addmm.default", {added, a, b, EValue(beta), EValue(alpha)}) == ErrorCode::ok);
      std::vector<float> y = test.room();
      sf::product::run(p, y.data(), floats(a), floats(b));
      sf::add_scaled::run(
          sf::add_scaled::Params{6, 11, c.row_step, c.step, static_cast<float>(alpha), static_cast<float>(beta)},
          y.data(), floats(added));
      CHECK(test.differences(y) == 0);
    }
  }
}
