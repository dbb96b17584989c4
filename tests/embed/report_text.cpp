// SPDX-License-Identifier: MIT
#include "davit/embed/report_text.hpp"

#include <doctest/doctest.h>

#include <string_view>

namespace {

using namespace davit;

constexpr ReportText<5> text{"four"};
static_assert(text.size() == 4 && std::string_view(text.data()) == "four");

template <auto... Parts>
struct Report {
  static constexpr std::size_t count = sizeof...(Parts);
};
static_assert(decltype(detail::in_parts<Report, ReportText<1>{}>())::count == 0);
static_assert(decltype(detail::in_parts<Report, text>())::count == 1);

}  // namespace

TEST_CASE("a long text is cut behind a blank") {
  const std::string_view words = "relu_1 = aten.relu.default (npu: only matrix products, portable: not float32)";
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = detail::part_end(words, at);
    CHECK(end > at);
    CHECK(end - at <= detail::report_part);
    CHECK((end == words.size() || words[end - 1] == ' '));
    at = end;
  }
}
