// SPDX-License-Identifier: MIT
#include "davit/runtime/results.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

using namespace davit;

namespace {

MethodInterface outputs(const std::vector<OutputKind>& kinds) {
  MethodInterface interface;
  for (const OutputKind k : kinds) interface.outputs.push_back({.kind = k});
  return interface;
}
using enum OutputKind;

}  // namespace

TEST_CASE("only user outputs and the loss are results; mutations, tokens and gradients are not") {
  const MethodInterface interface = outputs({token, buffer_mutation, user_output, loss_output, gradient_to_parameter});
  const EValue values[] = {0, 1, 2, 3, 4};
  const auto result = convert_outputs<std::tuple<std::int64_t, std::int64_t>>(Outputs(values, interface));
  REQUIRE(result);
  CHECK(*result == std::tuple<std::int64_t, std::int64_t>(2, 3));
}

TEST_CASE("a result is of exactly the type asked for, or an error says which is not") {
  const MethodInterface interface = outputs({user_output});
  const EValue number[] = {1};
  const Outputs one(number, interface);
  CHECK(*convert_outputs<std::int64_t>(one) == 1);
  CHECK(convert_outputs<double>(one).error().what == "the output is of type 'int'");
  CHECK(!convert_outputs<bool>(one));
  CHECK(!convert_outputs<TensorView>(one));
  CHECK(!convert_outputs<std::string_view>(one));
  CHECK(*convert_outputs<std::optional<std::int64_t>>(one) == 1);
  const EValue none[] = {EValue()};
  CHECK(*convert_outputs<std::optional<double>>(Outputs(none, interface)) == std::nullopt);
  const MethodInterface pair = outputs({user_output, user_output});
  const EValue mixed[] = {1, "text"};
  const Outputs two(mixed, pair);
  CHECK(convert_outputs<std::tuple<std::int64_t, double>>(two).error().what == "output 1 is of type 'str'");
  CHECK(convert_outputs<std::int64_t>(two).error().what == "Expected 1 elements in a list but found 2");
}
