// SPDX-License-Identifier: MIT
#include "davit/lowered/backend_list.hpp"

#include <doctest/doctest.h>

#include <type_traits>
#include <variant>

#include "davit/backend/archetype.hpp"
#include "support/compiler_demo.hpp"
#include "davit/testing/detail/renamed_backend.hpp"

using namespace davit;

namespace {

using Demo = compiler_demo;
using Other = testing::renamed_backend<compiler_demo, "other">;
struct Absent : archetype::backend {};
using List = BackendList<Demo, Other>;

static_assert(List::size == 2 && List::contains<Demo> && List::contains<Other> && !List::contains<Absent>);
static_assert(List::index_of<Demo> == 0 && List::index_of<Other> == 1 && List::index_of<Absent> == List::size);
static_assert(std::is_same_v<List::at<1>, Other>);
static_assert(std::is_same_v<DelegationSpec<List>, std::variant<DelegateTo<Demo>, DelegateTo<Other>>>);

constexpr bool check_names() {
  return List::name(0) == "compiler_demo" && List::name(1) == "other" && List::name(2) == "?" &&
         List::find("other") == 1 && List::find("compiler_demo") == 0 && List::find("absent") == List::size &&
         List::find("") == List::size && List::names() == "compiler_demo, other" &&
         BackendList<Other>::names() == "other";
}
static_assert(check_names());

constexpr bool check_visits() {
  std::size_t calls = 0;
  bool right = true;
  List::visit(1, [&]<class B, std::size_t I>() {
    ++calls;
    right = right && std::is_same_v<B, Other> && I == 1;
  });
  List::visit(2, [&]<class, std::size_t>() { ++calls; });
  std::size_t next = 0;
  List::for_each([&]<class B, std::size_t I>() { right = right && I == next++ && std::is_same_v<B, List::at<I>>; });
  return calls == 1 && right && next == 2;
}
static_assert(check_visits());

constexpr bool check_delegate_to() {
  const DelegationSpec<List> spec = delegate_to<List, Other>({"fast"});
  return spec.index() == 1 && std::get<1>(spec).spec.options == "fast" && delegate_to<List, Demo>().index() == 0;
}
static_assert(check_delegate_to());

}  // namespace

TEST_CASE("a list knows its backends by index, by type and by name") { CHECK(check_names()); }

TEST_CASE("visit calls with the backend at an index, for_each with every one in order") { CHECK(check_visits()); }

TEST_CASE("delegate_to names a backend of the list, with its compile spec") { CHECK(check_delegate_to()); }
