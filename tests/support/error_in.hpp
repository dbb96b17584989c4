// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include "davit/core/error.hpp"

namespace support {

/// The Error of a Result that must have failed.
template <class R>
davit::Error error_in(const R& result) {
  REQUIRE(!result);
  return result.error();
}

}  // namespace support
