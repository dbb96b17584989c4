// SPDX-License-Identifier: MIT
#include "davit/formats/load_error.hpp"

#include <doctest/doctest.h>

using namespace davit;
using namespace davit::formats;

TEST_CASE("names of a file are shortened and cleaned for messages") {
  CHECK(in_quotes("l.weight") == "'l.weight'");
  CHECK(in_quotes("a\nb\x7f") == "'a?b?'");
  CHECK(in_quotes(std::string(1000, 'x')).size() == 80 + 5);
}

TEST_CASE("errors of a file give the place and the fix") {
  const Error error = corrupt("model.pt2/version", "it is empty").error();
  CHECK(error.code == ErrorCode::corrupt_data);
  CHECK(error.stage == Stage::load);
  CHECK(to_string(error).starts_with("load: model.pt2/version: it is empty; "));
}
