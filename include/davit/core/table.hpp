// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <type_traits>

namespace davit {

/// A growing array of trivial elements for constant evaluation: appending and indexing are single steps, whereas each
/// step inside std::vector costs compile time. Movable, not copyable.
template <class T>
class Table {
  static_assert(std::is_trivially_copyable_v<T>, "davit: a Table holds trivially copyable elements");

 public:
  constexpr Table() noexcept = default;
  constexpr explicit Table(std::size_t size) : data_(new T[size]{}), size_(size), capacity_(size) {}
  constexpr Table(std::size_t size, T value) : data_(new T[size]), size_(size), capacity_(size) {
    for (std::size_t i = 0; i < size; ++i) data_[i] = value;
  }
  constexpr Table(Table&& other) noexcept : data_(other.data_), size_(other.size_), capacity_(other.capacity_) {
    other.data_ = nullptr;
    other.size_ = other.capacity_ = 0;
  }
  constexpr Table& operator=(Table&& other) noexcept {
    T* const data = data_;
    const std::size_t size = size_;
    const std::size_t capacity = capacity_;
    data_ = other.data_;
    size_ = other.size_;
    capacity_ = other.capacity_;
    other.data_ = data;
    other.size_ = size;
    other.capacity_ = capacity;
    return *this;
  }
  constexpr ~Table() { delete[] data_; }

  [[nodiscard]] constexpr T& operator[](std::size_t i) noexcept { return data_[i]; }
  [[nodiscard]] constexpr const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  [[nodiscard]] constexpr const T* data() const noexcept { return data_; }
  [[nodiscard]] constexpr T* begin() noexcept { return data_; }
  [[nodiscard]] constexpr T* end() noexcept { return data_ + size_; }
  [[nodiscard]] constexpr const T* begin() const noexcept { return data_; }
  [[nodiscard]] constexpr const T* end() const noexcept { return data_ + size_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] constexpr T& back() noexcept { return data_[size_ - 1]; }

  constexpr void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    T* const grown = new T[capacity];
    for (std::size_t i = 0; i < size_; ++i) grown[i] = data_[i];
    delete[] data_;
    data_ = grown;
    capacity_ = capacity;
  }
  constexpr void push_back(T value) {
    if (size_ == capacity_) reserve(capacity_ == 0 ? 16 : 2 * capacity_);
    data_[size_++] = value;
  }
  /// Appends `count` elements.
  constexpr void append(const T* from, std::size_t count) {
    if (size_ + count > capacity_) reserve(size_ + count > 2 * capacity_ ? size_ + count : 2 * capacity_);
    for (std::size_t i = 0; i < count; ++i) data_[size_ + i] = from[i];
    size_ += count;
  }
  constexpr void clear() noexcept { size_ = 0; }
  /// Keeps the first `size` elements; size must not exceed size().
  constexpr void shrink(std::size_t size) noexcept { size_ = size; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace davit
