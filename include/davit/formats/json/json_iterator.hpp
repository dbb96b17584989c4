// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "davit/formats/json/json_document.hpp"

namespace davit::formats::detail {

/// Iterates over sibling values of a document.
///
/// `Element` is constructed from a document and an index. `keys`: values between that index and the element's own
/// value, 1 for a member of an object, else 0.
template <class Element, std::uint32_t keys>
class JsonIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Element;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = Element;

  JsonIterator() noexcept = default;
  JsonIterator(const JsonDocument& document, std::uint32_t index) noexcept : document_(&document), index_(index) {}

  [[nodiscard]] Element operator*() const noexcept { return Element(*document_, index_); }
  JsonIterator& operator++() noexcept {
    index_ = document_->after(index_ + keys);
    return *this;
  }
  JsonIterator operator++(int) noexcept {
    JsonIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const JsonIterator&, const JsonIterator&) = default;

 private:
  const JsonDocument* document_ = nullptr;
  std::uint32_t index_ = 0;
};

}  // namespace davit::formats::detail
