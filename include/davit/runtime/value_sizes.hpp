// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "davit/core/evalue.hpp"
#include "davit/program/graph.hpp"
#include "davit/program/symbols.hpp"

namespace davit {

/// Values of a program known before it runs: contiguous tensors with sizes but no data, and symbolic ints.
class ValueSizes {
 public:
  /// `dims` stores sizes and strides, and must outlive the views that value() returns. O(values).
  ValueSizes(GraphModuleView graph, const SymbolValues& symbols, std::vector<std::int64_t>& dims)
      : graph_(graph), symbols_(symbols), dims_(dims), first_(graph.values.size(), no_id) {
    dims_.clear();
    std::vector<std::int64_t> sizes;
    for (ValueId v = 0; v < graph.values.size(); ++v) {
      const Value& value = graph.values[v];
      if (value.kind != ValueKind::tensor || value.sizes.count > max_rank || size_of(value.dtype) == 0) continue;
      if (!find_sizes(value, sizes)) continue;
      first_[v] = static_cast<std::uint32_t>(dims_.size());
      dims_.insert(dims_.end(), sizes.begin(), sizes.end());
      dims_.resize(dims_.size() + sizes.size());
      contiguous_strides(sizes, std::span(dims_).last(sizes.size()));
    }
  }

  /// Returns a tensor without data, an int, or none if the sizes are unknown.
  [[nodiscard]] EValue value(ValueId v) const noexcept {
    const Value& value = graph_.values[v];
    if (first_[v] != no_id) {
      const std::int64_t* sizes = dims_.data() + first_[v];
      return EValue(TensorView{nullptr, sizes, sizes + value.sizes.count, static_cast<std::uint8_t>(value.sizes.count),
                               value.dtype});
    }
    if (value.kind != ValueKind::sym_int) return {};
    const std::optional<std::int64_t> number = value.expr == no_id ? std::nullopt : symbols_.value(value.expr);
    return number ? EValue(*number) : EValue();
  }

 private:
  [[nodiscard]] bool find_sizes(const Value& value, std::vector<std::int64_t>& sizes) const {
    sizes.clear();
    for (const Dim& dim : graph_.dims_of(value.sizes)) {
      const std::optional<std::int64_t> size = symbols_.value(dim);
      if (!size) return false;
      sizes.push_back(*size);
    }
    return checked_numel(sizes) >= 0;
  }

  GraphModuleView graph_;
  const SymbolValues& symbols_;
  std::vector<std::int64_t>& dims_;
  std::vector<std::uint32_t> first_;
};

}  // namespace davit
