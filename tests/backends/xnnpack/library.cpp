// SPDX-License-Identifier: MIT
#include "davit/backends/xnnpack/library.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "davit/backends/xnnpack/create_operator.hpp"

using namespace davit;
namespace library = xnnpack_parts::library;

static_assert(library::is_known);

namespace {

std::vector<int> calls;  ///< the arguments of calls of the functions below

/// A pooling's functions in a version without reshape.
struct Early {
  static xnn_status create(int window, std::size_t channels, std::size_t, std::size_t, float, float, std::uint32_t,
                           xnn_operator_t*) {
    calls = {window, static_cast<int>(channels)};
    return xnn_status_success;
  }
  static xnn_status setup(xnn_operator_t, std::size_t batch, const float*, float*, pthreadpool_t) {
    calls = {static_cast<int>(batch)};
    return xnn_status_success;
  }
};
/// A pooling's functions in a version with reshape, whose operators request `wanted` bytes.
struct Late {
  static inline std::size_t wanted = 0, alignment = 64;
  static xnn_status create(int window, float, float, std::uint32_t, xnn_operator_t*) {
    calls = {window};
    return xnn_status_success;
  }
  static xnn_status reshape(xnn_operator_t, std::size_t batch, std::size_t channels, std::size_t, std::size_t,
                            std::size_t* bytes, std::size_t* aligned, std::size_t*, std::size_t*, pthreadpool_t) {
    calls.push_back(static_cast<int>(batch));
    calls.push_back(static_cast<int>(channels));
    *bytes = wanted;
    *aligned = alignment;
    return xnn_status_success;
  }
  static xnn_status setup(xnn_operator_t, void* work, const float*, float*) {
    calls.push_back(work == nullptr ? 0 : 1);
    return xnn_status_success;
  }
};
/// The functions of a version with caches.
struct Cached {
  static xnn_status create(int size, std::uint32_t, void* code, void* weights, xnn_operator_t*) {
    calls = {size, code == nullptr && weights == nullptr ? 1 : 0};
    return xnn_status_success;
  }
};

}  // namespace

TEST_CASE("functions are called with the arguments of their version") {
  constexpr library::Pixels pixels{5, 5, 5};
  constexpr std::uint32_t no_flags = 0;
  const float* in = nullptr;
  float* out = nullptr;
  Scratch work;
  CHECK(library::create_pool<Early>(nullptr, pixels, 0.0f, 1.0f, 3) == xnn_status_success);
  CHECK(calls == std::vector{3, 5});
  CHECK(library::set_up<Early>(nullptr, false, pixels, work, nullptr, in, out, std::size_t{7}) == xnn_status_success);
  CHECK(calls == std::vector{7});
  CHECK(library::create_pool<Late>(nullptr, pixels, 0.0f, 1.0f, 3) == xnn_status_success);
  CHECK(calls == std::vector{3});
  CHECK(library::create<Cached>(nullptr, 4, no_flags) == xnn_status_success);
  CHECK(calls == std::vector{4, 1});
}

TEST_CASE("sizes are set once, and working memory is where the operator requests it") {
  constexpr library::Pixels pixels{5, 5, 5};
  const float* in = nullptr;
  float* out = nullptr;
  Scratch work;
  const auto set_up = [&](bool resized) {
    calls.clear();
    return library::set_up<Late>(nullptr, resized, pixels, work, nullptr, in, out, std::size_t{7});
  };
  Late::wanted = 0;
  CHECK(set_up(true) == xnn_status_success);
  CHECK(calls == std::vector{7, 5, 0});
  Late::wanted = 100;
  CHECK(set_up(true) == xnn_status_success);
  CHECK(calls == std::vector{7, 5, 1});
  CHECK(work.span().size() >= 100);
  CHECK(set_up(false) == xnn_status_success);
  CHECK(calls == std::vector{1});
  Late::alignment = 128;
  CHECK(set_up(true) == xnn_status_unsupported_parameter);
  Late::alignment = 64;
}

TEST_CASE("large weights are cut into whole numbers of the columns that a kernel computes at once") {
  using namespace xnnpack_parts;
  constexpr std::int64_t in = 4096, out = 160;
  Plan plan;
  for (const std::int64_t size : {std::int64_t{64}, in, std::int64_t{64}, out}) plan.dims.push_back({.value = size});
  plan.slots = {{.buffer = 0, .dims = {0, 2}, .order = DimOrder::row_major(2)},
                {.buffer = 1, .dims = {2, 2}, .order = DimOrder::row_major(2)}};
  plan.weights.push_back({.kernel = Tensor::zeros(ScalarType::float32, std::array{out, in})});
  const Step step{.op = Op::fully_connected, .in = 0, .out = 1, .weights = 0};
  REQUIRE(xnn_initialize(nullptr) == xnn_status_success);
  std::vector<OperatorPart> parts;
  REQUIRE(create_operators(plan, step, parts) == xnn_status_success);
  CHECK(parts.size() == 5);
  for (std::size_t i = 0; i < parts.size(); ++i) CHECK(parts[i].offset == i * 32 * sizeof(float));
}
