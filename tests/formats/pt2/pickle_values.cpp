// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/pickle_values.hpp"

#include <doctest/doctest.h>

#include "support/zip_file.hpp"

using namespace davit;
using namespace davit::formats;

TEST_CASE("values of a pickle are looked at by kind") {
  std::vector<PickleValue> values(3);
  values[0] = {.kind = PickleKind::global, .text = "OrderedDict", .module = "collections"};
  values[1] = {.kind = PickleKind::tuple, .items = {0, 2}};
  values[2] = {.kind = PickleKind::object, .state = 0, .state_begin = 1, .state_end = 3};
  const Pickle pickle(bytes_of("abcd"), values, 1);
  CHECK(pickle.root() == 1);
  CHECK(pickle.size() == 3);
  CHECK(pickle.is_global(0, "collections", "OrderedDict"));
  CHECK(!pickle.is_global(0, "torch", "OrderedDict"));
  CHECK(!pickle.is_global(1, "collections", "OrderedDict"));
  CHECK(!pickle.is_global(no_pickle_id, "collections", "OrderedDict"));
  CHECK(pickle.tuple(1).size() == 2);
  CHECK(pickle.tuple(0).empty());
  CHECK(pickle.tuple(no_pickle_id).empty());
  CHECK(text_of(pickle.state_bytes(pickle[2])) == "bc");
}
