// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <expected>
#include <utility>
#include <vector>

#include "davit/lowering/functionalize.hpp"
#include "davit/lowering/prepare_program.hpp"
#include "davit/lowering/simplify.hpp"
#include "davit/program/verify.hpp"

namespace davit {

namespace detail {

[[nodiscard]] DAVIT_INLINE Error all_of(std::vector<Error> violations) {
  Error first = std::move(violations.front());
  if (violations.size() > 1) {
    first.what = concat(first.what, " (and ", violations.size() - 1, " more)");
    for (std::size_t i = 1; i < violations.size() && i < 20; ++i)
      first.source = concat(first.source, first.source.empty() ? "" : "\n", "  ", violations[i].where, ": ", violations[i].what);
  }
  return first;
}

[[nodiscard]] DAVIT_INLINE Result<void> sound(const ExportedProgram& program, bool validate) {
  if (!validate) return {};
  if (std::vector<Error> violations = verify(program, {.allow_unknown_operators = true}); !violations.empty())
    return std::unexpected(all_of(std::move(violations)));
  return {};
}

}  // namespace detail

DAVIT_INLINE Result<std::optional<ExportedProgram>> prepare_program(const ExportedProgram& program, const DecomposeOptions& options, bool validate) {
  if (Result<void> good = detail::sound(program, validate); !good) return std::unexpected(std::move(good.error()));
  std::optional<ExportedProgram> made = functionalize(program);
  const auto seen = [&]() -> const ExportedProgram& { return made ? *made : program; };
  const auto rewrite = [&](std::optional<ExportedProgram> to) {
    if (to) made = std::move(to);
    return to.has_value();
  };
  rewrite(simplified(seen(), &options, true));
  if (rewrite(decomposed(seen(), options))) rewrite(simplified(seen(), &options));
  if (made)
    if (Result<void> good = detail::sound(*made, validate); !good) return std::unexpected(std::move(good.error()));
  return made;
}

}  // namespace davit
