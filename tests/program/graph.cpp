// SPDX-License-Identifier: MIT
#include "davit/program/graph.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

using namespace davit;

namespace {

// Rows of every table are plain memory: files contain their bytes, and equal bytes mean equal rows.
static_assert(std::is_trivially_copyable_v<GraphModuleView>);
static_assert(std::has_unique_object_representations_v<Dim> && std::has_unique_object_representations_v<Expr> &&
              std::has_unique_object_representations_v<Value> && std::has_unique_object_representations_v<Argument> &&
              std::has_unique_object_representations_v<Node> && std::has_unique_object_representations_v<Graph> &&
              std::has_unique_object_representations_v<NodeMetadata>);

constexpr bool check_complex() {
  const auto imaginary = std::bit_cast<std::uint64_t>(-2.5);
  const Argument a{.payload = std::bit_cast<std::int64_t>(1.5),
                   .items = {static_cast<std::uint32_t>(imaginary >> 32), static_cast<std::uint32_t>(imaginary)},
                   .kind = ArgumentKind::complex_};
  return a.float_value() == 1.5 && a.imaginary() == -2.5 && !a.is_value() && !a.is_list();
}
static_assert(check_complex());

constexpr bool check_view() {
  constexpr char text[] = {'x', 'y', 'z'};
  const Argument arguments[] = {{.payload = 1, .kind = ArgumentKind::value},
                                {.payload = 0, .kind = ArgumentKind::value},
                                {.items = {0, 2}, .kind = ArgumentKind::list}};
  const GraphModuleView g{.text = {text, 3}, .arguments = arguments};
  ValueId sum = 0;
  int visits = 0;
  g.for_each_value(arguments[2], [&](ValueId v) {
    sum += v;
    ++visits;
  });
  return g.str(Text{1, 2}) == "yz" && g.str(Range{0, 1}) == "x" && visits == 2 && sum == 1 && Dim{}.is_static() &&
         !Dim{.expr = 0}.is_static();
}
static_assert(check_view());

}  // namespace

TEST_CASE("a complex number keeps both its parts") { CHECK(check_complex()); }
TEST_CASE("a view reads texts and walks nested lists") { CHECK(check_view()); }
