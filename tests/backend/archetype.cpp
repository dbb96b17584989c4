// SPDX-License-Identifier: MIT
#include "davit/backend/archetype.hpp"

#include <doctest/doctest.h>

#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#include "support/saved_program.hpp"

using namespace davit;

// a function with a concept's constraint compiles with the concept's archetype: it uses nothing else of a backend
static_assert(requires(const ExportedProgram& program) { to_backend<archetype::backend>(program); });
static_assert(requires(const ExportedProgram& program) { to_backend<archetype::split_backend>(program); });
static_assert(requires(const std::vector<std::byte>& bytes) { support::loaded<archetype::saving_backend>(bytes); });
// a table has the functions of the least backend, and no more
constexpr bool has_all_of_a_runtime(BackendTable t) {
  return t.name == "runtime_backend" && t.compile != nullptr && t.execute != nullptr && t.execute_traced != nullptr &&
         t.make_workspace != nullptr && t.default_spec != nullptr;
}
constexpr bool has_preprocess(BackendTable t) { return t.preprocess != nullptr; }
constexpr bool selects(BackendTable t) { return t.refuses != nullptr; }
constexpr bool estimates(BackendTable t) { return t.offload_cost != nullptr; }
constexpr bool prepares(BackendTable t) { return t.prepare != nullptr; }
constexpr bool saves(BackendTable t) {
  return t.save != nullptr && t.load != nullptr && t.save_spec != nullptr && t.load_spec != nullptr;
}
static_assert(has_all_of_a_runtime(backend_table<archetype::runtime_backend>));
static_assert(!has_preprocess(backend_table<archetype::runtime_backend>) &&
              has_preprocess(backend_table<archetype::split_backend>));
static_assert(selects(backend_table<archetype::selecting_backend>) && !selects(backend_table<archetype::backend>));
static_assert(estimates(backend_table<archetype::estimating_backend>) && !estimates(backend_table<archetype::backend>));
static_assert(prepares(backend_table<archetype::preparing_backend>) && !prepares(backend_table<archetype::backend>));
static_assert(saves(backend_table<archetype::saving_backend>) && !saves(backend_table<archetype::backend>));

TEST_CASE("a list's tables are in its order") {
  static_assert(BackendList<archetype::runtime_backend>::tables().size() == 1);
  static_assert(BackendList<archetype::runtime_backend>::tables().name(0) == "runtime_backend");
  static_assert(BackendList<archetype::runtime_backend>::tables().find("other") == 1);
  CHECK(BackendTables().size() == 0);
}
