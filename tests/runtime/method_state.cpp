// SPDX-License-Identifier: MIT
#include "davit/runtime/method_state.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "../programs.hpp"

using namespace davit;

TEST_CASE("an output that views a copy holds until a run ends well, however often a run is refused") {
  const auto floats = [](const TensorView& view) {
    return std::vector<float>(view.as<float>(), view.as<float>() + view.numel());
  };
  davit::detail::OverwrittenMemory last(1, 1, {});
  const Tensor made = programs::tensor({6}, {0, 1, 2, 3, 4, 5});
  const EValue output(made.view());
  last.note({}, {}, {&output, 1});
  const auto copies = last.replace({&output, 1});  // fed back
  REQUIRE(copies);
  const EValue copy = (*copies)[0];
  const std::int64_t four = 4, one = 1;
  const EValue part(TensorView{copy.tensor().element_at(2), &four, &one, 1, ScalarType::float32});
  last.note({&output, 1}, {&copy, 1}, {&part, 1});
  for (int refused = 0; refused < 3; ++refused) {
    const auto again = last.replace({&part, 1});
    REQUIRE(again);
    CHECK(!overlap(memory_range((*again)[0].tensor()), memory_range(part.tensor())));
    CHECK(floats((*again)[0].tensor()) == std::vector<float>{2, 3, 4, 5});
    CHECK(floats(part.tensor()) == std::vector<float>{2, 3, 4, 5});
  }
}
