// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/dispatch.hpp"
#include "davit/backends/portable/run_time/element_bits.hpp"
#include "davit/backends/portable/run_time/movement/index_plan.hpp"

namespace davit::portable_kernels {

/// Reads a list of index tensors: int64 and int32 select single positions of a dimension (negative ones count from its
/// end), bool and uint8 mask as many dimensions as they have, and None keeps a dimension.
class IndexPlanner {
 public:
  IndexPlanner(KernelCall& call, const TensorView& self) noexcept : call_(&call), self_(self) {}

  /// Errors: invalid_dtype, invalid_shape, out_of_range, out_of_memory. Takes the call's temporary memory. O(elements
  /// of the index tensors and of their broadcast shape).
  [[nodiscard]] ErrorCode plan(std::span<const EValue> indices, IndexPlan& out) {
    if (const ErrorCode code = read(indices); code != ErrorCode::ok) return code;
    if (const ErrorCode code = shape(out); code != ErrorCode::ok) return code;
    const auto empty = [](const Sizes& sizes) { return std::ranges::count(sizes.span(), 0) != 0; };
    if (!empty(out.result)) return locate(out);
    for (std::size_t i = 0; i < used_ && !empty(out.picked); ++i)
      if (!entries_[i].is_mask && self_.size(entries_[i].dim) == 0) return outside();
    return ErrorCode::ok;
  }

 private:
  struct Entry {
    TensorView index{};
    std::size_t dim = 0;   ///< its first indexed dimension
    std::size_t dims = 1;  ///< their number
    std::int64_t count = 0;
    bool is_mask = false;
  };

  [[nodiscard]] ErrorCode read(std::span<const EValue> indices) {
    std::size_t dim = 0;
    for (const EValue& v : indices) {
      Entry entry{.dim = dim};
      if (v.is_tensor()) {
        entry.index = v.tensor();
        if (const ErrorCode code = describe(entry); code != ErrorCode::ok) return code;
        entries_[used_++] = entry;
      } else if (!v.is_none()) {
        return call_->refuse(ErrorCode::invalid_argument, "an index must be a tensor or None");
      } else if (dim == self_.rank) {
        return too_many();
      }
      dim += entry.dims;
    }
    return ErrorCode::ok;
  }

  /// Reads the kind of an index, and checks it against the tensor.
  [[nodiscard]] ErrorCode describe(Entry& entry) {
    const ScalarType type = entry.index.dtype;
    entry.is_mask = type == ScalarType::bool_ || type == ScalarType::uint8;
    if (!entry.is_mask) {
      if (type != ScalarType::int64 && type != ScalarType::int32)
        return call_->refuse(ErrorCode::invalid_dtype, "index tensors must be int64, int32, bool or uint8");
      return entry.dim < self_.rank ? ErrorCode::ok : too_many();
    }
    entry.dims = entry.index.rank;
    if (entry.dims == 0) return call_->refuse(ErrorCode::invalid_shape, "a mask must have at least one dimension");
    if (entry.dims > self_.rank - entry.dim) return too_many();
    if (!std::ranges::equal(entry.index.sizes(), self_.sizes().subspan(entry.dim, entry.dims)))
      return call_->refuse(ErrorCode::invalid_shape, "a mask must have the sizes of the dimensions it indexes");
    if (checked_numel(entry.index) < 0) return no_memory();
    const auto* mask = entry.index.as<ElementBits<std::uint8_t>>();
    for_each_index<1>(entry.index.sizes(), {strides_of(entry.index)},
                      [&](std::int64_t i) { entry.count += mask[i].bits != 0 ? 1 : 0; });
    return ErrorCode::ok;
  }

  [[nodiscard]] ErrorCode shape(IndexPlan& out) {
    const Entry& first = entries_[0];
    std::size_t end = first.dim;
    bool adjacent = true;
    std::uint32_t indexed = 0;
    for (std::size_t i = 0; i < used_; ++i) {
      const Entry& entry = entries_[i];
      const Sizes sizes = entry.is_mask ? Sizes({&entry.count, 1}) : Sizes(entry.index.sizes());
      if (!broadcast(out.picked, sizes, out.picked))
        return call_->refuse(ErrorCode::invalid_shape, "the index tensors do not broadcast together");
      adjacent = adjacent && entry.dim == end;
      end = entry.dim + entry.dims;
      for (std::size_t d = entry.dim; d < end; ++d) indexed |= 1u << d;
    }
    for (std::size_t d = 0; d < self_.rank; ++d) {
      if ((indexed >> d & 1u) != 0) continue;
      const bool in_front = adjacent && d < first.dim;
      (void)(in_front ? out.before : out.after).push(self_.size(d));
      (void)(in_front ? out.before_strides : out.after_strides).push(self_.stride(d));
    }
    for (const Sizes* part : {&out.before, &out.picked, &out.after})
      for (const std::int64_t size : part->span())
        if (!out.result.push(size))
          return call_->refuse(ErrorCode::invalid_shape, "the result has too many dimensions");
    out.one_mask = used_ == 1 && first.is_mask;
    return ErrorCode::ok;
  }

  /// Computes the offset of each position.
  [[nodiscard]] ErrorCode locate(IndexPlan& out) {
    const std::int64_t count = davit::checked_numel(out.picked, max_numel);
    if (count < 0) return no_memory();
    std::int64_t most = 0;
    for (std::size_t i = 0; i < used_; ++i) most = std::max(most, entries_[i].count);
    auto* memory = call_->temporary<std::int64_t>(static_cast<std::size_t>(count) + static_cast<std::size_t>(most));
    if (memory == nullptr) return no_memory();
    std::fill_n(memory, count, 0);
    bool inside = true;
    for (std::size_t i = 0; i < used_; ++i) {
      const Entry& entry = entries_[i];
      if (entry.is_mask) {
        add_mask(entry, out.picked, memory, memory + count);
      } else if (entry.index.dtype == ScalarType::int64) {
        inside = add_index<std::int64_t>(entry, out.picked, memory) && inside;
      } else {
        inside = add_index<std::int32_t>(entry, out.picked, memory) && inside;
      }
    }
    out.offsets = memory;
    return inside ? ErrorCode::ok : outside();
  }

  template <class T>
  [[nodiscard]] bool add_index(const Entry& entry, const Sizes& picked, std::int64_t* offsets) const noexcept {
    const std::int64_t size = self_.size(entry.dim);
    const std::int64_t stride = self_.stride(entry.dim);
    const T* index = entry.index.as<T>();
    bool inside = true;
    for_each_index<1>(picked, {broadcast_strides(entry.index, picked)}, [&](std::int64_t i) {
      const std::int64_t at = index[i] < 0 ? index[i] + size : index[i];
      const bool fits = at >= 0 && at < size;
      inside = inside && fits;
      *offsets++ += fits ? at * stride : 0;
    });
    return inside;
  }

  void add_mask(const Entry& entry, const Sizes& picked, std::int64_t* offsets, std::int64_t* found) const noexcept {
    const auto* mask = entry.index.as<ElementBits<std::uint8_t>>();
    std::int64_t* end = found;
    for_each_index<2>(entry.index.sizes(),
                      {strides_of(entry.index), Sizes(self_.strides().subspan(entry.dim, entry.dims))},
                      [&](std::int64_t i, std::int64_t at) {
                        if (mask[i].bits != 0) *end++ = at;
                      });
    const std::int64_t stride = 1;
    const TensorView all{found, &entry.count, &stride, 1, ScalarType::int64};
    for_each_index<1>(picked, {broadcast_strides(all, picked)}, [&](std::int64_t i) { *offsets++ += found[i]; });
  }

  ErrorCode too_many() const {
    return call_->refuse(ErrorCode::invalid_shape, "more indices than the tensor has dimensions");
  }
  ErrorCode outside() const { return call_->refuse(ErrorCode::out_of_range, "an index is outside the dimension"); }
  ErrorCode no_memory() const { return call_->refuse(ErrorCode::out_of_memory, "no memory for the positions"); }

  KernelCall* call_;
  TensorView self_;
  std::array<Entry, max_rank> entries_{};
  std::size_t used_ = 0;
};

}  // namespace davit::portable_kernels
