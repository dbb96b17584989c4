// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/epilogue.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "backends/onednn/check.hpp"

using namespace davit;
using dnnl::algorithm;
using onednn_ops::Builder;
using onednn_ops::ChainView;
using onednn_ops::Code;
using onednn_ops::Dims;
using onednn_ops::Epilogue;
using onednn_ops::Operation;
using onednn_ops::OpKind;
using support::Net;

namespace {

/// A base with a result `start` of these sizes, an operand of the operation that makes `sum` from it, and one of the
/// next, which makes `next`.
struct Tailed {
  Net net;
  ValueId start, other, sum, another, next;
  Code code;
  Builder builder;
  Operation base;
  Operation first;
  Operation second;

  explicit Tailed(support::Sizes sizes, support::Sizes operand)
      : start(net.input("start", sizes)),
        other(net.input("other", operand)),
        sum(net.input("sum", sizes)),
        another(net.input("another", sizes)),
        next(net.input("next", sizes)),
        builder(net.draft.b.module().view(), code, false),
        base{.kind = OpKind::linear, .outputs = {start}},
        first{.kind = OpKind::binary, .inputs = {start, other}, .outputs = {sum}, .algorithm = algorithm::binary_add},
        second{
            .kind = OpKind::binary, .inputs = {another, sum}, .outputs = {next}, .algorithm = algorithm::binary_add} {}

  void place_scratch(ValueId v) {
    builder.place(v, builder.add_scratch(onednn_ops::plain(builder.sizes(v), onednn_ops::DataType::f32)));
    builder.expect_use(v);
  }
  [[nodiscard]] std::optional<Epilogue> epilogue(std::initializer_list<const Operation*> operations, const Dims& dims) {
    const std::vector<const Operation*> list(operations);
    return onednn_ops::make_epilogue(builder, {.base = &base, .norm = nullptr, .epilogue = list}, dims);
  }
};

/// The kinds of an epilogue's post-ops.
[[nodiscard]] std::vector<dnnl::primitive::kind> kinds(const std::optional<Epilogue>& epilogue) {
  std::vector<dnnl::primitive::kind> list;
  const dnnl::post_ops ops = epilogue->attributes.get_post_ops();
  for (int i = 0; i < ops.len(); ++i) list.push_back(ops.kind(i));
  return list;
}
constexpr auto sum_kind = dnnl::primitive::kind::sum;
constexpr auto binary_kind = dnnl::primitive::kind::binary;
constexpr auto eltwise_kind = dnnl::primitive::kind::eltwise;

}  // namespace

TEST_CASE("a chain begins with its base, or the norm that goes into it, and ends with its epilogue") {
  const Operation base{.outputs = {1}};
  const Operation norm{.outputs = {2}};
  const Operation relu{.outputs = {3}};
  const Operation* const epilogue[] = {&relu};
  CHECK(ChainView{.base = &base}.start() == 1);
  CHECK(ChainView{.base = &base}.result() == 1);
  CHECK(ChainView{.base = &base, .norm = &norm}.result() == 2);
  CHECK(ChainView{.base = &base, .norm = &norm, .epilogue = epilogue}.start() == 2);
  CHECK(ChainView{.base = &base, .norm = &norm, .epilogue = epilogue}.result() == 3);
}

TEST_CASE("a sum overwrites the operand without later uses") {
  Tailed t({2, 4}, {2, 4});
  t.place_scratch(t.other);
  const std::optional<Epilogue> epilogue = t.epilogue({&t.first}, {2, 4});
  REQUIRE(epilogue);
  CHECK(kinds(epilogue) == std::vector{sum_kind});
  CHECK(epilogue->sum == t.other);
  CHECK(epilogue->roles.empty());
  CHECK(destination(t.builder, *epilogue, onednn_ops::plain({2, 4}, onednn_ops::DataType::f32)).storage ==
        t.builder.place_of(t.other).storage);
  const Epilogue none;
  CHECK(destination(t.builder, none, onednn_ops::plain({2, 4}, onednn_ops::DataType::f32)).storage !=
        t.builder.place_of(t.other).storage);
}

TEST_CASE("a second sum, a product, an operand still in use, and a sum after operations on two tensors are none") {
  Tailed twice({2, 4}, {2, 4});
  twice.place_scratch(twice.other);
  twice.place_scratch(twice.another);
  const std::optional<Epilogue> epilogue = twice.epilogue({&twice.first, &twice.second}, {2, 4});
  REQUIRE(epilogue);
  CHECK(kinds(epilogue) == std::vector{sum_kind, binary_kind});
  REQUIRE(epilogue->roles.size() == 1);
  CHECK(epilogue->roles[0].argument == (DNNL_ARG_ATTR_MULTIPLE_POST_OP(1) | DNNL_ARG_SRC_1));
  CHECK(epilogue->roles[0].place.storage == twice.builder.place_of(twice.another).storage);

  Tailed product({2, 4}, {2, 4});
  product.place_scratch(product.other);
  product.first.algorithm = algorithm::binary_mul;
  CHECK(kinds(product.epilogue({&product.first}, {2, 4})) == std::vector{binary_kind});

  Tailed used({2, 4}, {2, 4});
  used.place_scratch(used.other);
  used.builder.expect_use(used.other);
  CHECK(kinds(used.epilogue({&used.first}, {2, 4})) == std::vector{binary_kind});

  Tailed elementwise({2, 4}, {2, 4});
  elementwise.place_scratch(elementwise.other);
  elementwise.base.kind = OpKind::binary;
  CHECK(kinds(elementwise.epilogue({&elementwise.first}, {2, 4})) == std::vector{binary_kind});
}

TEST_CASE("functions of one operation are post-operations one after the other") {
  Tailed t({2, 4}, {2, 4});
  t.place_scratch(t.other);
  const Operation functions{.kind = OpKind::eltwise,
                            .inputs = {t.start},
                            .outputs = {t.start},
                            .functions = {{algorithm::eltwise_linear, 2, 1}, {algorithm::eltwise_clip, 0, 1}}};
  CHECK(kinds(t.epilogue({&functions, &t.first}, {2, 4})) == std::vector{eltwise_kind, eltwise_kind, sum_kind});
  const std::optional<Epilogue> none = t.epilogue({}, {2, 4});
  CHECK(kinds(none).empty());
  CHECK(none->attributes.get_scratchpad_mode() == dnnl::scratchpad_mode::user);
}

TEST_CASE("one function with two sets of parameters is no epilogue for oneDNN 2, which would run both with the first") {
  Tailed t({2, 4}, {2, 4});
  const auto function = [&](onednn_ops::Function f) {
    return Operation{.kind = OpKind::eltwise, .inputs = {t.start}, .outputs = {t.start}, .functions = {f}};
  };
  const Operation more = function({algorithm::eltwise_linear, 1, 3});
  const Operation bounds = function({algorithm::eltwise_clip, 0, 6});
  const Operation less = function({algorithm::eltwise_linear, 1.0f / 6, 0});
  CHECK(t.epilogue({&more, &bounds, &more}, {2, 4}));
  CHECK(t.epilogue({&more, &bounds, &less}, {2, 4}).has_value() == !onednn_ops::faults.repeated_functions);
  const Operation own{.kind = OpKind::eltwise,
                      .inputs = {t.start},
                      .outputs = {t.start},
                      .functions = {{algorithm::eltwise_linear, 2, 1}, {algorithm::eltwise_linear, 1, 1}}};
  CHECK(t.epilogue({&own}, {2, 4}).has_value() == !onednn_ops::faults.repeated_functions);
}

TEST_CASE("operands of a matrix product with rows in several dimensions") {
  const auto operand = [](support::Sizes sizes) -> std::optional<Dims> {
    Tailed t({2, 3, 4}, sizes);
    onednn_check::place_input(t.builder, t.other);
    const std::optional<Epilogue> epilogue = t.epilogue({&t.first}, {6, 4});
    if (!epilogue || epilogue->roles.size() != 1) return std::nullopt;
    return onednn_ops::dims_of(epilogue->roles[0].place.md);
  };
  CHECK(operand({2, 3, 4}) == Dims{6, 4});
  CHECK(operand({4}) == Dims{1, 4});
  CHECK(operand({1, 1, 4}) == Dims{1, 4});
  CHECK(operand({}) == Dims{1, 1});
  CHECK_FALSE(operand({3, 4}));
  CHECK_FALSE(operand({2, 1, 1}));
}

TEST_CASE("operands in the primitive's own dimensions are broadcast by it") {
  Tailed t({2, 3, 4}, {3, 1});
  onednn_check::place_input(t.builder, t.other);
  const std::optional<Epilogue> epilogue = t.epilogue({&t.first}, {2, 3, 4});
  REQUIRE(epilogue);
  REQUIRE(epilogue->roles.size() == 1);
  CHECK(onednn_ops::dims_of(epilogue->roles[0].place.md) == Dims{1, 3, 1});
}

TEST_CASE("a depthwise convolution and the norm after it keep weights of their own") {
  Tailed t({1, 4, 6, 6}, {1, 4, 6, 6});
  Operation depthwise{.kind = OpKind::convolution, .inputs = {t.start, t.other, no_id}, .outputs = {t.sum}};
  depthwise.kernel = {3, 3};
  depthwise.strides = depthwise.pad_left = {1, 1};
  const Operation norm{.kind = OpKind::batch_norm, .inputs = {t.sum}, .outputs = {t.next}};
  const std::optional<Epilogue> epilogue = t.epilogue({&depthwise, &norm}, {1, 4, 6, 6});
  REQUIRE(epilogue);
  CHECK(kinds(epilogue) == std::vector{dnnl::primitive::kind::convolution});
  CHECK(epilogue->depthwise == &depthwise);
  CHECK(epilogue->depthwise_norm == &norm);
}

TEST_CASE(
    "an operation on two tensors is not right in oneDNN 2 where blocks of channels are not as wide as vectors, and do "
    "not fill them") {
  using Tag = dnnl::memory::format_tag;
  const auto fits = [](std::int64_t channels, Tag tag, std::string_view implementation) {
    return onednn_ops::layout_fits({Dims{2, channels, 8, 8}, onednn_ops::DataType::f32, tag}, implementation);
  };
  const bool wide = onednn_ops::has_wide_vectors(), any = !onednn_ops::faults.narrow_blocks;
  CHECK(fits(4, Tag::aBcd4b, "jit:uni") == any);
  CHECK(fits(24, Tag::aBcd8b, "jit:uni") == (any || !wide));
  CHECK(fits(20, Tag::aBcd8b, "jit:uni") == (any || !wide));
  CHECK(fits(8, Tag::aBcd4b, "jit:avx512_core"));
  CHECK(fits(16, Tag::aBcd8b, "jit:uni"));
  CHECK(fits(20, Tag::aBcd16b, "jit:uni") == (any || wide));
  CHECK(fits(20, Tag::abcd, "jit:uni"));
  CHECK(fits(20, Tag::acdb, "jit:uni"));
}
