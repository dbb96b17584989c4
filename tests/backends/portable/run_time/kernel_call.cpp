// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/kernel_call.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

using namespace davit;
using portable_kernels::KernelCall;
using portable_kernels::KernelMemory;
using portable_kernels::OutputPlace;

TEST_CASE("an output that does not fit its place gets a block, unless the place is a destination") {
  std::array<std::int64_t, 2 * max_rank> dims{};
  std::array<std::byte, 12> bytes{};
  const auto make = [&](KernelMemory& memory, OutputPlace place) {
    std::vector<EValue> made(1);
    KernelCall call({}, made, std::span(&place, 1), memory);
    const std::int64_t three[] = {3};
    const ErrorCode code = call.make(0, ScalarType::float32, three);
    return std::pair(code, code == ErrorCode::ok && call.output(0).data == bytes.data());
  };
  const OutputPlace none{dims.data(), dims.data() + max_rank, max_rank, nullptr, 0};
  const OutputPlace place{dims.data(), dims.data() + max_rank, max_rank, bytes.data(), bytes.size()};
  KernelMemory memory;
  CHECK(make(memory, none) == std::pair(ErrorCode::ok, false));
  CHECK(make(memory, place) == std::pair(ErrorCode::ok, true));
  memory.set_limit(8);
  CHECK(make(memory, none) == std::pair(ErrorCode::out_of_memory, false));
  OutputPlace destination = place;
  destination.is_destination = true;
  CHECK(make(memory, destination) == std::pair(ErrorCode::ok, true));
  destination.capacity = 8;
  CHECK(make(memory, destination) == std::pair(ErrorCode::invalid_shape, false));
}
