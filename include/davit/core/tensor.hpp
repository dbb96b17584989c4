// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "davit/core/error.hpp"
#include "davit/core/shared_bytes.hpp"
#include "davit/core/tensor_view.hpp"

namespace davit {

namespace detail {
/// Checks that a tensor can be seen as a span of elements of `dtype`. Errors: invalid_dtype; invalid_shape if it is not
/// contiguous; `what` names the tensor.
[[nodiscard]] Result<void> check_elements(const TensorView& tensor, ScalarType dtype, std::string_view what);
}  // namespace detail

/// A tensor that shares ownership of its storage: a mapped file, static data, or a heap block.
struct Tensor {
  ScalarType dtype = ScalarType::undefined;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  std::int64_t storage_offset = 0;  ///< in elements
  SharedBytes storage;
  bool requires_grad = false;

  /// Returns a view; its data may be null for a tensor without elements. The tensor must outlive it.
  [[nodiscard]] TensorView view() const noexcept {
    std::byte* data = storage.writable();
    if (data != nullptr) data += static_cast<std::size_t>(storage_offset) * size_of(dtype);
    return {data,           sizes.data(),
            strides.data(), static_cast<std::uint8_t>(sizes.size()),
            dtype,          static_cast<std::uint32_t>(storage_offset)};
  }
  [[nodiscard]] constexpr std::int64_t numel() const noexcept {
    std::int64_t count = 1;
    for (const std::int64_t size : sizes) count *= size;
    return count;
  }

  /// The elements, in row-major order. Errors: invalid_dtype if the dtype is not T's; invalid_shape if the tensor is
  /// not contiguous.
  template <class T>
  [[nodiscard]] Result<std::span<T>> as() const {
    static_assert(TensorElement<T>, "davit: no tensor has elements of this type");
    if (Result<void> checked = detail::check_elements(view(), scalar_type_of<T>, "the tensor"); !checked)
      return error_of(std::move(checked));
    return std::span<T>(view().template as<T>(), static_cast<std::size_t>(numel()));
  }

  /// Returns a zeroed contiguous tensor on the heap. Its storage is empty if there is not enough memory or the size
  /// overflows (see checked_numel).
  [[nodiscard]] static Tensor zeros(ScalarType dtype, std::span<const std::int64_t> sizes);
};

/// tensor.as<T>(), for templates: `as<float>(x)` needs no `template` before it. Works for an Output too.
template <class T>
[[nodiscard]] Result<std::span<T>> as(const Tensor& tensor) {
  return tensor.as<T>();
}

namespace detail {

/// Returns a contiguous tensor over `count` elements in `storage`. Errors: invalid_shape if the product of the sizes is
/// not `count`.
[[nodiscard]] Result<Tensor> tensor_over(SharedBytes storage, ScalarType dtype, std::size_t count,
                                         std::span<const std::int64_t> sizes);

/// A size in a list of sizes, from any integer type; a value that exceeds int64 becomes INT64_MAX, which no tensor can
/// have.
struct Size {
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  constexpr Size(T size) noexcept
      : value(std::in_range<std::int64_t>(size) ? static_cast<std::int64_t>(size) : INT64_MAX) {}
  std::int64_t value;
};
/// Converts sizes of any integer type to int64_t.
template <std::ranges::input_range Sizes>
[[nodiscard]] std::vector<std::int64_t> sizes_of(const Sizes& from) {
  std::vector<std::int64_t> sizes;
  for (const auto& size : from) sizes.push_back(Size(size).value);
  return sizes;
}
template <>
[[nodiscard]] inline std::vector<std::int64_t> sizes_of(const std::initializer_list<Size>& from) {
  std::vector<std::int64_t> sizes;
  for (const Size size : from) sizes.push_back(size.value);
  return sizes;
}
/// A range of sizes of an integer type other than int64_t.
template <class Sizes>
concept OtherSizes =
    std::ranges::input_range<Sizes> && !std::convertible_to<const Sizes&, std::span<const std::int64_t>> &&
    requires(std::ranges::range_reference_t<Sizes> size) { Size(size); };

/// Storage owner that holds a vector.
template <class T>
struct OwnedVector : SharedBytes::Owner {
  explicit OwnedVector(std::vector<T> vector) noexcept : Owner(&OwnedVector::destroy), elements(std::move(vector)) {}
  static void destroy(Owner* self) noexcept { delete static_cast<OwnedVector*>(self); }
  std::vector<T> elements;
};

}  // namespace detail

/// Returns a contiguous tensor over the elements of a span, a vector or an array, which must outlive it; copies
/// nothing. Const elements are read only, unless a program mutates its inputs.
///
/// Errors: invalid_shape if the product of the sizes is not the number of elements. Source: torch::from_blob.
template <class Elements>
[[nodiscard]] Result<Tensor> tensor(Elements&& elements, std::span<const std::int64_t> sizes) {
  constexpr bool is_range = std::ranges::contiguous_range<Elements> && std::ranges::sized_range<Elements>;
  static_assert(is_range,
                "davit: tensor() takes elements that lie side by side and can be counted: a std::vector, a std::array, "
                "std::span(pointer, count)");
  if constexpr (is_range) {
    using Element = std::ranges::range_value_t<Elements>;
    static_assert(TensorElement<Element>, "davit: no tensor has elements of this type; see davit::scalar_type_of");
    static_assert(std::ranges::borrowed_range<Elements>,
                  "davit: tensor() views its elements, and these are a temporary that ends before the tensor; give "
                  "them a name, or "
                  "let davit::owned_tensor() keep them");
    if constexpr (TensorElement<Element>)
      return detail::tensor_over(
          SharedBytes(std::as_bytes(std::span(std::ranges::data(elements), std::ranges::size(elements)))),
          scalar_type_of<Element>, std::ranges::size(elements), sizes);
  }
}
/// As above, with sizes of any integer type: `tensor(v, {1, v.size()})`.
template <class Elements>
[[nodiscard]] Result<Tensor> tensor(Elements&& elements, std::initializer_list<detail::Size> sizes) {
  return tensor(std::forward<Elements>(elements), std::span<const std::int64_t>(detail::sizes_of(sizes)));
}
template <class Elements, detail::OtherSizes Sizes>
[[nodiscard]] Result<Tensor> tensor(Elements&& elements, const Sizes& sizes) {
  return tensor(std::forward<Elements>(elements), std::span<const std::int64_t>(detail::sizes_of(sizes)));
}

/// Returns a contiguous tensor that owns its elements; a vector that is moved in is not copied. Errors: as tensor().
/// Source: executorch::extension::make_tensor_ptr.
template <class T>
[[nodiscard]] Result<Tensor> owned_tensor(std::vector<T> elements, std::span<const std::int64_t> sizes) {
  static_assert(TensorElement<T> && !std::is_same_v<T, bool>,
                "davit: no tensor has elements of this type, or a vector does not hold them side by side (bool)");
  auto* const owner = new detail::OwnedVector<T>(std::move(elements));
  const std::span<const T> all(owner->elements);
  return detail::tensor_over(SharedBytes(std::as_bytes(all), owner), scalar_type_of<T>, all.size(), sizes);
}
template <class T>
[[nodiscard]] Result<Tensor> owned_tensor(std::vector<T> elements, std::initializer_list<detail::Size> sizes) {
  return owned_tensor(std::move(elements), std::span<const std::int64_t>(detail::sizes_of(sizes)));
}
template <class T, detail::OtherSizes Sizes>
[[nodiscard]] Result<Tensor> owned_tensor(std::vector<T> elements, const Sizes& sizes) {
  return owned_tensor(std::move(elements), std::span<const std::int64_t>(detail::sizes_of(sizes)));
}

/// Returns an owning tensor of the view: a part of `storage` if the view starts inside it, else a copy in the same
/// layout, without storage if there is no memory. O(1), or O(bytes between the view's first and last element).
[[nodiscard]] Tensor keep_tensor(const TensorView& view, const SharedBytes& storage = {});

/// Returns the number of bytes from the start of a storage to the end of the last element of a tensor of these sizes
/// and strides; -1 on overflow or for a negative size or stride.
[[nodiscard]] constexpr std::int64_t storage_extent(std::span<const std::int64_t> sizes,
                                                    std::span<const std::int64_t> strides, std::int64_t storage_offset,
                                                    std::size_t element_size) noexcept {
  constexpr std::int64_t limit = INT64_MAX / 64;
  if (storage_offset < 0 || storage_offset > limit) return -1;
  std::int64_t last = storage_offset;
  bool empty = false;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] < 0 || strides[d] < 0 || strides[d] > limit) return -1;
    if (sizes[d] == 0) empty = true;
    if (sizes[d] <= 1 || strides[d] == 0) continue;
    if (strides[d] > (limit - last) / (sizes[d] - 1)) return -1;
    last += strides[d] * (sizes[d] - 1);
  }
  if (empty) return 0;
  return (last + 1) * static_cast<std::int64_t>(element_size);
}

}  // namespace davit
