// SPDX-License-Identifier: MIT
#include "davit/program/operators/activation.hpp"

#include <doctest/doctest.h>

#include "one_call.hpp"

using namespace davit;
using operators::ActivationFunction;
using operators::ActivationView;

namespace {

using B = GraphBuilder;

constexpr one_call::Reading<ActivationView> read(std::string_view target, Arg first, Arg second = {"", B::none()}) {
  return one_call::reading<ActivationView>(
      [&](GraphBuilder& b) {
        return one_call::call(b, target, {{"self", b.value(one_call::tensor(b, {2, 3}))}, first, second});
      },
      [](const auto& call, ActivationView& view) { return operators::read_activation(call, view); });
}
constexpr one_call::Reading<ActivationView> gelu(const char* form) {
  return one_call::reading<ActivationView>(
      [&](GraphBuilder& b) {
        const Argument x = b.value(one_call::tensor(b, {2, 3}));
        return one_call::call(b, "aten.gelu.default",
                              {{"self", x}, {"approximate", form == nullptr ? b.none() : b.string(form)}});
      },
      [](const auto& call, ActivationView& view) { return operators::read_activation(call, view); });
}

constexpr bool check() {
  return gelu(nullptr).view == ActivationView{.function = ActivationFunction::gelu, .input = 0} &&
         gelu("none").view == gelu(nullptr).view &&
         gelu("tanh").view == ActivationView{.function = ActivationFunction::gelu_tanh, .input = 0} &&
         read("aten.leaky_relu.default", {"", B::none()}).view ==
             ActivationView{ActivationFunction::leaky_relu, 0, {0.01}} &&
         read("aten.leaky_relu.default", {"negative_slope", B::integer(2)}).view.numbers[0] == 2 &&
         read("aten.elu.default", {"alpha", B::real(0.5)}, {"input_scale", B::real(3)}).view ==
             ActivationView{ActivationFunction::elu, 0, {0.5, 1, 3}} &&
         read("aten.pow.Tensor_Scalar", {"exponent", B::real(-2)}).view ==
             ActivationView{ActivationFunction::power, 0, {-2}};
}
static_assert(check());

constexpr bool check_hostile() {
  return gelu("").why == "the approximation is unknown" && gelu("sigmoid").why == "the approximation is unknown" &&
         read("aten.leaky_relu.default", {"negative_slope", B::value(0)}).why == "a factor is no number" &&
         read("aten.elu.default", {"scale", B::value(0)}).why == "a factor is no number" &&
         read("aten.relu.default", {"", B::none()}).why == "the operator is no such activation";
}
static_assert(check_hostile());

}  // namespace

TEST_CASE("activations: their numbers and forms, given and left out") { CHECK(check()); }

TEST_CASE("activations with numbers that are none are refused") { CHECK(check_hostile()); }

TEST_CASE("activations have their arguments where their schemas say") {
  for (const operators::ActivationOperator& op : operators::activation_operators)
    for (std::uint32_t i = 0; i < 3 && op.names[i] != nullptr; ++i)
      CHECK(one_call::stands_there(op.target, {op.names[i], i + 1}));
  CHECK(one_call::stands_there("aten.gelu.default", {"approximate", 1}));
}
