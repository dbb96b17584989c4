// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/core/evalue.hpp"
#include "davit/core/tensor.hpp"
#include "davit/lowered/method_interface.hpp"

namespace davit {

/// One output of a run: a view that is valid until the session's next run.
///
/// For an output that does not exist, value() is none, and as() and clone() return an Error that lists the outputs.
class Output {
 public:
  Output(const EValue& value, std::string_view name) noexcept : value_(&value), name_(name) {}
  /// Makes the Error for an output that the method does not have.
  using Lack = Error (*)(const MethodInterface& interface, std::string_view name, std::size_t index);
  Output(Lack error, const MethodInterface& interface, std::string_view name, std::size_t index) noexcept
      : value_(&none), name_(name), lack_(error), interface_(&interface), index_(index) {}

  /// Returns the output's value; none if there is no such output.
  [[nodiscard]] const EValue& value() const noexcept { return *value_; }
  operator const EValue&() const noexcept { return *value_; }
  const EValue* operator->() const noexcept { return value_; }
  /// Returns the keys of the value in the dict that forward() returns, for example "past.0"; without a dict, its name
  /// in the exported graph; for a mutation, the buffer, parameter or input that it changes.
  [[nodiscard]] std::string_view name() const noexcept { return name_; }

  /// Returns the elements of a tensor in row-major order. Errors: not_found; invalid_argument if the output is no
  /// tensor; invalid_dtype if its elements are no T; invalid_shape if they are not contiguous.
  template <class T>
  [[nodiscard]] Result<std::span<const T>> as() const {
    static_assert(TensorElement<T>,
                  "davit: no tensor has elements of this type; use value() for outputs that are no tensors");
    if (Result<void> checked = check(scalar_type_of<T>); !checked) return error_of(std::move(checked));
    const TensorView& tensor = value_->tensor();
    return std::span<const T>(tensor.template as<T>(), static_cast<std::size_t>(tensor.numel()));
  }

  /// Returns a contiguous copy of a tensor that outlives later runs and the session. Errors: not_found;
  /// invalid_argument if the output is no tensor; out_of_memory.
  [[nodiscard]] Result<Tensor> clone() const;

 private:
  static constexpr EValue none{};
  [[nodiscard]] Result<void> check_tensor() const;
  [[nodiscard]] Result<void> check(ScalarType dtype) const;

  const EValue* value_;
  std::string_view name_;
  Lack lack_ = nullptr;  ///< set if the output does not exist
  const MethodInterface* interface_ = nullptr;
  std::size_t index_ = 0;
};

/// Free function for templates: `as<float>(outputs[0])` instead of `outputs[0].template as<float>()`.
template <class T>
[[nodiscard]] Result<std::span<const T>> as(const Output& output) {
  return output.as<T>();
}

namespace detail {

/// @name Outputs of a method: if `mutations`, its mutations, else the values that forward() returns (the loss
/// included). O(outputs).
/// @{
[[nodiscard]] std::size_t count_outputs(const MethodInterface& interface, bool mutations) noexcept;
[[nodiscard]] Output find_output(const EValue* values, const MethodInterface& interface, bool mutations,
                                 std::size_t index) noexcept;
[[nodiscard]] Output find_output(const EValue* values, const MethodInterface& interface, bool mutations,
                                 std::string_view name) noexcept;
/// @}
/// Returns the first such port at or after `port`; the number of ports if there is none.
[[nodiscard]] std::size_t next_output(const MethodInterface& interface, bool mutations, std::size_t port) noexcept;
/// Returns the output at `port`, which must be such a port.
[[nodiscard]] Output output_at(const EValue* values, const MethodInterface& interface, bool mutations,
                               std::size_t port) noexcept;

/// The returned outputs of a run, or its mutations, by number and by name.
template <bool is_mutations>
class OutputList {
 public:
  /// `values` holds all outputs of the method.
  OutputList(const EValue* values, const MethodInterface& interface) noexcept
      : values_(values), interface_(&interface) {}

  [[nodiscard]] std::size_t size() const noexcept { return count_outputs(*interface_, is_mutations); }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  /// Returns output `index`. O(outputs).
  [[nodiscard]] Output operator[](std::size_t index) const noexcept {
    return find_output(values_, *interface_, is_mutations, index);
  }
  /// Returns the output called `name`: see Output::name.
  [[nodiscard]] Output operator[](std::string_view name) const noexcept {
    return find_output(values_, *interface_, is_mutations, name);
  }

  /// Iterates over all outputs in O(outputs) altogether.
  class Iterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = Output;
    Iterator() = default;
    Iterator(const OutputList& list, std::size_t port) noexcept
        : list_(&list), port_(next_output(*list.interface_, is_mutations, port)) {}
    [[nodiscard]] Output operator*() const noexcept {
      return output_at(list_->values_, *list_->interface_, is_mutations, port_);
    }
    Iterator& operator++() noexcept {
      port_ = next_output(*list_->interface_, is_mutations, port_ + 1);
      return *this;
    }
    Iterator operator++(int) noexcept {
      Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) noexcept { return a.port_ == b.port_; }

   private:
    const OutputList* list_ = nullptr;
    std::size_t port_ = 0;
  };
  [[nodiscard]] Iterator begin() const noexcept { return {*this, 0}; }
  [[nodiscard]] Iterator end() const noexcept { return {*this, interface_->outputs.size()}; }

 protected:
  const EValue* values_;
  const MethodInterface* interface_;
};

}  // namespace detail

/// The new values of buffers, parameters and user inputs, written by the signature or in place.
using Mutations = detail::OutputList<true>;

/// Result of a run: the values that forward() returns, by number and by name, and separately the mutations. Two
/// pointers; views that are valid until the session's next run (see Output::clone).
class Outputs : public detail::OutputList<false> {
 public:
  using OutputList::OutputList;

  [[nodiscard]] Mutations mutations() const noexcept { return {values_, *interface_}; }
  /// Returns all outputs of the exported program in its order: tokens, mutations, returned values, gradients.
  [[nodiscard]] std::span<const EValue> all() const noexcept {
    return {values_, interface_->outputs.size() - interface_->added_mutations};
  }
};

}  // namespace davit
