// SPDX-License-Identifier: MIT
#include "davit/program/operators/resize.hpp"

#include <doctest/doctest.h>

#include "one_call.hpp"

using namespace davit;
using operators::ResizeView;

namespace {

using B = GraphBuilder;
constexpr const char* nearest = "aten.upsample_nearest2d.vec";
constexpr const char* linear = "aten.upsample_bilinear2d.vec";

constexpr one_call::Reading<ResizeView> by_sizes(const char* target, std::initializer_list<std::int64_t> out,
                                                 Argument aligned = B::none(),
                                                 std::initializer_list<std::int64_t> in = {1, 2, 3, 4}) {
  return one_call::reading<ResizeView>(
      [&](GraphBuilder& b) {
        return one_call::call(
            b, target,
            {{"input", b.value(one_call::tensor(b, in))}, {"output_size", b.ints(out)}, {"align_corners", aligned}});
      },
      [](const auto& call, ResizeView& view) { return operators::read_resize(call, view); });
}
constexpr one_call::Reading<ResizeView> by_factors(Argument height, bool sizes_too = false) {
  return one_call::reading<ResizeView>(
      [&](GraphBuilder& b) {
        const Argument x = b.value(one_call::tensor(b, {1, 2, 3, 4}));
        const Argument items[] = {height, b.real(2.5)};
        const Argument factors = b.list(std::span<const Argument>(items), ArgumentKind::float_);
        return one_call::call(
            b, nearest,
            {{"input", x}, {"output_size", sizes_too ? b.ints({3, 4}) : b.none()}, {"scale_factors", factors}});
      },
      [](const auto& call, ResizeView& view) { return operators::read_resize(call, view); });
}

/// Resizes by sizes, with a scale for the positions of elements.
constexpr one_call::Reading<ResizeView> by_scale(const char* target, Argument scale) {
  return one_call::reading<ResizeView>(
      [&](GraphBuilder& b) {
        return one_call::call(
            b, target,
            {{"self", b.value(one_call::tensor(b, {1, 2, 4}))}, {"output_size", b.ints({6})}, {"scales", scale}});
      },
      [](const auto& call, ResizeView& view) { return operators::read_resize(call, view); });
}

constexpr bool check() {
  if (by_scale("aten._upsample_nearest_exact1d.default", B::real(1.6)).view !=
      ResizeView{.input = 0,
                 .function = operators::ResizeFunction::nearest_exact,
                 .dims = 1,
                 .out = {6, -1, -1},
                 .factor = {1.6}})
    return false;
  return by_sizes(nearest, {6, 8}).view == ResizeView{.input = 0, .out = {6, 8, -1}} &&
         by_sizes(linear, {1, 2}, B::boolean(true)).view ==
             ResizeView{
                 .input = 0, .function = operators::ResizeFunction::linear, .aligned = true, .out = {1, 2, -1}} &&
         by_factors(B::real(1.5)).view == ResizeView{.input = 0, .out = {4, 10, -1}, .factor = {1.5, 2.5}};
}
static_assert(check());

constexpr bool check_hostile() {
  const std::string_view range = "upsample: an output size is less than one or too large";
  return by_sizes(nearest, {6, 0}).why == range && by_sizes(nearest, {INT64_MAX, 1}).why == range &&
         by_factors(B::real(0.25)).why == range && by_factors(B::real(1e300)).why == range &&
         by_sizes(nearest, {6}).why ==
             "upsample: output_size or scale_factors needs an element for each dimension that is resized" &&
         by_sizes(nearest, {6, 6}, B::none(), {2, 3, 4}).why == "upsample: the input must have four dimensions" &&
         by_scale("aten._upsample_nearest_exact1d.default", B::value(0)).why == "upsample: a scale is not a number" &&
         by_factors(B::real(1), true).why == "upsample: give either output_size or scale_factors" &&
         by_sizes(linear, {1, 2}, B::value(0)).why == "upsample: align_corners is not known" &&
         by_sizes("aten.relu.default", {1, 2}).why == "the operator resizes no images";
}
static_assert(check_hostile());

}  // namespace

TEST_CASE("resizes by sizes and by factors") { CHECK(check()); }

TEST_CASE("impossible resizes are refused with a reason") { CHECK(check_hostile()); }

TEST_CASE("resizes have their arguments where their schemas say") {
  for (const operators::ResizeOperator& op : operators::resize_operators) {
    CHECK(one_call::stands_there(op.target, {"output_size", 1}));
    if (op.has_corners()) CHECK(one_call::stands_there(op.target, {"align_corners", 2}));
    if (!op.by_sizes) CHECK(one_call::stands_there(op.target, op.factors()));
    for (std::size_t d = 0;
         d < op.dims && op.by_sizes && op.function != operators::ResizeFunction::linear_by_difference; ++d)
      CHECK(one_call::stands_there(op.target, op.scale(d)));
  }
}
