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
template <class B>
constexpr bool can_save = requires(const LoweredProgram& module) { save_module<B>(module); };
static_assert(can_save<archetype::saving_backend> && !can_save<archetype::backend>);

TEST_CASE("a session can be made of the least backend there is, and of one that prepares") {
  CHECK(sizeof(Session) > 0);
  CHECK(sizeof(Session) > 0);
  [[maybe_unused]] const auto run = [](Session& session) { return session.run(0, {}); };
}
