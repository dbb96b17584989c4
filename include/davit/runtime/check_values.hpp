// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/core/evalue.hpp"
#include "davit/lowered/method_interface.hpp"
#include "davit/program/symbols.hpp"

namespace davit {

/// Fast check of a method's inputs or outputs: kinds, dtypes, ranks and static sizes in one flat table.
///
/// Only returns true or false. check_input_values describes the mismatch, and also checks symbolic sizes.
class PortChecks {
 public:
  /// Appends a port. `any` accepts every value: inputs fixed at export are compared elsewhere.
  void add(const PortType& type, bool any) {
    ports_.push_back({.sizes = {},
                      .tag = type.tag,
                      .any = any,
                      .form = {.rank = static_cast<std::uint8_t>(type.dims.size()), .dtype = type.dtype}});
    ++count_;
    only_tensors_ = only_tensors_ && type.tag == EValue::Tag::tensor && !any;
    is_static_ = is_static_ && type.has_static_sizes();
    if (type.dims.size() > max_fast_rank) is_static_ = false;
    if (!is_static_) return;
    for (std::size_t d = 0; d < type.dims.size(); ++d) ports_.back().sizes[d] = type.dims[d].value;
  }
  /// Leaves all values to check_input_values. Needed for a symbolic int, which has a range and determines sizes.
  void leave() noexcept { is_static_ = false; }
  /// True if every value fits and none needs check_input_values. O(values + sizes).
  [[nodiscard, gnu::always_inline]] bool match(std::span<const EValue> values) const noexcept {
    return match(values, [](const TensorView&) { return true; });
  }
  template <class Also>
  [[nodiscard, gnu::always_inline]] bool match(std::span<const EValue> values, Also also) const noexcept {
    return values.size() == count_ && is_static_ && (count_ == 0 || match_all(values.data(), also));
  }
  /// True if there are ports and none needs check_input_values.
  [[nodiscard]] bool is_complete() const noexcept { return is_static_ && count_ != 0; }
  /// True if is_complete() and all ports are tensors.
  [[nodiscard]] bool is_complete_of_tensors() const noexcept { return is_complete() && only_tensors_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// match() without tests of its preconditions: is_complete(), and one value per port.
  [[nodiscard, gnu::always_inline]] bool match_all(const EValue* value) const noexcept {
    return match_all(value, [](const TensorView&) { return true; });
  }
  /// Also requires `also(tensor)` for each tensor that a port expects.
  template <class Also>
  [[nodiscard, gnu::always_inline]] bool match_all(const EValue* value, Also also) const noexcept {
    const Port* port = ports_.data();
    std::size_t left = count_;
    do {
      if (!fits(*port, *value, also) && !port->any) return false;
      ++port, ++value;
    } while (--left != 0);
    return true;
  }
  /// match_all() in fewer instructions. Precondition: is_complete_of_tensors().
  template <class Also>
  [[nodiscard, gnu::always_inline]] bool match_tensors(const EValue* value, Also also) const noexcept {
    const Port* port = ports_.data();
    std::size_t left = count_;
    do {
      if (!value->is_tensor() || !has_form(*port, value->tensor(), also)) return false;
      ++port, ++value;
    } while (--left != 0);
    return true;
  }

 private:
  static constexpr std::size_t max_fast_rank = 6;  ///< tensors of higher rank need check_input_values
  /// Rank and dtype in the layout of TensorView, compared as one number.
  struct Form {
    std::uint8_t rank = 0;
    ScalarType dtype = ScalarType::undefined;
  };
  static_assert(sizeof(Form) == sizeof(std::uint16_t) && offsetof(TensorView, dtype) == offsetof(TensorView, rank) + 1);
  struct Port {
    std::int64_t sizes[max_fast_rank];
    EValue::Tag tag = EValue::Tag::none;
    bool any = false;
    Form form{};
  };
  template <class Also>
  [[nodiscard, gnu::always_inline]] static bool fits(const Port& port, const EValue& value, Also& also) noexcept {
    if (value.tag() != port.tag) return false;
    return port.tag != EValue::Tag::tensor || has_form(port, value.tensor(), also);
  }
  template <class Also>
  [[nodiscard, gnu::always_inline]] static bool has_form(const Port& port, const TensorView& tensor,
                                                         Also& also) noexcept {
    std::uint16_t form = 0;
    std::memcpy(&form, reinterpret_cast<const std::byte*>(&tensor) + offsetof(TensorView, rank), sizeof(form));
    if (form != std::bit_cast<std::uint16_t>(port.form)) return false;
    const std::int64_t* const sizes = tensor.sizes_data;
    for (std::size_t d = port.form.rank; d-- > 0;)
      if (sizes[d] != port.sizes[d]) return false;
    return also(tensor);
  }
  std::vector<Port> ports_;
  std::size_t count_ = 0;  ///< equals ports_.size(), for speed
  bool is_static_ = true;
  bool only_tensors_ = true;
};

/// Checks the inputs of a call one by one and describes the first mismatch. Compares symbolic sizes with the values
/// known to `symbols`. Errors: invalid_argument, invalid_dtype, invalid_shape.
[[nodiscard]] Result<void> check_input_values(std::string_view method, std::string_view backend,
                                              const MethodInterface& interface, std::span<const EValue> values,
                                              const SymbolValues& symbols);
/// Checks the values that a backend returned, as check_input_values.
[[nodiscard]] Result<void> check_output_values(std::string_view method, std::string_view backend,
                                               const MethodInterface& interface, std::span<const EValue> values,
                                               const SymbolValues& symbols);

/// True if all tensors that a backend returned have memory for their elements. O(values).
[[nodiscard]] bool have_memory(std::span<const EValue> values) noexcept;

namespace detail {
/// Makes the Error for a backend that returned a tensor without memory.
[[nodiscard]] Error without_memory(Name where);
}  // namespace detail

/// Derives the values of a method's symbols from the sizes of its inputs, whose kinds and ranks are already checked.
/// Checks that the values agree with each other and with their ranges. Errors: invalid_shape.
[[nodiscard]] Result<void> bind_symbols(std::string_view method, std::string_view backend,
                                        const MethodInterface& interface, std::span<const EValue> inputs,
                                        SymbolValues& symbols);

/// Converts the value of an input fixed at export. Text views the constant.
[[nodiscard]] EValue constant_value(const ConstantValue& constant) noexcept;
[[nodiscard]] bool same_constant(const EValue& value, const ConstantValue& constant) noexcept;

}  // namespace davit
