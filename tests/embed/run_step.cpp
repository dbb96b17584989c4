// SPDX-License-Identifier: MIT
#include "davit/embed/run_step.hpp"

#include <doctest/doctest.h>

#include <type_traits>

#include "support/static_toy.hpp"

namespace {

using namespace davit;
using namespace static_toy;

static_assert(std::is_same_v<detail::kernel_at<calculator::Kernels, 0>, add_kernel>);
static_assert(std::is_same_v<detail::kernel_at<calculator::Kernels, 4>, scale_kernel>);
static_assert(std::is_void_v<detail::run_result<add_kernel, float*, float*, float*>>);
static_assert(std::is_same_v<detail::run_result<reciprocal_kernel, float*, float*>, ErrorCode>);

using Plan = planned<residual, calculator>;
using State = StaticState<Plan::sizes.state>;
using Memory = RunMemory<State, 2>;
using Code = detail::StepCode<residual, Plan, std::tuple<calculator>, std::tuple<for_size>, Memory>;

}  // namespace

TEST_CASE("step code runs on memory of another owner") {
  alignas(16) std::array<std::byte, Plan::sizes.arena_bytes> arena{};
  State state;
  const std::array<float, 4> x{0, 1, 2, 3};
  std::array<float, 4> y{};
  Memory memory{arena.data(), &state, {x.data(), y.data()}};
  Fault fault;
  CHECK(Code::run(memory, fault));
  CHECK(y == std::array<float, 4>{1, 1, 7, 3});
}

TEST_CASE("a failed step is reported with its node") {
  Fault fault;
  CHECK(detail::passed(ErrorCode::ok, fault, 3));
  CHECK_FALSE(detail::passed(ErrorCode::out_of_range, fault, 3));
  CHECK(fault == Fault(ErrorCode::out_of_range, 3));
  CHECK(Fault::from_bits(fault.bits()) == fault);
}
