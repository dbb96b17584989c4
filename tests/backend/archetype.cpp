// SPDX-License-Identifier: MIT
#include "davit/backend/archetype.hpp"

#include <doctest/doctest.h>

#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#include "support/saved_program.hpp"

using namespace davit;

// What is constrained by a concept compiles with the concept's archetype: nothing else of a backend is used.
static_assert(requires(const ExportedProgram& program) { to_backend<archetype::backend>(program); });
static_assert(requires(const ExportedProgram& program) { to_backend<archetype::split_backend>(program); });
static_assert(requires(const std::vector<std::byte>& bytes) { support::loaded<archetype::saving_backend>(bytes); });
static_assert(backend_table<archetype::saving_backend>.save != nullptr && backend_table<archetype::backend>.save == nullptr);
static_assert(backend_table<archetype::selecting_backend>.refuses != nullptr && backend_table<archetype::backend>.refuses == nullptr);
static_assert(backend_table<archetype::preparing_backend>.prepare != nullptr && backend_table<archetype::backend>.prepare == nullptr);
static_assert(backend_table<archetype::runtime_backend>.preprocess == nullptr && backend_table<archetype::split_backend>.preprocess != nullptr);

TEST_CASE("a table holds what the least backend has, and no more") {
  static_assert(backend_table<archetype::runtime_backend>.name == "runtime_backend");
  static_assert(backend_table<archetype::runtime_backend>.execute != nullptr && backend_table<archetype::runtime_backend>.may_overwrite == nullptr);
}
