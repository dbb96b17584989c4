// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include "davit/ops/detail/operator_index.hpp"
#include "davit/ops/rules.hpp"

namespace davit {

std::string_view find_decomposition(std::string_view target) noexcept {
  return detail::find_text<&OperatorRow::rule>(target);
}
std::string_view find_complex_rule(std::string_view target) noexcept {
  return detail::find_text<&OperatorRow::complex_rule>(target);
}

std::string_view advice_of_rule(std::string_view target) noexcept {
  constexpr std::string_view before = "fail('";
  const std::string_view rule = find_decomposition(target);
  const std::size_t at = rule.find(before);
  if (at == std::string_view::npos) return {};
  const std::string_view text = rule.substr(at + before.size());
  return text.substr(0, text.find('\''));
}

Name functional_form(std::string_view target) {
  if (const std::string_view row = detail::find_text<&OperatorRow::form>(target); !row.empty())
    return Name(row.substr(row.find(" = ") + 3));
  const std::size_t dot = target.rfind('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view base = target.substr(0, dot), overload = target.substr(dot);
  if (base.ends_with("__")) return {};
  if (base.ends_with('_')) return concat(base.substr(0, base.size() - 1), overload);
  if (overload.starts_with(".dim_")) return concat(base, ".dim");
  if (overload.ends_with("_out")) return concat(base, overload.substr(0, overload.size() - 4));
  Name plain = concat(base, ".default");
  const bool is_known = !find_operator(plain.view()).empty() || !find_decomposition(plain.view()).empty();
  return overload == ".out" && !is_known ? concat(base, ".Tensor") : plain;
}

}  // namespace davit
