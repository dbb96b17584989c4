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
/// Errors: invalid_dtype, invalid_shape if the tensor's elements cannot be seen as a span of that type; `what` names
/// it.
[[nodiscard]] Result<void> check_elements(const TensorView& tensor, ScalarType dtype, std::string_view what);
}  // namespace detail

/// A tensor that shares in the ownership of its storage: a view of a mapped file, of static data, or of a heap block.
///
/// Sizes and strides are in elements. Several tensors may view one storage (tied parameters, slices).
struct Tensor {
  ScalarType dtype = ScalarType::undefined;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  std::int64_t storage_offset = 0;  ///< in elements
  SharedBytes storage;
  bool requires_grad = false;

  /// The view; data of a tensor without elements may be null. The tensor must outlive it.
  [[nodiscard]] TensorView view() const noexcept {
    std::byte* data = storage.writable();
    if (data != nullptr) data += static_cast<std::size_t>(storage_offset) * size_of(dtype);
    return {data,           sizes.data(),
            strides.data(), static_cast<std::uint8_t>(sizes.size()),
            dtype,          static_cast<std::uint32_t>(storage_offset)};
  }
  [[nodiscard]] constexpr std::int64_t numel() const noexcept {
    std::int64_t count = 1;
    for (std::size_t d = 0; d < sizes.size(); ++d) count *= sizes[d];
    return count;
  }

  /// The elements, in row-major order. Errors: invalid_dtype if they are no T; invalid_shape if they are not
  /// contiguous.
  template <class T>
  [[nodiscard]] Result<std::span<T>> as() const {
    static_assert(TensorElement<T>, "davit: no tensor has elements of this type");
    if (Result<void> checked = detail::check_elements(view(), scalar_type_of<T>, "the tensor"); !checked)
      return std::unexpected(std::move(checked.error()));
    return std::span<T>(view().template as<T>(), static_cast<std::size_t>(numel()));
  }

  /// A zeroed contiguous tensor on the heap; its storage is empty if its elements do not fit in memory, or no memory
  /// could hold them (see checked_numel).
  [[nodiscard]] static Tensor zeros(ScalarType dtype, std::span<const std::int64_t> sizes);
};

/// tensor.as<T>(), for templates: `as<float>(x)` needs no `template` before it. Of an Output too.
template <class T>
[[nodiscard]] Result<std::span<T>> as(const Tensor& tensor) {
  return tensor.as<T>();
}

namespace detail {

/// A contiguous tensor over `count` elements in `storage`. Errors: invalid_shape if the sizes make another number of
/// elements.
[[nodiscard]] Result<Tensor> tensor_over(SharedBytes storage, ScalarType dtype, std::size_t count,
                                         std::span<const std::int64_t> sizes);

/// A size in a list of them, of any integer type; INT64_MAX, which no tensor has, stands for more.
struct Size {
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  constexpr Size(T size) noexcept
      : value(std::in_range<std::int64_t>(size) ? static_cast<std::int64_t>(size) : INT64_MAX) {}
  std::int64_t value;
};
/// The sizes as tensors have them.
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
/// Sizes of other integers than int64_t.
template <class Sizes>
concept OtherSizes =
    std::ranges::input_range<Sizes> && !std::convertible_to<const Sizes&, std::span<const std::int64_t>> &&
    requires(std::ranges::range_reference_t<Sizes> size) { Size(size); };

/// A vector that a tensor owns.
template <class T>
struct OwnedVector : SharedBytes::Owner {
  explicit OwnedVector(std::vector<T> vector) noexcept : Owner(&OwnedVector::destroy), elements(std::move(vector)) {}
  static void destroy(Owner* self) noexcept { delete static_cast<OwnedVector*>(self); }
  std::vector<T> elements;
};

}  // namespace detail

/// A contiguous tensor over the elements of a span, a vector or an array, which must outlive it: nothing is copied.
/// Elements that are const are read only, unless a program changes its inputs.
///
/// Errors: invalid_shape if the sizes make another number of elements. Source: torch::from_blob.
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
/// The same with sizes of any integers: `tensor(v, {1, v.size()})`.
template <class Elements>
[[nodiscard]] Result<Tensor> tensor(Elements&& elements, std::initializer_list<detail::Size> sizes) {
  return tensor(std::forward<Elements>(elements), std::span<const std::int64_t>(detail::sizes_of(sizes)));
}
template <class Elements, detail::OtherSizes Sizes>
[[nodiscard]] Result<Tensor> tensor(Elements&& elements, const Sizes& sizes) {
  return tensor(std::forward<Elements>(elements), std::span<const std::int64_t>(detail::sizes_of(sizes)));
}

/// A contiguous tensor that owns its elements: a vector that is moved in is not copied. Errors: as tensor().
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

/// What a view shows, as a tensor that lasts: a part of `storage` if it begins there, else a copy in the same layout,
/// which has no storage if there is no memory. O(1), or O(bytes that the view reaches over).
[[nodiscard]] Tensor keep_tensor(const TensorView& view, const SharedBytes& storage = {});

/// Bytes from the start of a storage that a tensor of these sizes and strides touches, or -1 on overflow or a
/// negative size or stride.
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
