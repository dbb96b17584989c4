// SPDX-License-Identifier: MIT
#include "davit/backends/portable/static/elementwise.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

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

/// Elements of every kind, several vectors and a remainder.
EValue special_elements(StaticFloatTest& test) {
  KernelTest::Numbers values{0.0,       -0.0,         1,     -1, 3,   -3,   6,    7, infinity,
                             -infinity, std::nan(""), 1e-42, 88, -88, 1e30, -1e30};
  while (values.size() < 77) values.push_back(static_cast<double>(test.uniform(test.random)) * 8);
  return test.tensor(davit::ScalarType::float32, {77}, values);
}

/// The numbers of a function of float32, encoded.
template <std::size_t N>
constexpr std::array<sf::NumberParam, N> encoded(const std::array<double, N>& numbers) {
  std::array<sf::NumberParam, N> all{};
  for (std::size_t i = 0; i < N; ++i) all[i] = sf::number_param(davit::ScalarType::float32, numbers[i], 0);
  return all;
}
template <class Params, std::array numbers>
constexpr Params with_numbers(Params p) {
  if constexpr (numbers.size() != 0) p.numbers = encoded(numbers);
  return p;
}
inline constexpr std::array<double, 0> none{};

/// Compares with the bits of portable's kernel, or `close` to them.
template <class Kernel, typename Kernel::Params P, bool close = false>
void check_unary(std::string_view name, std::initializer_list<EValue> arguments = {}) {
  StaticFloatTest test;
  const EValue x = special_elements(test);
  std::vector<EValue> all{x};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const bool is_unary = test.run(elementwise_unary_ops, name, all) == ErrorCode::ok;
  if (!is_unary) REQUIRE(test.run(elementwise_binary_ops, name, all) == ErrorCode::ok);
  std::vector<float> y = test.room();
  Kernel::run(P, y.data(), floats(x));
  CAPTURE(name);
  CHECK((close ? test.far(y) : test.differences(y)) == 0);
  std::copy_n(floats(x), 77, y.data());
  Kernel::run(davit::Constant<P>{}, y.data(), static_cast<const float*>(y.data()));
  CHECK((close ? test.far(y) : test.differences(y)) == 0);
}

template <template <class> class F, std::array numbers = none>
void check_binary(std::string_view name, std::initializer_list<EValue> arguments = {}) {
  StaticFloatTest test;
  using Sizes = KernelTest::Integers;
  using Broadcast = sf::map_two<F, numbers.size()>;
  using Pairs = sf::map_pairs<F, numbers.size()>;
  const auto check = [&](const EValue& a, const EValue& b, std::int32_t rank) {
    std::vector<EValue> all{a, b};
    all.insert(all.end(), arguments.begin(), arguments.end());
    REQUIRE(test.run(elementwise_binary_ops, name, all) == ErrorCode::ok);
    const sf::Walk<2> walk = broadcast_of(a.tensor().sizes(), b.tensor().sizes());
    REQUIRE(walk.rank == rank);
    std::vector<float> y = test.room();
    Broadcast::run(with_numbers<typename Broadcast::Params, numbers>({{walk}}), y.data(), floats(a), floats(b));
    CAPTURE(name);
    CHECK(test.differences(y) == 0);
  };
  const EValue special = special_elements(test);
  const EValue reversed = test.tensor(davit::ScalarType::float32, {77}, {infinity, std::nan(""), -0.0, 0.0, -2, 5});
  check(special, reversed, 1);
  check(reversed, special, 1);
  struct Case {
    Sizes a, b;
    std::int32_t rank;  // of the walk, after dimensions that are adjacent in both are merged
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
  constexpr auto same =
      with_numbers<typename Broadcast::Params, numbers>({{broadcast_of(std::array{77}, std::array{77})}});
  Broadcast::run(davit::Constant<same>{}, y.data(), floats(special), floats(reversed));
  CHECK(test.differences(y) == 0);
  constexpr auto pairs = with_numbers<typename Pairs::Params, numbers>({{77}});
  Pairs::run(davit::Constant<pairs>{}, y.data(), floats(special), floats(reversed));
  CHECK(test.differences(y) == 0);
}

template <template <class> class F, std::array numbers = none>
constexpr auto of_one = with_numbers<typename sf::map_one<F, numbers.size()>::Params, numbers>({{77}});
template <template <class> class F, std::array numbers = none, bool close = false>
void check_one(std::string_view name, std::initializer_list<EValue> arguments = {}) {
  check_unary<sf::map_one<F, numbers.size()>, of_one<F, numbers>, close>(name, arguments);
}
constexpr sf::map_with_number<k::Add, 0>::Params with_number(double number, bool first = false) {
  return {{77, first ? 1 : 0, sf::number_param(davit::ScalarType::float32, number, 0)}};
}

/// f(x) of elements; the kernel returns nothing.
template <template <class> class F, std::array numbers = none, std::size_t N>
constexpr std::array<float, N> applied(const std::array<float, N>& x) {
  using Kernel = sf::map_one<F, numbers.size()>;
  std::array<float, N> y{};
  static_assert(std::is_void_v<decltype(Kernel::run(typename Kernel::Params{}, y.data(), x.data()))>);
  Kernel::run(with_numbers<typename Kernel::Params, numbers>({{static_cast<std::int32_t>(N)}}), y.data(), x.data());
  return y;
}
constexpr bool check_in_constant_evaluation() {
  const std::array<float, 6> x{-2, -1, 0, 1, 2, 8};
  if (applied<k::Relu>(x) != std::array<float, 6>{0, 0, 0, 1, 2, 8}) return false;
  if (applied<k::Hardtanh, std::array{0.0, 6.0}>(x) != std::array<float, 6>{0, 0, 0, 1, 2, 6}) return false;
  std::array<float, 6> y{};
  const std::array<float, 2> column{10, 20};
  sf::map_two<k::Add, 0>::run(sf::map_two<k::Add, 0>::Params{{broadcast_of(std::array{2, 3}, std::array{2, 1})}},
                              y.data(), x.data(), column.data());
  return y == std::array<float, 6>{8, 9, 10, 21, 22, 28};
}
static_assert(check_in_constant_evaluation());

constexpr bool near(float a, double b) {
  return static_cast<double>(a) - b < 1e-6 && b - static_cast<double>(a) < 1e-6;
}
constexpr bool check_functions() {
  const auto one = [](float v) { return std::array{v}; };
  return near(applied<k::Exp>(one(1))[0], 2.718281828459045) &&
         near(applied<k::Sigmoid>(one(0.5f))[0], 0.6224593312018546) &&
         near(applied<k::Tanh>(one(-0.75f))[0], -0.6351489523872873) &&
         near(applied<k::Sqrt>(one(7))[0], 2.6457513110645907) &&
         near(applied<k::Gelu, std::array{1.0}>(one(1.5f))[0], 1.3997891918010217) &&
         near(k::log(10.0f), 2.302585092994046);
}
static_assert(check_functions());

constexpr sf::NumberParam integer(std::int64_t v) { return sf::number_param(davit::ScalarType::int64, 0, v); }
constexpr sf::Walk<2> column_and_row() {
  sf::Walk<2> walk;
  (void)(walk.push(2, {1, 0}) && walk.push(3, {0, 1}));
  return walk;
}
constexpr bool check_maps() {
  const std::array<std::int32_t, 3> x{5, -7, INT32_MAX};
  std::array<std::int32_t, 3> y{};
  sf::map_with_number<k::Add, 0>::run(sf::map_with_number<k::Add, 0>::Params{{3, 0, integer(1)}}, y.data(), x.data());
  if (y != std::array<std::int32_t, 3>{6, -6, INT32_MIN}) return false;  // modulo 2^32
  if (sf::map_with_number<k::FloorDivide, 0>::run(sf::map_with_number<k::Add, 0>::Params{{3, 0, {}}}, y.data(),
                                                  x.data()) != ErrorCode::out_of_range)
    return false;
  std::array<bool, 3> positive{};
  sf::map_with_number<k::Greater, 0>::run(sf::map_with_number<k::Add, 0>::Params{{3, 1, {}}}, positive.data(),
                                          x.data());
  if (positive != std::array<bool, 3>{false, true, false}) return false;  // 0 > x
  const std::array<float, 2> column{1, 2};
  const std::array<float, 3> row{10, 20, 30};
  std::array<float, 6> sum{};
  sf::map_two<k::Add, 0>::run(sf::map_two<k::Add, 0>::Params{{column_and_row()}}, sum.data(), column.data(),
                              row.data());
  if (sum != std::array<float, 6>{11, 21, 31, 12, 22, 32}) return false;
  const sf::NumberParam slope = sf::number_param(davit::ScalarType::float32, 0.5, 0);
  std::array<float, 2> leaky{-2, 4};
  sf::map_one<k::LeakyRelu, 1>::run(sf::map_one<k::LeakyRelu, 1>::Params{{2}, {slope}}, leaky.data(),
                                    static_cast<const float*>(leaky.data()));
  return leaky == std::array<float, 2>{-1, 4};
}
static_assert(check_maps());

constexpr bool check_others() {
  sf::Walk<3> walk;
  if (!walk.push(3, {1, 1, 0})) return false;
  const std::array<bool, 3> condition{true, false, true};
  const std::array<std::int8_t, 3> a{1, 2, 3};
  const std::array<std::int8_t, 1> b{-1};
  std::array<std::int8_t, 3> y{};
  sf::choose::run(sf::choose::Params{walk}, y.data(), condition.data(), a.data(), b.data());
  if (y != std::array<std::int8_t, 3>{1, -1, 3}) return false;
  std::array<bool, 3> truth{};
  const std::array<float, 3> numbers{0, -0.5f, 2.75f};
  sf::convert::run(sf::Count{3}, truth.data(), numbers.data());
  std::array<std::int64_t, 3> whole{};
  sf::convert::run(sf::Count{3}, whole.data(), numbers.data());
  if (truth != std::array<bool, 3>{false, true, true} || whole != std::array<std::int64_t, 3>{0, 0, 2}) return false;
  std::array<std::int32_t, 3> sequence{};
  sf::sequence::run(sf::sequence::Params{3, integer(5), integer(-2)}, sequence.data());
  return sequence == std::array<std::int32_t, 3>{5, 3, 1};
}
static_assert(check_others());

}  // namespace

TEST_CASE("static elementwise functions: small ones, also in constant evaluation") {
  CHECK(check_in_constant_evaluation());
  CHECK(check_functions());
}

TEST_CASE(
    "static elementwise functions of one element: the bits of portable's, or nearly where that computes on wide "
    "vectors") {
  check_one<k::Relu>("aten.relu.default");
  check_one<k::Negate>("aten.neg.default");
  check_one<k::Absolute>("aten.abs.default");
  check_one<k::Exp, none, true>("aten.exp.default");
  check_one<k::Sqrt>("aten.sqrt.default");
  check_one<k::Rsqrt>("aten.rsqrt.default");
  check_one<k::Tanh, none, true>("aten.tanh.default");
  check_one<k::Sigmoid, none, true>("aten.sigmoid.default");
  check_one<k::Silu, none, true>("aten.silu.default");
  check_one<k::Gelu, std::array{1.0}, true>("aten.gelu.default", {EValue(std::string_view("none"))});
  check_one<k::GeluTanh, none, true>("aten.gelu.default", {EValue(std::string_view("tanh"))});
  check_one<k::Hardsigmoid>("aten.hardsigmoid.default");
  check_one<k::Hardswish>("aten.hardswish.default");
  check_one<k::Hardtanh, std::array{0.0, 6.0}>("aten.hardtanh.default", {EValue(0.0), EValue(6.0)});
  check_one<k::Hardtanh, std::array{-1.5, infinity}>("aten.clamp.default", {EValue(-1.5), EValue()});
}

TEST_CASE("static elementwise functions of two elements: the bits of portable's") {
  check_binary<k::Add>("aten.add.Tensor", {EValue(1)});
  check_binary<k::AddScaled, std::array{static_cast<double>(0.3f)}>("aten.add.Tensor",
                                                                    {EValue(static_cast<double>(0.3f))});
  check_binary<k::Subtract>("aten.sub.Tensor", {EValue(1)});
  check_binary<k::AddScaled, std::array{static_cast<double>(1.7f)}>("aten.sub.Tensor",
                                                                    {EValue(static_cast<double>(-1.7f))});
  check_binary<k::Multiply>("aten.mul.Tensor");
  check_binary<k::Divide>("aten.div.Tensor");
  check_binary<k::Maximum>("aten.maximum.default");
  check_binary<k::Minimum>("aten.minimum.default");
}

TEST_CASE("static elementwise functions with a number: the bits of portable's") {
  check_unary<sf::map_with_number<k::Add, 0>, with_number(2.5)>("aten.add.Scalar", {EValue(2.5), EValue(1)});
  check_unary<sf::map_with_number<k::Multiply, 0>, with_number(static_cast<double>(-0.1f))>(
      "aten.mul.Scalar", {EValue(static_cast<double>(-0.1f))});
  check_unary<sf::map_with_number<k::Divide, 0>, with_number(3)>("aten.div.Scalar", {EValue(3)});
  StaticFloatTest test;
  const EValue x = special_elements(test);
  REQUIRE(test.run(elementwise_binary_ops, "aten.sub.Tensor", {EValue(1.5), x, EValue(1)}) == ErrorCode::ok);
  std::vector<float> y = test.room();
  sf::map_with_number<k::Subtract, 0>::run(with_number(1.5, true), y.data(), floats(x));
  CHECK(test.differences(y) == 0);
}

TEST_CASE("static elementwise functions on any type") {
  CHECK(check_maps());
  CHECK(check_others());
}
TEST_CASE("a walk has at most six dimensions, after adjacent ones are merged") {
  sf::Walk<2> walk;
  CHECK(walk.push(4, {6, 6}));
  CHECK(walk.push(6, {1, 1}));
  CHECK(walk.rank == 1);
  for (int i = 0; i < 5; ++i) CHECK(walk.push(2, {i % 2, 0}));
  CHECK_FALSE(walk.push(2, {7, 9}));
}
