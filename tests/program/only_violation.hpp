// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/program/verify.hpp"

/// True if `program` has exactly one violation, with this place and this text.
constexpr bool only(const davit::ProgramTables& program, std::string_view where, std::string_view what,
                    davit::VerifyOptions options = {}) {
  const std::vector<davit::Error> violations = davit::verify(program, options);
  return violations.size() == 1 && violations[0].code == davit::ErrorCode::invalid_program &&
         violations[0].stage == davit::Stage::verify && violations[0].where == where && violations[0].what == what &&
         !violations[0].fix.empty();
}

/// Replaces element i by `spec`; assigning another alternative is not a constant expression with libstdc++ 12.
template <class Spec>
constexpr void put(std::vector<Spec>& list, std::size_t i, Spec spec) {
  std::vector<Spec> changed;
  for (std::size_t k = 0; k < list.size(); ++k) changed.push_back(k == i ? spec : list[k]);
  list = std::move(changed);
}
