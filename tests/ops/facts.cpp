// SPDX-License-Identifier: MIT
#include "davit/ops/facts.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"
#include "davit/ops/operators.hpp"

using namespace davit;

namespace {

constexpr bool check_find() {
  return facts_of("aten.select.int").view == ViewKind::select && facts_of("aten.select.int").name == "aten.select" &&
         facts_of("aten.add.Tensor").range == RangeBound::sum && facts_of("aten.add.Tensor").view == ViewKind::none &&
         facts_of("aten.topk.default").shape == ShapeRule::topk && facts_of("aten.hsplit.int").apart &&
         facts_of("aten.eq.Scalar").result == ResultRule::boolean && facts_of("toy.add.Tensor").name.empty() &&
         facts_of("aten.linear.default").autocast == AutocastPolicy::lower &&
         facts_of("aten.prod.dim_int").autocast == AutocastPolicy::full &&
         facts_of("aten.softmax.int").autocast == AutocastPolicy::none &&
         facts_of("toy.linear.default").autocast == AutocastPolicy::none && facts_of("").name.empty() &&
         facts_of("_operator.add").name.empty();
}
static_assert(check_find());

constexpr bool check_random() {
  for (const std::string_view target :
       {"aten.rand.default", "aten.randint_like.low_dtype", "aten.multinomial.default", "aten.exponential.default",
        "aten.normal_functional.default", "aten.bernoulli_.float", "aten.empty.memory_format"})
    if (!is_random(target)) return false;
  for (const std::string_view target :
       {"aten.range.step", "aten.norm.Scalar", "aten.hann_window.default", "aten.poisson_nll_loss.default", "aten._"})
    if (is_random(target)) return false;
  return true;
}
static_assert(check_random());

}  // namespace

TEST_CASE("facts are found by the name of the operator, and unknown ones are not") { CHECK(check_find()); }
TEST_CASE("operators that draw random numbers are known, in place too") { CHECK(check_random()); }
TEST_CASE("facts are of an operator once, and in the family that has its rows") {
  std::map<std::string, std::size_t> family_of;  // the family of each row
  for (std::size_t f = 0; f < operator_tables.size(); ++f)
    for (const OperatorRow& row : operator_tables[f]) {
      const std::string_view text = row.schema.empty() ? row.rule.empty() ? row.complex_rule : row.rule : row.schema;
      const std::string_view name = operator_name(text);
      family_of.emplace(name.substr(0, name.rfind('.')), f);
    }
  std::map<std::string_view, std::size_t> known;
  for (std::size_t f = 0; f < operator_tables.size(); ++f)
    for (const OperatorFacts& facts : operator_tables[f].facts) {
      CAPTURE(facts.name);
      CHECK(++known[facts.name] == 1);
      CHECK(facts_of_name(facts.name).name == facts.name);
      CHECK(facts_of(std::string(facts.name) + ".default").name == facts.name);
      if (const auto at = family_of.find(std::string(facts.name)); at != family_of.end()) CHECK(at->second == f);
    }
}
