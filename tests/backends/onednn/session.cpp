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

using namespace davit;

TEST_CASE("sizes may change from run to run, to none and back, beyond what is kept") {
  const auto lowered = to_backend(support::tanh_of_any_size(), CapabilityPartitioner<BackendList<onednn, portable>>());
  REQUIRE(lowered);
  REQUIRE(lowered->methods()[0].delegates.size() == 1);
  CHECK(lowered->methods()[0].delegates[0].backend == 0);
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
      if (i == 2 && n == 6) CHECK(std::isnan((*numbers)[i]));
      else CHECK((*numbers)[i] == doctest::Approx(std::tanh(static_cast<double>(i))).epsilon(1e-5));
    }
  }
}
