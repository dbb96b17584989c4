// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/session.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "davit/backends/onednn.hpp"
#include "davit/backends/portable.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#include "support/any_size.hpp"
#include "support/draft.hpp"

using namespace davit;

TEST_CASE("sizes may change from run to run, to zero and back, beyond the kept workspaces") {
  const auto lowered = to_backend<onednn>(support::tanh_of_any_size());
  REQUIRE(lowered);
  REQUIRE(lowered->methods()[0].delegates.size() == 1);
  auto session = Session::make(*lowered);
  REQUIRE(session);
  for (const std::int64_t n : {3, 5, 3, 0, 5, 1, 2, 4, 6, 7, 8, 9, 10, 11, 3, 40000, 5}) {
    Tensor tensor = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{n});
    for (std::int64_t i = 0; i < n; ++i) tensor.view().as<float>()[i] = i == 2 && n == 6 ? NAN : static_cast<float>(i);
    const auto outputs = session->run("forward", tensor.view());
    REQUIRE(outputs);
    const auto numbers = (*outputs)[0].as<float>();
    REQUIRE(numbers);
    REQUIRE(numbers->size() == static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < numbers->size(); ++i) {
      if (i == 2 && n == 6)
        CHECK(std::isnan((*numbers)[i]));
      else
        CHECK((*numbers)[i] == doctest::Approx(std::tanh(static_cast<double>(i))).epsilon(1e-5));
    }
  }
}

TEST_CASE("averages over a whole image of any size, and over parts of one, which portable's kernel computes") {
  for (const std::int64_t places : {1, 2}) {
    support::Draft d;
    const ExprId rows = d.b.symbol("s0");
    const Dim dims[] = {{.value = 1}, {.value = 2}, {.value = 4, .expr = rows}, {.value = 3}},
              strides[] = {{.value = 24, .expr = d.b.symbol("s1")},
                           {.value = 12, .expr = d.b.symbol("s2")},
                           {.value = 3},
                           {.value = 1}};
    const ValueId x = d.b.declare(
        {.name = d.b.text("x"), .sizes = d.b.dims(dims), .strides = d.b.dims(strides), .dtype = ScalarType::float32});
    d.program.signature.input_specs.push_back(UserInputSpec{TensorArgument{Name("x")}});
    d.b.input(GraphBuilder::value(x));
    const Argument one[] = {GraphBuilder::integer(places), GraphBuilder::integer(1)};
    const ValueId y = d.b.tensor("y", ScalarType::float32, {1, 2, places, 1});
    d.node("aten.adaptive_avg_pool2d.default", {d.b.value(x), d.b.list(one, ArgumentKind::int_)}, {y});
    d.output(y);
    const auto lowered = to_backend<onednn>(d.finish());
    REQUIRE(lowered);
    auto session = Session::make(*lowered);
    REQUIRE(session);
    for (const std::int64_t n : {4, 7, 1, 4}) {
      Tensor image = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{1, 2, n, 3});
      for (std::int64_t i = 0; i < image.numel(); ++i) image.view().as<float>()[i] = static_cast<float>(i);
      const EValue input = image.view();
      const auto outputs = session->run("forward", {&input, 1});
      REQUIRE(outputs);
      const auto numbers = (*outputs)[0].as<float>();
      REQUIRE(numbers);
      const double last = static_cast<double>(3 * ((n + places - 1) / places) - 1);  // of the first window
      CHECK((*numbers)[0] == doctest::Approx(last / 2));
      CHECK((*numbers)[static_cast<std::size_t>(places)] == doctest::Approx(last / 2 + static_cast<double>(3 * n)));
    }
  }
}

TEST_CASE("inconsistent sizes are an error of the run, whatever the program declares") {
  for (const std::int64_t example : {3, 10}) {
    support::Draft d;
    const ExprId columns = d.b.symbol("s0");
    const ValueId x = d.user("x", {2, 3});
    const Dim dims[] = {{.value = 4}, {.value = example, .expr = columns}},
              strides[] = {{.value = example, .expr = columns}, {.value = 1}};
    const ValueId weight = d.b.declare(
        {.name = d.b.text("w"), .sizes = d.b.dims(dims), .strides = d.b.dims(strides), .dtype = ScalarType::float32});
    d.program.signature.input_specs.push_back(UserInputSpec{TensorArgument{Name("w")}});
    d.b.input(GraphBuilder::value(weight));
    const ValueId bias = d.user("bias", {4}), y = d.b.tensor("y", ScalarType::float32, {2, 4});
    d.node("aten.linear.default", {d.b.value(x), d.b.value(weight), d.b.value(bias)}, {y});
    d.output(y);
    const auto lowered = to_backend(d.finish(), CapabilityPartitioner<BackendList<onednn, portable>>());
    REQUIRE(lowered);
    CHECK(lowered->methods()[0].delegates[0].backend == (example == 3 ? 0 : 1));
    auto session = Session::make(*lowered);
    REQUIRE(session);
    const Tensor rows = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{2, 3}),
                 more = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{4});
    for (const std::int64_t n : {3, 10, 2, 3}) {
      const Tensor matrix = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{4, n});
      const EValue inputs[] = {rows, matrix, more};
      CHECK(session->run("forward", inputs).has_value() == (n == 3));
    }
  }
}
