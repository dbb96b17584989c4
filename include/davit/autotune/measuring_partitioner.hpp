// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <utility>

#include "davit/autotune/measure_costs.hpp"

namespace davit {

/// Measures the costs that its table lacks, then chooses as an AutotunePartitioner does.
///
/// The table must outlive the partitioner. To get the same program again, lower with an AutotunePartitioner and that
/// table.
template <class List, class Clock = std::chrono::steady_clock>
class MeasuringPartitioner {
 public:
  using Backends = List;

  explicit MeasuringPartitioner(CostTable& table, AutotuneOptions options = {}, TimingOptions timing = {})
      : table_(&table), options_(std::move(options)), timing_(timing) {}

  [[nodiscard]] const std::vector<std::uint32_t>& preference() const noexcept { return options_.order; }
  [[nodiscard]] Result<Partitioning<List>> partition(const Method& method) const {
    if (Result<void> measured = measure_costs<List, Clock>(method, *table_, options_, timing_); !measured)
      return error_of(std::move(measured));
    return AutotunePartitioner<List>(*table_, options_).partition(method);
  }

 private:
  CostTable* table_;
  AutotuneOptions options_;
  TimingOptions timing_;
};

}  // namespace davit
