// SPDX-License-Identifier: MIT
#include "davit/formats/cpu_name.hpp"

#include <doctest/doctest.h>

TEST_CASE("the processor has a name, the same each time") {
  CHECK(!davit::formats::cpu_name().empty());
  CHECK(davit::formats::cpu_name() == davit::formats::cpu_name());
  CHECK(davit::formats::cpu_name().find('\n') == std::string::npos);
}
