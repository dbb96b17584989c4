// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/operands.hpp"

#include <doctest/doctest.h>

#include <string>

#include "support/net.hpp"

using namespace davit;
using support::Net;

TEST_CASE("tensors that the backend cannot hold") {
  support::Draft d;
  const auto why = [&](ValueId v) {
    const char* text = onednn_ops::check_tensor(d.b.module().view(), v);
    return text == nullptr ? std::string() : std::string(text);
  };
  CHECK(why(d.user("scalar")) == "");
  CHECK(why(d.user("x", {2, 3})) == "");
  CHECK(why(d.user("none", {2, 0})) == "a tensor has no elements");
  CHECK(why(d.user("negative", {-1})) == "a tensor has no elements");
  CHECK(why(d.user("sized", d.b.symbol("s0"))) == "");  // as its example
  CHECK(why(d.user("nothing", d.b.symbol("s1"), 0)) == "a tensor has no elements");
  CHECK(why(d.new_token("token")) == "an operand is no tensor");
  CHECK(why(d.like(0, "double", ScalarType::float64)) == "");
  CHECK(why(d.user("most", {std::int64_t{1} << 20, std::int64_t{1} << 20})) == "");
  CHECK(why(d.user("more", {std::int64_t{1} << 20, std::int64_t{1} << 20, 2})) == "a tensor is too large");
  CHECK(why(d.user("overflowing", {std::int64_t{1} << 33, std::int64_t{1} << 33})) == "a tensor is too large");
  CHECK(why(d.user("deep", {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})) == "");
  CHECK(why(d.user("deeper", {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})) == "a tensor has too many dimensions");
}

TEST_CASE("no dimensions are one of size 1 to the library, and none to the program") {
  Net n;
  const auto x = n.input("x", {});
  const ExportedProgram program = n.finish({n.relu("y", x, {})});
  CHECK(onednn_ops::sizes_of(program.view(), x) == onednn_ops::Dims{1});
}

TEST_CASE("spatial numbers are listed without the dimensions that are not there, dilations from 0") {
  using onednn_ops::Dims;
  CHECK(onednn_ops::spatial_dims({1, 2, 3}, 2) == Dims{2, 3});
  CHECK(onednn_ops::spatial_dims({4, 2, 3}, 3) == Dims{4, 2, 3});
  CHECK(onednn_ops::dilation_dims({1, 1, 3}, 1) == Dims{2});
}
