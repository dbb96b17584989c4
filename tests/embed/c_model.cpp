// SPDX-License-Identifier: MIT
#include "davit/embed/c_model.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "support/static_toy.hpp"

namespace {

using namespace davit;
using namespace static_toy;
using Four = std::array<float, 4>;
using Module = static_module<running_total, external_arena, calculator>;

constinit c_model<Module> model;

struct one_size {
  struct of_four : residual {
    static constexpr std::array<std::int64_t, 1> symbols{4};
  };
  static constexpr std::string_view name = "one_size";
  using sizes = static_sizes<of_four>;
};

int code(ErrorCode code, DebugHandle handle = no_debug_handle) { return static_cast<int>(Fault(code, handle).bits()); }

}  // namespace

TEST_CASE("statuses of C functions are the bits of faults") {
  static static_arena<Module::arena_bytes + 1> arena;
  std::byte* const memory = arena.bytes.data();
  const Four x{1, 3, 1, 6};
  Four y{};
  const auto run = [&](const float* from) {
    return model.call<running_total>(std::span<const float, 4>(from, 4), std::span<float, 4>(y));
  };
  CHECK(run(x.data()) == code(ErrorCode::out_of_memory));  // no arena yet
  CHECK(model.init(nullptr, Module::arena_bytes) == code(ErrorCode::out_of_memory));
  CHECK(model.init(memory, Module::arena_bytes - 1) == code(ErrorCode::out_of_memory));
  CHECK(model.init(memory + 1, Module::arena_bytes) == code(ErrorCode::invalid_argument));
  REQUIRE(model.init(memory, Module::arena_bytes) == 0);
  CHECK(run(nullptr) == code(ErrorCode::invalid_argument));
  CHECK(run(x.data()) == 0);
  CHECK(y == Four{0.5f, 1, 0.25f, 0.5f});
  CHECK(run(x.data()) == 0);
  CHECK(y != Four{0.5f, 1, 0.25f, 0.5f});
  const Four zero{-3, -4, -5, -8};
  CHECK(run(zero.data()) == code(ErrorCode::out_of_range, 1));
  CHECK(model.init(memory, Module::arena_bytes) == 0);
  CHECK(run(x.data()) == 0);
  CHECK(y == Four{0.5f, 1, 0.25f, 0.5f});  // from the state's initial value again
}

TEST_CASE("sizes come with the call") {
  using Sized = static_module<one_size, external_arena, calculator>;
  CHECK(Sized::name == "one_size");
  static constinit c_model<Sized> sized;
  static static_arena<Sized::arena_bytes> arena;
  REQUIRE(sized.init(arena.bytes.data(), arena.bytes.size()) == 0);
  const Four x{0, 1, 2, 3};
  Four y{};
  const auto run = [&](std::int64_t n) {
    return sized.call<one_size>(with_dims(n), std::span<const float, 4>(x), std::span<float, 4>(y));
  };
  CHECK(run(4) == 0);
  CHECK(y == Four{1, 1, 7, 3});
  CHECK(run(5) == code(ErrorCode::invalid_shape));
}
