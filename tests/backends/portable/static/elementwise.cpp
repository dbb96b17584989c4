// SPDX-License-Identifier: MIT
#include "davit/backends/portable/static/elementwise.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <string_view>

#include "davit/backend/step_writer.hpp"
#include "davit/backends/portable/run_time/elementwise/binary.hpp"
#include "davit/backends/portable/run_time/elementwise/unary.hpp"
#include "support/static_kernels_test.hpp"

namespace {

namespace sf = davit::static_kernels;
namespace k = davit::kernels;
using davit::ErrorCode;
using davit::EValue;
using davit::portable_kernels::elementwise_binary_ops;
using davit::portable_kernels::elementwise_unary_ops;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The walk over contiguous tensors of these sizes, which broadcast.
template <class A, class B>
constexpr sf::Walk<2> broadcast_of(const A& a, const B& b) {
  const auto size = [](const auto& sizes, std::size_t from_end) {
    return from_end < sizes.size() ? std::int64_t{sizes[sizes.size() - 1 - from_end]} : 1;
  };
  const auto stride = [&](const auto& sizes, std::size_t from_end) {
    std::int64_t product = size(sizes, from_end) == 1 ? 0 : 1;
    for (std::size_t i = 0; i < from_end; ++i) product *= size(sizes, i);
    return product;
  };
  sf::Walk<2> walk;
  for (std::size_t d = a.size() > b.size() ? a.size() : b.size(); d-- > 0;)
    if (!walk.push(size(a, d) == 1 ? size(b, d) : size(a, d), {stride(a, d), stride(b, d)})) return {.rank = -1};
  return walk;
}

/// Elements of every kind, several vectors of them and a rest.
EValue special_elements(StaticFloatTest& test) {
  KernelTest::Numbers values{0.0,       -0.0,         1,     -1, 3,   -3,   6,    7, infinity,
                             -infinity, std::nan(""), 1e-42, 88, -88, 1e30, -1e30};
  while (values.size() < 77) values.push_back(static_cast<double>(test.uniform(test.random)) * 8);
  return test.tensor(davit::ScalarType::float32, {77}, values);
}

/// With the bits of portable's, or `close` to it.
template <auto Op, bool close = false>
void check_unary(std::string_view name, std::initializer_list<EValue> arguments = {}) {
  StaticFloatTest test;
  const EValue x = special_elements(test);
  std::vector<EValue> all{x};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const bool is_unary = test.run(elementwise_unary_ops, name, all) == ErrorCode::ok;
  if (!is_unary) REQUIRE(test.run(elementwise_binary_ops, name, all) == ErrorCode::ok);
  using Params = sf::Unary<std::remove_const_t<decltype(Op)>>;
  std::vector<float> y = test.room();
  sf::unary(Params{77, Op}, floats(x), y.data());
  CAPTURE(name);
  CHECK((close ? test.far(y) : test.differences(y)) == 0);
  std::copy_n(floats(x), 77, y.data());
  sf::unary(davit::Constant<Params{77, Op}>{}, y.data(), y.data());
  CHECK((close ? test.far(y) : test.differences(y)) == 0);
}

template <auto Op>
void check_binary(std::string_view name, std::initializer_list<EValue> arguments = {}) {
  StaticFloatTest test;
  using Sizes = KernelTest::Integers;
  using T = std::remove_const_t<decltype(Op)>;
  const auto check = [&](const EValue& a, const EValue& b, std::int32_t rank) {
    std::vector<EValue> all{a, b};
    all.insert(all.end(), arguments.begin(), arguments.end());
    REQUIRE(test.run(elementwise_binary_ops, name, all) == ErrorCode::ok);
    const sf::Walk<2> walk = broadcast_of(a.tensor().sizes(), b.tensor().sizes());
    REQUIRE(walk.rank == rank);
    std::vector<float> y = test.room();
    sf::binary(sf::Binary<T>{walk, Op}, floats(a), floats(b), y.data());
    CAPTURE(name);
    CHECK(test.differences(y) == 0);
  };
  const EValue special = special_elements(test);
  const EValue reversed = test.tensor(davit::ScalarType::float32, {77}, {infinity, std::nan(""), -0.0, 0.0, -2, 5});
  check(special, reversed, 1);
  check(reversed, special, 1);
  struct Case {
    Sizes a, b;
    std::int32_t rank;  // of the walk, in which dimensions that follow each other in both are one
  };
  const std::initializer_list<Case> cases{{{3, 4, 5}, {3, 4, 5}, 1},
                                          {{2, 3, 9}, {9}, 2},
                                          {{9}, {2, 3, 9}, 2},
                                          {{2, 3, 9}, {3, 1}, 3},
                                          {{4, 1, 5}, {1, 7, 1}, 3},
                                          {{1}, {6}, 1},
                                          {{2, 1, 3, 1, 5}, {4, 1, 6, 1}, 5},
                                          {{}, {}, 0}};
  for (const auto& [a, b, rank] : cases) check(test.random_tensor(a), test.random_tensor(b), rank);

  std::vector<EValue> all{special, reversed};
  all.insert(all.end(), arguments.begin(), arguments.end());
  REQUIRE(test.run(elementwise_binary_ops, name, all) == ErrorCode::ok);
  std::vector<float> y = test.room();
  constexpr sf::Binary<T> same{broadcast_of(std::array{77}, std::array{77}), Op};
  sf::binary(davit::Constant<same>{}, floats(special), floats(reversed), y.data());
  CHECK(test.differences(y) == 0);
  sf::pairwise(davit::Constant<sf::Pairwise<T>{77, Op}>{}, floats(special), floats(reversed), y.data());
  CHECK(test.differences(y) == 0);
}

constexpr bool check_in_constant_evaluation() {
  const std::array<float, 6> x{-2, -1, 0, 1, 2, 8};
  std::array<float, 6> y{};
  sf::unary(sf::Unary<k::Relu<float>>{6}, x.data(), y.data());
  if (y != std::array<float, 6>{0, 0, 0, 1, 2, 8}) return false;
  sf::unary(sf::Unary<k::Hardtanh<float>>{6, {0, 6}}, x.data(), y.data());
  if (y != std::array<float, 6>{0, 0, 0, 1, 2, 6}) return false;
  const std::array<float, 2> column{10, 20};
  sf::binary(sf::Binary<k::Add<float>>{broadcast_of(std::array{2, 3}, std::array{2, 1})}, x.data(), column.data(),
             y.data());
  return y == std::array<float, 6>{8, 9, 10, 21, 22, 28};
}
static_assert(check_in_constant_evaluation());

constexpr bool near(float a, double b) {
  return static_cast<double>(a) - b < 1e-6 && b - static_cast<double>(a) < 1e-6;
}
constexpr bool check_functions() {
  const auto of = [](auto op, float v) {
    float y = 0;
    sf::unary(sf::Unary<decltype(op)>{1, op}, &v, &y);
    return y;
  };
  return near(of(k::Exp<float>{}, 1), 2.718281828459045) && near(of(k::Sigmoid<float>{}, 0.5f), 0.6224593312018546) &&
         near(of(k::Tanh<float>{}, -0.75f), -0.6351489523872873) && near(of(k::Sqrt<float>{}, 7), 2.6457513110645907) &&
         near(of(k::Gelu<float>{true}, 1.5f), 1.3997891918010217) && near(k::log(10.0f), 2.302585092994046);
}
static_assert(check_functions());

}  // namespace

TEST_CASE("static elementwise functions: small ones, also in constant evaluation") {
  CHECK(check_in_constant_evaluation());
  CHECK(check_functions());
}

TEST_CASE(
    "static elementwise functions of one element: the bits of portable's, or nearly where that computes on wide "
    "vectors") {
  check_unary<k::Relu<float>{}>("aten.relu.default");
  check_unary<k::Negate<float>{}>("aten.neg.default");
  check_unary<k::Absolute<float>{}>("aten.abs.default");
  check_unary<k::Exp<float>{}, true>("aten.exp.default");
  check_unary<k::Sqrt<float>{}>("aten.sqrt.default");
  check_unary<k::Rsqrt<float>{}>("aten.rsqrt.default");
  check_unary<k::Tanh<float>{}, true>("aten.tanh.default");
  check_unary<k::Sigmoid<float>{}, true>("aten.sigmoid.default");
  check_unary<k::Silu<float>{}, true>("aten.silu.default");
  check_unary<k::Gelu<float>{true}, true>("aten.gelu.default", {EValue(std::string_view("none"))});
  check_unary<k::GeluTanh<float>{}, true>("aten.gelu.default", {EValue(std::string_view("tanh"))});
  check_unary<k::Hardsigmoid<float>{}>("aten.hardsigmoid.default");
  check_unary<k::Hardswish<float>{}>("aten.hardswish.default");
  check_unary<k::Hardtanh<float>{0, 6}>("aten.hardtanh.default", {EValue(0.0), EValue(6.0)});
  check_unary<k::Hardtanh<float>{-1.5f, std::numeric_limits<float>::infinity()}>("aten.clamp.default",
                                                                                 {EValue(-1.5), EValue()});
}

TEST_CASE("static elementwise functions of two elements: the bits of portable's") {
  check_binary<k::Add<float>{}>("aten.add.Tensor", {EValue(1)});
  check_binary<k::AddScaled<float>{0.3f}>("aten.add.Tensor", {EValue(static_cast<double>(0.3f))});
  check_binary<k::Subtract<float>{}>("aten.sub.Tensor", {EValue(1)});
  check_binary<k::AddScaled<float>{1.7f}>("aten.sub.Tensor", {EValue(static_cast<double>(-1.7f))});
  check_binary<k::Multiply<float>{}>("aten.mul.Tensor");
  check_binary<k::Divide<float>{}>("aten.div.Tensor");
  check_binary<k::Maximum<float>{}>("aten.maximum.default");
  check_binary<k::Minimum<float>{}>("aten.minimum.default");
}

TEST_CASE("static elementwise functions with a number: the bits of portable's") {
  check_unary<sf::WithNumber<k::Add<float>>{{}, 2.5f, 0}>("aten.add.Scalar", {EValue(2.5), EValue(1)});
  check_unary<sf::WithNumber<k::Multiply<float>>{{}, -0.1f, 0}>("aten.mul.Scalar",
                                                                {EValue(static_cast<double>(-0.1f))});
  check_unary<sf::WithNumber<k::Divide<float>>{{}, 3, 0}>("aten.div.Scalar", {EValue(3)});
  StaticFloatTest test;
  const EValue x = special_elements(test);
  REQUIRE(test.run(elementwise_binary_ops, "aten.sub.Tensor", {EValue(1.5), x, EValue(1)}) == ErrorCode::ok);
  std::vector<float> y = test.room();
  sf::unary(sf::Unary<sf::WithNumber<k::Subtract<float>>>{77, {{}, 1.5f, 1}}, floats(x), y.data());
  CHECK(test.differences(y) == 0);
}
