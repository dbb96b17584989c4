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

/// The quick check of what crosses a method's border: kinds, dtypes, ranks and static sizes, laid out flat.
///
/// It only says whether all fit; check_input_values says what does not, and checks symbolic sizes.
class PortChecks {
 public:
  /// Appends a port; `any` lets every value pass (an input that the export fixed is compared elsewhere).
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
  /// Leaves every value to check_input_values: a symbolic int has a range, and sizes follow it.
  void leave() noexcept { is_static_ = false; }
  /// True if every value fits and no size was left to check_input_values. O(values + sizes).
  [[nodiscard, gnu::always_inline]] bool match(std::span<const EValue> values) const noexcept {
    return match(values, [](const TensorView&) { return true; });
  }
  template <class Also>
  [[nodiscard, gnu::always_inline]] bool match(std::span<const EValue> values, Also also) const noexcept {
    return values.size() == count_ && is_static_ && (count_ == 0 || match_all(values.data(), also));
  }
  /// True if the checks are complete, with no size left to check_input_values, and there are ports.
  [[nodiscard]] bool is_whole() const noexcept { return is_static_ && count_ != 0; }
  /// The same, if all ports are tensors.
  [[nodiscard]] bool is_whole_of_tensors() const noexcept { return is_whole() && only_tensors_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// match() for as many values as there are ports, if is_whole().
  [[nodiscard, gnu::always_inline]] bool match_all(const EValue* value) const noexcept {
    return match_all(value, [](const TensorView&) { return true; });
  }
  /// The same, with a question of the caller's about each tensor that a port expects.
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
  /// The same, if is_whole_of_tensors(): in fewer instructions.
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
  static constexpr std::size_t max_fast_rank = 6;  ///< of tensors that need not go the slow way
  /// Rank and dtype as a TensorView holds them, so that they are compared as one number.
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
  std::size_t count_ = 0;  ///< of ports_, at hand
  bool is_static_ = true;
  bool only_tensors_ = true;
};

/// Checks what a method is called with, one by one, and says what does not fit. Symbolic sizes are compared with what
/// `symbols` knows. Errors: invalid_argument, invalid_dtype, invalid_shape.
[[nodiscard]] Result<void> check_input_values(std::string_view method, std::string_view backend,
                                              const MethodInterface& interface, std::span<const EValue> values,
                                              const SymbolValues& symbols);
/// The same of what a backend answered.
[[nodiscard]] Result<void> check_output_values(std::string_view method, std::string_view backend,
                                               const MethodInterface& interface, std::span<const EValue> values,
                                               const SymbolValues& symbols);

/// True if the tensors that a backend answered have memory for their elements. O(values).
[[nodiscard]] bool have_memory(std::span<const EValue> values) noexcept;

namespace detail {
/// The Error of a backend for whose answers that is not true.
[[nodiscard]] Error without_memory(Name where);
}  // namespace detail

/// Finds the values of a method's symbols from the sizes of its inputs (already of the right kinds and ranks), and
/// checks that they agree with each other and with their ranges. Errors: invalid_shape.
[[nodiscard]] Result<void> bind_symbols(std::string_view method, std::string_view backend,
                                        const MethodInterface& interface, std::span<const EValue> inputs,
                                        SymbolValues& symbols);

/// An input that the export fixed, as a value; text views the constant.
[[nodiscard]] EValue constant_value(const ConstantValue& constant) noexcept;
[[nodiscard]] bool same_constant(const EValue& value, const ConstantValue& constant) noexcept;

}  // namespace davit
