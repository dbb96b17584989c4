// SPDX-License-Identifier: MIT
#include "davit/program/views.hpp"

#include <doctest/doctest.h>

using namespace davit;

namespace {

constexpr bool check_views() {
  return view_kind("aten.select.int") == ViewKind::select && view_kind("aten.view.dtype") == ViewKind::other &&
         view_kind("aten.add.Tensor") == ViewKind::none && is_data_movement("aten.cat.default") &&
         !is_data_movement("aten.mul.Tensor") && !is_data_movement("aten.einsum.default") &&
         view_kind("aten.feature_dropout.default") == ViewKind::unknown &&
         view_kind("aten.positive.default") == ViewKind::same && view_kind("aten._conj.default") == ViewKind::transpose;
}
static_assert(check_views());

}  // namespace

TEST_CASE("views are known by their operators' names") { CHECK(check_views()); }
