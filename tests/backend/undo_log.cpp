// SPDX-License-Identifier: MIT
#include "davit/backend/undo_log.hpp"

#include <doctest/doctest.h>

#include <vector>

TEST_CASE("kept bytes are written back, the last first; forgotten bytes are not") {
  davit::UndoLog log;
  std::vector<int> x{1, 2, 3};
  log.keep(&x[0], 0);
  CHECK(log.is_empty());
  log.keep(x.data(), sizeof(int));
  x[0] = 10;
  log.keep(x.data(), 2 * sizeof(int));  // the same element again
  x = {20, 30, 40};
  log.restore();
  CHECK(x == std::vector{1, 2, 40});
  CHECK(log.is_empty());
  log.keep(&x[2], sizeof(int));
  log.clear();
  x[2] = 50;
  log.restore();
  CHECK(x[2] == 50);
}
