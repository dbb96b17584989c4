// SPDX-License-Identifier: MIT
#include "davit/formats/cost_table_json.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>

#include "../support/draft.hpp"
#include "davit/backends/portable.hpp"
#include "davit/autotune/measure_costs.hpp"
#include "davit/formats/package.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/testing/detail/renamed_backend.hpp"

using namespace davit;
using formats::parse_cost_table;
using formats::print_cost_table;
using formats::read_cost_table;
using formats::write_cost_table;

namespace {

CostTable sample() {
  CostTable table;
  table.cpu = "A \"CPU\" \\ 2";
  table.threads = 4;
  table.border_ns = 12;
  table.set({.region = {0xfedcba9876543210u}, .backend = "onednn", .ns = 1234567, .what = "aten.add.Tensor"});
  table.set({.region = {1}, .backend = "xnnpack", .outcome = CostOutcome::refused});
  table.set({.region = {1}, .backend = "portable", .outcome = CostOutcome::not_run, .what = "two, 2 nodes"});
  table.set(PlanCost{.plan = {2}, .ns = 99, .what = "by region"});
  table.set(BorderCost{.program = {3}, .ns = 0});
  return table;
}
Error error_of_text(std::string_view text) {
  const Result<CostTable> table = parse_cost_table(text, "t");
  REQUIRE(!table);
  CHECK(!table.error().where.empty());
  CHECK(table.error().fix.view().find("--save-costs") != std::string_view::npos);
  return table.error();
}
/// The sample as text, a part of it replaced.
std::string with(std::string_view part, std::string_view other) {
  std::string text = print_cost_table(sample());
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), other);
}

}  // namespace

TEST_CASE("a written table is read again, and written the same") {
  const std::string text = print_cost_table(sample());
  const Result<CostTable> table = parse_cost_table(text);
  REQUIRE(table);
  CHECK(print_cost_table(*table) == text);
  CHECK(table->cpu == "A \"CPU\" \\ 2");
  CHECK(table->threads == 4);
  CHECK(table->find({0xfedcba9876543210u}, "onednn")->ns == 1234567);
  CHECK(table->find({1}, "xnnpack")->outcome == CostOutcome::refused);
  CHECK(table->find({1}, "portable")->outcome == CostOutcome::not_run);
  CHECK(table->find({1}, "portable")->what == "two, 2 nodes");
  CHECK(table->find(RegionKey{2})->ns == 99);
  CHECK(table->border_of({3}) == 0);
  CHECK(table->border_of({4}) == 12);
  CHECK(parse_cost_table(print_cost_table({})));
}

TEST_CASE("a malformed table is an error with its place") {
  CHECK(error_of_text("").code == ErrorCode::corrupt_data);
  CHECK(error_of_text("[]").code == ErrorCode::corrupt_data);
  CHECK(error_of_text("{}").where == "t.davit_costs");
  CHECK(error_of_text(with("\"davit_costs\": 1", "\"davit_costs\": 2")).code == ErrorCode::version_mismatch);
  CHECK(error_of_text(with("\"threads\": 4", "\"threads\": 0")).what == "threads lie between 1 and 65536");
  CHECK(error_of_text(with("\"border_ns\": 12", "\"border_ns\": -1")).where == "t.border_ns");
  CHECK(error_of_text(with("fedcba9876543210", "fedcba987654321")).where == "t.regions[2].region");
  CHECK(error_of_text(with("fedcba9876543210", "fedcba987654321x")).what == "a key has 16 hexadecimal digits");
  CHECK(error_of_text(with("fedcba9876543210", "FEDCBA9876543210")).what == "a key has 16 hexadecimal digits");
  CHECK(error_of_text(with("fedcba9876543210", "+000000000000001")).what == "a key has 16 hexadecimal digits");
  CHECK(error_of_text(with("1234567", "1e99")).where == "t.regions[2].ns");
  CHECK(error_of_text(with("1234567", "1000000000000001")).what == "nanoseconds lie between 0 and 10^15");
  CHECK(error_of_text(with("\"refused\"", "\"tired\"")).what == "a result is 'refused' or 'not run'");
  CHECK(error_of_text(with("\"xnnpack\"", "\"portable\"")).what == "the table has two entries of one key");
  CHECK(error_of_text(with("\"backend\": \"onednn\"", "\"backend\": 7")).where == "t.regions[2].backend");
  CHECK(error_of_text(with("\"programs\": [", "\"programs\": [7,")).where == "t.programs[0]");
  CHECK(error_of_text(with("\"ns\": 99", "\"ms\": 99")).where == "t.programs[0].ns");
}

TEST_CASE("damaged texts are errors or other tables, never worse") {
  const std::string text = print_cost_table(sample());
  for (std::size_t size = 0; size < text.size(); ++size) (void)parse_cost_table(std::string_view(text).substr(0, size));
  std::mt19937 random(1);
  int read = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = text;
    for (int i = 0; i < 1 + round % 4; ++i) damaged[random() % damaged.size()] = static_cast<char>(random() % 256);
    const Result<CostTable> table = parse_cost_table(damaged);
    if (!table) continue;
    ++read;
    const Result<CostTable> again = parse_cost_table(print_cost_table(*table));
    REQUIRE(again);
    REQUIRE(again->regions().size() == table->regions().size());
  }
  CHECK(read > 0);
}

TEST_CASE("many entries in any order do not take quadratic time") {
  std::string text =
      R"({"davit_costs": 1, "cpu": "", "threads": 1, "border_ns": 0, "programs": [], "borders": [], "regions": [)";
  for (int i = 200'000; i-- > 0;) {
    std::string key = std::to_string(i);
    text += R"({"region": ")" + std::string(16 - key.size(), '0') + key + R"(", "backend": "b", "ns": 1})" +
            (i == 0 ? "]}" : ",");
  }
  const Result<CostTable> table = parse_cost_table(text);
  REQUIRE(table);
  CHECK(table->regions().size() == 200'000);
  CHECK(std::ranges::is_sorted(table->regions(), {}, &RegionCost::region));
}

TEST_CASE("files are written and read; a missing or unwritable file is an error") {
  const auto folder = std::filesystem::temp_directory_path() / "davit_cost_table_test";
  std::filesystem::create_directories(folder);
  const auto file = folder / "costs.json";
  REQUIRE(write_cost_table(sample(), file));
  REQUIRE(write_cost_table(sample(), file));
  const Result<CostTable> table = read_cost_table(file);
  REQUIRE(table);
  CHECK(print_cost_table(*table) == print_cost_table(sample()));
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 1);
  CHECK(read_cost_table(folder / "none").error().code == ErrorCode::io_error);
  CHECK(write_cost_table(sample(), folder / "none" / "costs.json").error().code == ErrorCode::io_error);
  std::filesystem::remove_all(folder);
}

TEST_CASE("the same program and the same table give the same bytes") {
  using List = BackendList<testing::renamed_backend<portable, "portable_2">, portable>;
  support::Draft d;
  ValueId v = d.user("x", {64});
  for (int i = 0; i < 6; ++i) v = i % 2 == 0 ? d.mul(concat("m", i), v, 2.0) : d.add(concat("a", i), v, 3.0);
  d.output(v);
  const ExportedProgram program = d.finish();
  const AutotuneOptions options{.regions = {.regions = 6}};
  CostTable table;
  REQUIRE(measure_costs<List>(Method{"forward", &program}, table, options, {.max_rounds = 5}));
  // a table in a file that makes the program change backends
  const RegionChoice choice = detail::make_choice(List::tables(), Method{"forward", &program}, {0, 1}, options.regions);
  REQUIRE(choice.regions().count() == 6);
  CostTable alternating;
  for (std::uint32_t r = 0; r < 6; ++r)
    for (std::uint32_t b = 0; b < 2; ++b)
      alternating.set(
          {.region = choice.key(r, r + 1), .backend = Name::own(List::name(b)), .ns = r % 2 == b ? 1u : 9u});
  for (const CostTable& costs : {table, alternating}) {
    const Result<CostTable> read = parse_cost_table(print_cost_table(costs));
    REQUIRE(read);
    const auto first = to_backend(program, AutotunePartitioner<List>(costs, options));
    const auto second = to_backend(program, AutotunePartitioner<List>(*read, options));
    REQUIRE(first);
    REQUIRE(second);
    const auto bytes = formats::save_program(*first);
    REQUIRE(bytes);
    CHECK(*bytes == *formats::save_program(*second));
  }
  const auto split = to_backend(program, AutotunePartitioner<List>(alternating, options));
  CHECK(split->methods()[0].delegates.size() > 1);
}
