// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/element_bits.hpp"
#include "davit/backends/portable/run_time/movement/views.hpp"
#include "davit/backends/portable/run_time/result_type.hpp"
#include "davit/kernels/walk_in_parallel.hpp"

namespace davit::portable_kernels {

/// An index tensor along a dimension of a tensor, as gather and the scatters take it: a tensor of rank 0 counts as a
/// vector of one element; the index tensor has the tensor's rank, and only along the dimension it may be larger.
/// Source: at::native::gather_shape_check and scatter_shape_check.
class IndexAlong {
 public:
  /// Reads the dimension from argument 1 and the index tensor from argument 2. Errors: out_of_range, invalid_dtype,
  /// invalid_shape. An index tensor without elements fits any tensor.
  [[nodiscard]] ErrorCode read(KernelCall& call, const TensorView& self) {
    std::int64_t dim = call.integer(1);
    if (!wrap_dim(dim, self.rank)) return detail::bad_dim(call);
    index_ = call.tensor(2);
    const std::int64_t count = checked_numel(index_);
    if (count == 0) return ErrorCode::ok;
    if (count < 0) return call.refuse(ErrorCode::out_of_memory, "the index tensor is too large");
    if (index_.dtype != ScalarType::int64)
      return call.refuse(ErrorCode::invalid_dtype, "the index tensor must be int64");
    sizes_ = dimensioned(index_.sizes());
    const Sizes limits = dimensioned(self.sizes());
    if (sizes_.rank != limits.rank) return call.refuse(ErrorCode::invalid_shape, "tensor and index differ in rank");
    dim_ = static_cast<std::size_t>(dim);
    for (std::size_t d = 0; d < sizes_.rank; ++d)
      if (d != dim_ && sizes_[d] > limits[d])
        return call.refuse(ErrorCode::invalid_shape, "the index tensor is larger than the tensor in another dimension");
    limit_ = limits[dim_];
    empty_ = false;
    return ErrorCode::ok;
  }
  /// Checks that the source has an element for each index.
  [[nodiscard]] ErrorCode check_source(KernelCall& call, const TensorView& source) const {
    if (empty_) return ErrorCode::ok;
    const Sizes limits = dimensioned(source.sizes());
    if (limits.rank != sizes_.rank) return call.refuse(ErrorCode::invalid_shape, "source and index differ in rank");
    for (std::size_t d = 0; d < sizes_.rank; ++d)
      if (sizes_[d] > limits[d])
        return call.refuse(ErrorCode::invalid_shape, "the source is smaller than the index tensor");
    return ErrorCode::ok;
  }
  /// Calls f(offset in `self`, offset in `other`) for each index in row-major order; `other` is at the index's own
  /// position. Errors: out_of_range, after a visit of all valid indices.
  template <class F>
  [[nodiscard]] ErrorCode for_each(KernelCall& call, const TensorView& self, const TensorView& other, F&& f) const {
    if (empty_) return ErrorCode::ok;
    Sizes own = dimensioned(self.strides());
    const std::int64_t stride = own[dim_];
    own[dim_] = 0;
    const auto* index = index_.as<std::int64_t>();
    bool inside = true;
    for_each_index<3>(sizes_, {dimensioned(index_.strides()), own, dimensioned(other.strides())},
                      [&](std::int64_t i, std::int64_t at, std::int64_t k) {
                        if (index[i] >= 0 && index[i] < limit_) {
                          f(at + index[i] * stride, k);
                        } else {
                          inside = false;
                        }
                      });
    return inside ? ErrorCode::ok : call.refuse(ErrorCode::out_of_range, "an index is outside the dimension");
  }
  /// Copies the indexed elements of `self` to `other` (`gathers`), or back. Errors: as for_each.
  [[nodiscard]] ErrorCode move(KernelCall& call, const TensorView& self, const TensorView& other, bool gathers) const {
    if (!kernels::is_movable(self.dtype)) return ErrorCode::invalid_dtype;
    if (empty_) return ErrorCode::ok;
    const std::size_t element = size_of(self.dtype);
    Sizes own = dimensioned(self.strides());
    const std::int64_t stride = own[dim_] * static_cast<std::int64_t>(element);
    own[dim_] = 0;
    Walk walk(sizes_);
    walk.add(dimensioned(index_.strides()), sizeof(std::int64_t))
        .add(own, element)
        .add(dimensioned(other.strides()), element);
    walk.collapse();
    std::atomic<bool> inside = true;
    const auto move_part = [&](const kernels::WalkPart& part) {
      part.walk.for_each_row([&](const auto& row_at) {
        std::array<std::byte*, 3> at{index_.as<std::byte>(), self.as<std::byte>(), other.as<std::byte>()};
        for (std::size_t k = 0; k < 3; ++k) at[k] += part.at[k] + row_at[k];
        const kernels::IndexedRow row{at[0], walk.strides[0][0], limit_, stride, walk.strides[1][0]};
        if (!kernels::move_indexed(element, gathers, row, at[1], at[2], walk.strides[2][0], part.walk.sizes[0]))
          inside = false;
      });
    };
    if (walk.count != 0) {
      if (gathers)
        kernels::walk_in_parallel(walk, 1, 8, [&](std::size_t, const kernels::WalkPart& part) { move_part(part); });
      else  // of two values for one element the later one stays
        move_part({walk, {}, 0});
    }
    return inside ? ErrorCode::ok : call.refuse(ErrorCode::out_of_range, "an index is outside the dimension");
  }
  [[nodiscard]] const TensorView& index() const noexcept { return index_; }

 private:
  [[nodiscard]] static Sizes dimensioned(std::span<const std::int64_t> of) noexcept {
    Sizes all(of);
    if (all.rank == 0) (void)all.push(1);
    return all;
  }

  TensorView index_;
  Sizes sizes_;
  std::size_t dim_ = 0;
  std::int64_t limit_ = 0;
  bool empty_ = true;
};

namespace detail {

[[nodiscard]] inline ErrorCode gather(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  IndexAlong along;
  if (const ErrorCode code = along.read(call, x); code != ErrorCode::ok) return code;
  if (const ErrorCode code = call.make(0, x.dtype, along.index().sizes()); code != ErrorCode::ok) return code;
  return along.move(call, x, call.output(0), true);
}

/// A copy of argument 0 with elements of `source` at the indices; of two values for one element the later one stays.
[[nodiscard]] inline ErrorCode scatter_from(KernelCall& call, const IndexAlong& along, const TensorView& source) {
  if (const ErrorCode code = copy_out(call, 0, call.tensor(0)); code != ErrorCode::ok) return code;
  return along.move(call, call.output(0), source, false);
}
[[nodiscard]] inline ErrorCode scatter_src(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  const TensorView& source = call.tensor(3);
  IndexAlong along;
  if (const ErrorCode code = along.read(call, x); code != ErrorCode::ok) return code;
  if (source.dtype != x.dtype) return call.refuse(ErrorCode::invalid_dtype, "the source must have the tensor's dtype");
  if (const ErrorCode code = along.check_source(call, source); code != ErrorCode::ok) return code;
  return scatter_from(call, along, source);
}
[[nodiscard]] inline ErrorCode scatter_value(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  if (!call.arg(3).is_number()) return call.refuse(ErrorCode::invalid_argument, "the value must be a number");
  IndexAlong along;
  if (const ErrorCode code = along.read(call, x); code != ErrorCode::ok) return code;
  const Operand number(call.arg(3));
  ScalarTensor value;
  if (const ErrorCode code = value.set(x.dtype, number.view()); code != ErrorCode::ok) return code;
  return scatter_from(call, along, value.view(along.index().sizes()));
}

}  // namespace detail

inline constexpr auto scatter_ops = std::to_array<OpRow>({
    {"aten.gather.default", detail::gather},
    {"aten.scatter.src", detail::scatter_src},
    {"aten.scatter.value", detail::scatter_value},
});

}  // namespace davit::portable_kernels
