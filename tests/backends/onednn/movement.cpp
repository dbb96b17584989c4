// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/movement.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

#include "backends/onednn/check.hpp"

using namespace davit;
using onednn_check::described;
using onednn_check::drafted;
using onednn_ops::Dims;
using onednn_ops::OpKind;
using support::Net;

TEST_CASE("views keep the number of elements; constants are not too large") {
  const auto view = [](std::string_view target, support::Sizes from, support::Sizes to) {
    return drafted([&](Net& n) { return n.op(target, "y", to, {{"self", n.v(n.input("x", from))}}); }).why;
  };
  CHECK(view("aten.unsqueeze.default", {2, 3}, {2, 1, 3}) == "");
  CHECK(view("aten.expand.default", {2, 3}, {1, 2, 3}) == "");
  CHECK(view("aten.expand.default", {1, 3}, {2, 3}) == "");
  CHECK(view("aten.expand.default", {2, 3}, {2, 6}) == "the output does not fit");
  const auto dropout = [](bool train) {
    return drafted([&](Net& n) {
             return n.op("aten.dropout.default", "y", {2},
                         {{"input", n.v(n.input("x", {2}))}, {"train", GraphBuilder::boolean(train)}});
           })
        .why;
  };
  CHECK(dropout(false) == "");
  CHECK(dropout(true) == "it drops values at random");
  const auto full = [](support::Sizes sizes, Argument number) {
    return drafted([&](Net& n) { return n.op("aten.full.default", "y", sizes, {{"fill_value", number}}); });
  };
  CHECK(full({2}, GraphBuilder::real(-1.5)).op.epsilon == -1.5f);
  CHECK(full({2}, {}).why == "the number is not known before the run");
  CHECK(full({1024, 1024}, GraphBuilder::integer(1)).why == "");
  CHECK(full({1024, 1025}, GraphBuilder::integer(1)).why == "the constant would take much memory");
}

TEST_CASE("permutations") {
  const auto permute = [](std::initializer_list<std::int64_t> dims, support::Sizes to) {
    return drafted([&](Net& n) {
      return n.op("aten.permute.default", "y", to, {{"self", n.v(n.input("x", {2, 3, 4}))}, {"dims", n.ints(dims)}});
    });
  };
  CHECK(permute({2, 0, -2}, {4, 2, 3}).op.permutation == std::vector{2, 0, 1});
  CHECK(permute({2, 0, 0}, {4, 2, 2}).why == "a dimension is named twice");
  CHECK(permute({2, 0, 1}, {2, 3, 4}).why == "the output's sizes do not fit");
  const auto transpose = [](std::int64_t a, std::int64_t b) {
    return drafted([&](Net& n) {
      return n.op("aten.transpose.int", "y", {4, 3, 2},
                  {{"self", n.v(n.input("x", {2, 3, 4}))}, {"dim0", n.i(a)}, {"dim1", n.i(b)}});
    });
  };
  CHECK(transpose(0, -1).op.permutation == std::vector{2, 1, 0});
  CHECK(transpose(0, 3).why == "a dimension is outside the tensor's rank");
  const auto t = [](support::Sizes from, support::Sizes to) {
    return drafted([&](Net& n) { return n.op("aten.t.default", "y", to, {{"self", n.v(n.input("x", from))}}); });
  };
  CHECK(t({2, 3}, {3, 2}).op.permutation == std::vector{1, 0});
  CHECK(t({2}, {2}).op.kind == OpKind::view);
  CHECK(t({2, 3, 4}, {4, 3, 2}).why == "t takes at most two dimensions");
}

TEST_CASE("slices and selections") {
  const auto slice = [](std::int64_t start, std::int64_t step, std::int64_t count) {
    return drafted([&](Net& n) {
      return n.op("aten.slice.Tensor", "y", {2, count},
                  {{"self", n.v(n.input("x", {2, 6}))}, {"dim", n.i(-1)}, {"start", n.i(start)}, {"step", n.i(step)}});
    });
  };
  CHECK(slice(1, 2, 3).op.first == Dims{1});
  CHECK(slice(1, 2, 3).op.step == 2);
  CHECK(slice(1, 2, 3).op.axis == 1);
  CHECK(slice(-2, 1, 2).op.first == Dims{4});
  CHECK(slice(-100, 1, 6).op.first == Dims{0});
  CHECK(slice(1, 2, 4).why == "the output does not fit");
  CHECK(slice(6, 1, 1).why == "the output does not fit");
  CHECK(slice(0, INT64_MAX, 2).why == "the output does not fit");
  CHECK(slice(0, 0, 2).why == "the step must be positive");
  const auto select = [](std::int64_t index, support::Sizes to) {
    return drafted([&](Net& n) {
      return n.op("aten.select.int", "y", to,
                  {{"self", n.v(n.input("x", {2, 6}))}, {"dim", n.i(0)}, {"index", n.i(index)}});
    });
  };
  CHECK(select(-1, {6}).op.first == Dims{1});
  CHECK(select(2, {6}).why == "the index is outside the dimension");
  CHECK(select(0, {2}).why == "the output does not fit");
}

TEST_CASE("a split's outputs are adjacent") {
  const auto split = [](std::initializer_list<std::int64_t> counts) {
    support::Draft d;
    const ValueId x = d.user("x", {2, 6});
    std::vector<Argument> parts;
    for (const std::int64_t count : counts)
      parts.push_back(GraphBuilder::value(d.b.tensor("part", ScalarType::float32, {2, count})));
    const Argument inputs[] = {GraphBuilder::value(x), d.b.ints(counts), GraphBuilder::integer(1)};
    const Argument outputs[] = {d.b.list(parts, ArgumentKind::value)};
    d.b.node("aten.split_with_sizes.default", inputs, outputs);
    return described(d.finish());
  };
  CHECK(split({1, 3, 2}).op.first == Dims{0, 1, 4});
  CHECK(split({1, 3, 2}).op.outputs.size() == 3);
  CHECK(split({1, 3, 3}).why == "an output does not fit");
  CHECK(split({}).why == "its outputs are no tensors");
}

TEST_CASE("parts of a concatenation") {
  const auto cat = [](support::Sizes a, support::Sizes b, support::Sizes out, std::int64_t dim) {
    return drafted([&](Net& n) {
      const auto x = n.input("a", a);
      const auto y = n.input("b", b);
      return n.op("aten.cat.default", "y", out, {{"tensors", n.draft.b.tensors({x, y})}, {"dim", n.i(dim)}});
    });
  };
  CHECK(cat({2, 3}, {2, 4}, {2, 7}, -1).op.axis == 1);
  CHECK(cat({2, 3}, {2, 4}, {2, 8}, 1).why == "the output's sizes do not fit");
  CHECK(cat({2, 3}, {1, 4}, {2, 7}, 1).why == "the operands' sizes differ");
  CHECK(cat({2, 3}, {4}, {2, 7}, 1).why == "the operands' ranks differ");
  CHECK(cat({2, 3}, {2, 4}, {2, 7}, 2).why == "the dimension is out of range");
  CHECK(drafted([](Net& n) { return n.op("aten.cat.default", "y", {2}, {{"tensors", n.draft.b.tensors({})}}); }).why ==
        "its operands are no list");
}

TEST_CASE("paddings with zeros, the last dimension first") {
  const auto pad = [](std::initializer_list<std::int64_t> widths, support::Sizes out, double value = 0) {
    return drafted([&](Net& n) {
      return n.op(
          "aten.constant_pad_nd.default", "y", out,
          {{"self", n.v(n.input("x", {2, 3, 4}))}, {"pad", n.ints(widths)}, {"value", GraphBuilder::real(value)}});
    });
  };
  const auto made = pad({1, 2, 3, 0}, {2, 6, 7});
  CHECK(made.why == "");
  CHECK(made.op.pad_left == Dims{0, 3, 1});
  CHECK(made.op.pad_right == Dims{0, 0, 2});
  CHECK(pad({1, 2}, {2, 3, 7}, 1).why == "it pads with something else than 0");
  CHECK(pad({1, 2}, {2, 3, 7}, -0.0).why == "it pads with something else than 0");
  CHECK(pad({1, -1}, {2, 3, 4}).why == "the padding is negative or does not fit");
  CHECK(pad({1, 1}, {2, 3, 7}).why == "the padding is negative or does not fit");
  CHECK(pad({1, 1}, {2, 3}).why == "the padding does not fit the rank");
}
