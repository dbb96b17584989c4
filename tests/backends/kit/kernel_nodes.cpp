// SPDX-License-Identifier: MIT
#include "davit/backends/kit/kernel_nodes.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "support/net.hpp"

using namespace davit;
using support::Net;

namespace {

/// The reason why the only node of a program is refused; empty if it is taken.
template <class Build>
std::string refusal(Build&& build) {
  Net n;
  const ValueId y = build(n);
  const ExportedProgram program = n.finish({y});
  const char* const why = refuses_as_kernel(program.view(), 0);
  return why == nullptr ? "" : why;
}
std::string unary(std::string_view target, ScalarType made = ScalarType::float32) {
  return refusal([&](Net& n) {
    const ValueId y = n.op(target, "y", {2, 3}, {{"self", n.v(n.input("x", {2, 3}))}});
    n.draft.b.module().values[y].dtype = made;
    return y;
  });
}

}  // namespace

TEST_CASE("operators with complete facts run as portable's kernels, whole composites too") {
  CHECK(unary("aten.sin.default") == "");
  CHECK(unary("aten.isnan.default", ScalarType::bool_) == "");
  CHECK(unary("aten._to_copy.default", ScalarType::int64) == "");
  CHECK(unary("aten.std.default") == "");  // a composite without facts, which portable takes whole
  CHECK(unary("aten.hardswish.default") == "");
  CHECK(refusal([](Net& n) {
          return n.op("aten.gather.default", "y", {2, 3},
                      {{"self", n.v(n.input("x", {2, 3}))}, {"dim", n.i(1)}, {"index", n.v(n.input("i", {2, 3}))}});
        }) == "");
}

TEST_CASE("a change of dtype computes, where the same operator could return a view") {
  CHECK(unary("aten.to.dtype") == "a view in a form that the library does not have");
  CHECK(unary("aten.to.dtype", ScalarType::int64) == "");
  CHECK(unary("aten.view.dtype", ScalarType::int32) == "a view in a form that the library does not have");
}

TEST_CASE("no products, random numbers, updates, complex numbers, results of unknown sizes, or operators of others") {
  const std::string_view unknown = "the library has no such operator";
  CHECK(refusal([](Net& n) {
          const ValueId x = n.input("x", {2, 2});
          return n.op("aten.mm.default", "y", {2, 2}, {{"self", n.v(x)}, {"mat2", n.v(x)}});
        }) == "a product in a form that the library does not have");
  CHECK(unary("aten.rand.default") == "the operator has an effect, or updates an argument");
  CHECK(unary("aten.relu_.default") != "");
  CHECK(refusal([](Net& n) {
          const ValueId x = n.input("x", {2, 2});
          return n.op("aten.slice_scatter.default", "y", {2, 2}, {{"self", n.v(x)}, {"src", n.v(x)}});
        }) == "the operator has an effect, or updates an argument");
  CHECK(unary("aten.nonzero.default") == unknown);
  CHECK(unary("aten.sin.default", ScalarType::complex64) == unknown);
  CHECK(unary("aten.nosuch.default") == unknown);
  CHECK(unary("my.own.default") == unknown);
  CHECK(refusal([](Net& n) {
          const ValueId x = n.input("x", {2, 3});
          return n.op("aten.stack.default", "y", {1, 2, 3}, {{"tensors", n.draft.b.tensors({x})}});
        }) == unknown);
}
