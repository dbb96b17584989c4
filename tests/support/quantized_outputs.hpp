// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "davit/backends/portable.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#include "davit/testing/detail/alternating_partitioner.hpp"
#include "davit/testing/detail/renamed_backend.hpp"

namespace support {

/// Outputs of a run; bytes become numbers.
using Outputs = std::vector<std::vector<float>>;
template <class Partitioner>
[[nodiscard]] Outputs outputs_of(const davit::ExportedProgram& program, const Partitioner& partitioner,
                                 const std::vector<davit::EValue>& inputs) {
  using davit::ScalarType;
  const auto lowered = davit::to_backend(program, partitioner);
  REQUIRE_MESSAGE(lowered, (lowered ? std::string() : to_string(lowered.error())));
  auto session = davit::Session::make(*lowered);
  REQUIRE(session);
  const auto made = session->run(0, inputs);
  REQUIRE_MESSAGE(made, (made ? std::string() : to_string(made.error())));
  Outputs out;
  for (const davit::EValue& v : made->all()) {
    const davit::TensorView t = v.tensor();
    REQUIRE(t.is_contiguous());
    std::vector<float>& list = out.emplace_back();
    for (std::int64_t i = 0; i < t.numel(); ++i)
      list.push_back(t.dtype == ScalarType::float32 ? t.as<float>()[i]
                     : t.dtype == ScalarType::int8  ? t.as<std::int8_t>()[i]
                                                    : t.as<std::uint8_t>()[i]);
  }
  return out;
}
/// The outputs of portable's kernels with alternating partitions: strictly one operator after the other.
[[nodiscard]] inline Outputs outputs_node_by_node(const davit::ExportedProgram& program,
                                                  const std::vector<davit::EValue>& inputs) {
  using Second = davit::testing::renamed_backend<davit::portable, "second">;
  return outputs_of(program, davit::testing::AlternatingPartitioner<davit::BackendList<davit::portable, Second>>(),
                    inputs);
}
/// One byte in a hundred may be off by `most` steps, where rounding decides.
inline void check_bytes(const Outputs& made, const Outputs& expected, float most = 1) {
  REQUIRE(made.size() == expected.size());
  for (std::size_t o = 0; o < made.size(); ++o) {
    REQUIRE(made[o].size() == expected[o].size());
    std::size_t off = 0;
    for (std::size_t i = 0; i < made[o].size(); ++i) {
      CHECK(std::fabs(made[o][i] - expected[o][i]) <= most);
      off += made[o][i] != expected[o][i] ? 1 : 0;
    }
    CHECK(off * 100 <= made[o].size() + 100);
  }
}

}  // namespace support
