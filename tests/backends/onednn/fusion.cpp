// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/fusion.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "backends/onednn/check.hpp"

using namespace davit;
using onednn_ops::Dims;
using onednn_ops::Operation;
using support::Net;

namespace {

/// The chains of a program: the numbers of each chain's operations, in the order in which they run.
[[nodiscard]] std::string chains_of(const ExportedProgram& program, std::vector<Operation>& operations,
                                    bool folds = true) {
  operations = onednn_check::operations(program.view());
  std::string text;
  const auto fold = [&](const Operation&, const Operation&) { return folds; };
  for (const onednn_ops::Chain& chain : onednn_ops::make_chains(program.view(), operations, fold)) {
    text += (text.empty() ? "" : " ") + std::to_string(chain.base);
    for (const std::uint32_t i : chain.epilogue) text += "+" + std::to_string(i);
  }
  return text;
}
[[nodiscard]] std::string chains_of(const ExportedProgram& program, bool folds = true) {
  std::vector<Operation> operations;
  return chains_of(program, operations, folds);
}

/// A convolution of one pixel, with 16 channels.
[[nodiscard]] ValueId pixel(Net& n, std::string_view name, ValueId x) {
  return n.conv(name, x, n.weight(davit::concat(name, "_w"), {16, 16, 1, 1}), {1, 16, 6, 6});
}
/// A depthwise convolution after one of a pixel.
[[nodiscard]] ValueId depthwise(Net& n, std::string_view name, ValueId x, std::int64_t pad = 1) {
  const std::int64_t size = 4 + 2 * pad;
  return n.conv(name, x, n.weight(davit::concat(name, "_w"), {16, 1, 3, 3}), {1, 16, size, size}, 1, pad, 16);
}

}  // namespace

TEST_CASE("a convolution takes the operators behind it, a norm only if it folds") {
  const auto program = [](bool output_too) {
    Net n;
    const auto x = n.input("x", {1, 16, 6, 6});
    const auto c = pixel(n, "c", x);
    const auto r = n.relu("r", n.norm("n", c, {1, 16, 6, 6}), {1, 16, 6, 6});
    const auto sum = n.add("s", r, x, {1, 16, 6, 6});
    return output_too ? n.finish({sum, c}) : n.finish({sum});
  };
  CHECK(chains_of(program(false)) == "0+1+2+3");
  CHECK(chains_of(program(false), false) == "0 1+2 3");
  CHECK(chains_of(program(true)) == "0 1+2 3");  // another use
}

TEST_CASE("a norm that comes later than at once is no part of the weights") {
  Net n;
  const auto r = n.relu("r", pixel(n, "c", n.input("x", {1, 16, 6, 6})), {1, 16, 6, 6});
  CHECK(chains_of(n.finish({n.norm("n", r, {1, 16, 6, 6})})) == "0+1 2");
}

TEST_CASE("a norm takes a relu, and no other operator") {
  const auto program = [](std::string_view target) {
    Net n;
    const auto r =
        n.op(target, "f", {1, 16, 6, 6}, {{"self", n.v(n.norm("n", n.input("x", {1, 16, 6, 6}), {1, 16, 6, 6}))}});
    return n.finish({n.relu("r", r, {1, 16, 6, 6})});
  };
  CHECK(chains_of(program("aten.relu.default")) == "0+1 2");
  CHECK(chains_of(program("aten.sigmoid.default")) == "0 1 2");
}

TEST_CASE("of two convolutions that are added the first takes the sum, and runs after the second") {
  Net n;
  const auto x = n.input("x", {1, 16, 6, 6});
  const auto a = pixel(n, "a", x);
  const auto b = pixel(n, "b", x);
  CHECK(chains_of(n.finish({n.relu("r", n.add("s", a, b, {1, 16, 6, 6}), {1, 16, 6, 6})})) == "1 0+2+3");
}

TEST_CASE("operations on two tensors that a chain can take") {
  const auto after = [](std::string_view target, bool first, support::Sizes other, support::Sizes out) {
    Net n;
    const auto c = pixel(n, "c", n.input("x", {1, 16, 6, 6}));
    const auto y = n.input("y", other);
    return chains_of(n.finish({n.op(target, "b", out, {{"self", n.v(first ? c : y)}, {"other", n.v(first ? y : c)}})}));
  };
  CHECK(after("aten.sub.Tensor", true, {1, 16, 6, 6}, {1, 16, 6, 6}) == "0+1");
  CHECK(after("aten.sub.Tensor", false, {1, 16, 6, 6}, {1, 16, 6, 6}) == "0 1");
  CHECK(after("aten.mul.Tensor", false, {1, 16, 6, 6}, {1, 16, 6, 6}) == "0+1");
  CHECK(after("aten.mul.Tensor", true, {6}, {1, 16, 6, 6}) == "0+1");
  CHECK(after("aten.mul.Tensor", true, {2, 16, 6, 6}, {2, 16, 6, 6}) == "0 1");  // the chain's result is broadcast
  Net twice;
  const auto c = pixel(twice, "c", twice.input("x", {1, 16, 6, 6}));
  CHECK(chains_of(twice.finish({twice.add("b", c, c, {1, 16, 6, 6})})) == "0 1");
}

TEST_CASE("a view joins a matrix product, but no convolution") {
  Net n;
  const auto x = n.input("x", {2, 4});
  const auto product = n.op("aten.mm.default", "p", {2, 6}, {{"self", n.v(x)}, {"mat2", n.v(n.weight("w", {4, 6}))}});
  const auto view = n.op("aten.view.default", "v", {12}, {{"self", n.v(product)}});
  CHECK(chains_of(n.finish({n.relu("r", view, {12})})) == "0+1+2");
  Net c;
  const auto image = pixel(c, "c", c.input("x", {1, 16, 6, 6}));
  CHECK(chains_of(c.finish({c.op("aten.view.default", "v", {16, 36}, {{"self", c.v(image)}})})) == "0 1");
  Net eltwise;  // it takes no epilogue
  const auto r = eltwise.relu("r", eltwise.input("x", {2}), {2});
  CHECK(chains_of(eltwise.finish({eltwise.relu("s", r, {2})})) == "0 1");
}

TEST_CASE("a convolution of one pixel takes one depthwise convolution, and functions after it") {
  Net n;
  const auto x = n.input("x", {1, 16, 6, 6});
  const auto a = n.relu("r", pixel(n, "a", x), {1, 16, 6, 6});
  const auto b = n.relu("s", n.norm("n", depthwise(n, "b", a), {1, 16, 6, 6}), {1, 16, 6, 6});
  CHECK(chains_of(n.finish({n.add("sum", b, x, {1, 16, 6, 6})})) == "0+1+2+3+4 5");
  Net twice;
  const auto first = depthwise(twice, "b", pixel(twice, "a", twice.input("x", {1, 16, 6, 6})));
  CHECK(chains_of(twice.finish({depthwise(twice, "c", first)})) == "0+1 2");
  Net unpadded;
  const auto c = pixel(unpadded, "a", unpadded.input("x", {1, 16, 6, 6}));
  CHECK(chains_of(unpadded.finish({depthwise(unpadded, "b", c, 0)})) == "0 1");
  Net dense;
  const auto d = pixel(dense, "a", dense.input("x", {1, 16, 6, 6}));
  CHECK(chains_of(dense.finish({pixel(dense, "b", d)})) == "0 1");
}

TEST_CASE("a padding with zeros goes into the convolution, unless it pads channels") {
  const auto padded = [](std::initializer_list<std::int64_t> widths, support::Sizes sizes, std::int64_t channels,
                         std::vector<Operation>& operations) {
    Net n;
    const auto x = n.input("x", {1, 15, 5, 5});
    const auto p = n.op("aten.constant_pad_nd.default", "p", sizes, {{"self", n.v(x)}, {"pad", n.ints(widths)}});
    const auto w = n.weight("w", {16, channels, 1, 1});
    return chains_of(n.finish({n.conv("c", p, w, {1, 16, 9, 10}, 1, 1)}), operations);
  };
  std::vector<Operation> made;
  CHECK(padded({1, 2, 0, 2}, {1, 15, 7, 8}, 15, made) == "1");
  REQUIRE(made.size() == 2);
  CHECK(made[1].pad_left == Dims{1, 2});
  CHECK(made[1].pad_right == Dims{3, 3});
  CHECK(made[1].inputs[0] == 0);
  CHECK(padded({1, 2, 0, 2, 1, 0}, {1, 16, 7, 8}, 16, made) == "0 1");
  CHECK(made[1].pad_left == Dims{1, 1});
}
