// SPDX-License-Identifier: MIT
#include "davit/formats/checkpoint.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "../support/draft.hpp"
#include "../support/error_in.hpp"
#include "davit/backends/portable.hpp"
#include "davit/formats/package.hpp"
#include "davit/lowered/backend_list.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"

using namespace davit;
using namespace davit::formats;
using support::Draft;
using support::error_in;
using Bytes = std::vector<std::byte>;

namespace {

/// Adds x to a buffer with that name and number of elements, and returns the sum.
ExportedProgram summing(std::string_view name = "sum", std::int64_t size = 2) {
  Draft d;
  const std::int64_t sizes[] = {size};
  const ValueId sum = d.buffer(name, Tensor::zeros(ScalarType::float32, sizes));
  const ValueId x = d.user("x", {size});
  const ValueId next = d.add("next", sum, x);
  d.mutate_buffer(name, next);
  d.output(next);
  return d.finish();
}
Session session_of(const ExportedProgram& program) { return *Session::make(*to_backend<portable>(program)); }
std::vector<float> run(Session& session, float a, float b) {
  std::vector<float> x{a, b};
  const auto out = session.run("forward", tensor(x, {2}));
  REQUIRE(out);
  return support::elements((*out)[0]);
}
SharedBytes shared(const Bytes& bytes) { return SharedBytes::copy_of(bytes); }
struct File {
  std::string path = (std::filesystem::temp_directory_path() / ("checkpoint_" + std::to_string(getpid()))).string();
  ~File() { std::filesystem::remove(path); }
};

}  // namespace

TEST_CASE("a session continues from another one's saved state, as bytes and as a file") {
  Session first = session_of(summing());
  (void)run(first, 1, 2);
  const Result<Bytes> bytes = save_state(first);
  REQUIRE(bytes);
  CHECK(save_state(first) == bytes);
  const File file;
  REQUIRE(save_state(first, file.path));
  (void)run(first, 10, 10);
  Session second = session_of(summing());
  REQUIRE(load_state(second, shared(*bytes)));
  CHECK(run(second, 0, 1) == std::vector<float>{1, 3});
  REQUIRE(load_state(second, file.path));
  CHECK(run(second, 0, 0) == std::vector<float>{1, 2});
  const auto named = read_state(file.path);
  REQUIRE(named);
  REQUIRE(named->size() == 1);
  CHECK((*named)[0].name == "sum");
}

TEST_CASE("a package that begins where a session is, and its state without its backends") {
  Session session = session_of(summing());
  (void)run(session, 5, 6);
  const Result<Bytes> package = save_program(session.program(), {.state = session.state()});
  REQUIRE(package);
  const auto loaded = load_program<BackendList<portable>>(shared(*package));
  REQUIRE(loaded);
  Session next = *Session::make(*loaded);
  CHECK(run(next, 1, 1) == std::vector<float>{6, 7});
  const auto named = read_state(shared(*package));
  REQUIRE(named);
  REQUIRE(named->size() == 1);
  CHECK(support::elements(EValue((*named)[0].tensor.view())) == std::vector<float>{5, 6});
  Session other = session_of(summing());
  REQUIRE(load_state(other, shared(*package)));
  CHECK(run(other, 0, 0) == std::vector<float>{5, 6});
}

TEST_CASE("state that does not fit is an error, and the session's stays") {
  Session session = session_of(summing());
  (void)run(session, 1, 2);
  Session renamed = session_of(summing("total")), larger = session_of(summing("sum", 3));
  Error error = error_in(load_state(session, shared(*save_state(renamed))));
  CHECK(error.code == ErrorCode::not_found);
  CHECK(error.where == "state 'sum'");
  CHECK(error.stage == Stage::load);
  CHECK(error_in(load_state(session, shared(*save_state(larger)))).code == ErrorCode::invalid_shape);
  CHECK(error_in(load_state(session, SharedBytes())).code == ErrorCode::corrupt_data);
  error = error_in(load_state(session, std::string("/nowhere/state.davit")));
  CHECK(error.code == ErrorCode::io_error);
  CHECK(run(session, 0, 0) == std::vector<float>{1, 2});
}

TEST_CASE("damaged checkpoints and packages are errors") {
  Session session = session_of(summing());
  (void)run(session, 1, 2);
  for (const Result<Bytes>& whole :
       {save_state(session), save_program(session.program(), {.state = session.state()})}) {
    REQUIRE(whole);
    const auto fails_or_is_same = [](const Bytes& bytes) {  // padding and the debug map do not matter
      const auto state = read_state(shared(bytes));
      return !state || (state->size() == 1 && (*state)[0].name == "sum" &&
                        support::elements(EValue((*state)[0].tensor.view())) == std::vector<float>{1, 2});
    };
    std::size_t cut = 0;
    for (std::size_t i = 0; i < whole->size(); ++i) {
      Bytes bytes = *whole;
      bytes[i] ^= std::byte{0x11};
      CHECK(fails_or_is_same(bytes));
      bytes.resize(i);
      CHECK(fails_or_is_same(bytes));
      cut += read_state(shared(bytes)) ? 1 : 0;
    }
    CHECK(cut < 64);
  }
}
