// SPDX-License-Identifier: MIT
#pragma once

#include "davit/core/tensor.hpp"

namespace davit {

Tensor Tensor::zeros(ScalarType dtype, std::span<const std::int64_t> sizes) {
  Tensor tensor{.dtype = dtype, .sizes = {sizes.begin(), sizes.end()}, .strides = {}, .storage = {}};
  tensor.strides.resize(sizes.size());
  contiguous_strides(tensor.sizes, tensor.strides);
  if (const std::int64_t count = checked_numel(sizes); count >= 0)
    tensor.storage = SharedBytes::allocate(static_cast<std::size_t>(count) * size_of(dtype));
  return tensor;
}

Tensor keep_tensor(const TensorView& view, const SharedBytes& storage) {
  Tensor tensor{.dtype = view.dtype,
                .sizes = {view.sizes().begin(), view.sizes().end()},
                .strides = {view.strides().begin(), view.strides().end()},
                .storage = {}};
  const std::int64_t extent = storage_extent(tensor.sizes, tensor.strides, 0, size_of(view.dtype));
  if (extent <= 0) return tensor;
  if (storage.holds(view.data)) {
    tensor.storage = storage;
    tensor.storage_offset =
        (static_cast<const std::byte*>(view.data) - storage.data()) / static_cast<std::ptrdiff_t>(size_of(view.dtype));
  } else {
    tensor.storage = SharedBytes::copy_of({static_cast<const std::byte*>(view.data), static_cast<std::size_t>(extent)});
  }
  return tensor;
}

namespace detail {

Result<void> check_elements(const TensorView& tensor, ScalarType dtype, std::string_view what) {
  if (tensor.dtype != dtype)
    return std::unexpected(
        Error{.code = ErrorCode::invalid_dtype,
              .stage = Stage::execute,
              .what = concat(what, " has elements of ", name_of(tensor.dtype), ", not of ", name_of(dtype)),
              .fix = "ask for the type that it has"});
  if (!tensor.is_contiguous())
    return std::unexpected(Error{.code = ErrorCode::invalid_shape,
                                 .stage = Stage::execute,
                                 .what = concat("the elements of ", what, " do not lie side by side"),
                                 .fix = "clone it: a clone is contiguous; or walk its strides"});
  return {};
}

Result<Tensor> tensor_over(SharedBytes storage, ScalarType dtype, std::size_t count,
                           std::span<const std::int64_t> sizes) {
  const std::int64_t product = checked_numel(sizes);
  Name text;
  for (const std::int64_t size : sizes) text = concat(text, text.empty() ? "" : ", ", size);
  if (sizes.size() > max_rank || product < 0 || static_cast<std::size_t>(product) != count)
    return std::unexpected(
        Error{.code = ErrorCode::invalid_shape,
              .stage = Stage::execute,
              .what = concat("a tensor of sizes [", text, "] cannot be made of ", count, " elements"),
              .fix = "pass as many elements as the sizes multiply to"});
  Tensor tensor{.dtype = dtype, .sizes = {sizes.begin(), sizes.end()}, .strides = {}, .storage = std::move(storage)};
  tensor.strides.resize(sizes.size());
  contiguous_strides(tensor.sizes, tensor.strides);
  return tensor;
}

}  // namespace detail

}  // namespace davit
