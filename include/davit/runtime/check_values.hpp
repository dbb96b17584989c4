// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/core/evalue.hpp"
#include "davit/lowering/method_interface.hpp"
#include "davit/program/symbols.hpp"

namespace davit {

/// The quick check of what crosses a method's border: kinds, dtypes, ranks and static sizes, laid out flat.
///
/// It only says whether all fit; check_values says what does not, and checks symbolic sizes.
class PortChecks {
 public:
  /// Appends a port; `any` lets every value pass (an input that the export fixed is compared elsewhere).
  void add(const PortType& type, bool any) {
    ports_.push_back({.sizes = {}, .tag = type.tag, .any = any, .rank = static_cast<std::uint8_t>(type.dims.size()), .dtype = type.dtype});
    for (const Dim& d : type.dims) is_static_ = is_static_ && d.is_static();
    if (type.dims.size() > max_fast_rank) is_static_ = false;
    if (!is_static_) return;
    for (std::size_t d = 0; d < type.dims.size(); ++d) ports_.back().sizes[d] = type.dims[d].value;
  }
  /// True if every value fits and no size was left to check_values. O(values + sizes).
  [[nodiscard, gnu::always_inline]] bool match(std::span<const EValue> values) const noexcept {
    return values.size() == ports_.size() && is_static_ && match_all(values.data());
  }
  /// True if the checks are complete: no size is left to check_values.
  [[nodiscard]] bool is_static() const noexcept { return is_static_; }
  /// match() for as many values as there are ports, if is_static().
  [[nodiscard, gnu::always_inline]] bool match_all(const EValue* value) const noexcept {
    const Port* const end = ports_.data() + ports_.size();
    for (const Port* port = ports_.data(); port != end; ++port, ++value)
      if (!fits(*port, *value) && !port->any) return false;
    return true;
  }

 private:
  static constexpr std::size_t max_fast_rank = 6;  ///< of tensors that need not go the slow way
  struct Port {
    std::int64_t sizes[max_fast_rank];
    EValue::Tag tag = EValue::Tag::none;
    bool any = false;
    std::uint8_t rank = 0;
    ScalarType dtype = ScalarType::undefined;
  };
  [[nodiscard, gnu::always_inline]] static bool fits(const Port& port, const EValue& value) noexcept {
    if (value.tag() != port.tag) return false;
    if (port.tag != EValue::Tag::tensor) return true;
    const TensorView& tensor = value.tensor();
    if (tensor.rank != port.rank || tensor.dtype != port.dtype) return false;
    for (std::size_t d = 0; d < port.rank; ++d)
      if (tensor.sizes_data[d] != port.sizes[d]) return false;
    return true;
  }
  std::vector<Port> ports_;
  bool is_static_ = true;
};

namespace detail {
/// How a method is called: "forward(x: Tensor float32[3], h: int)".
[[nodiscard]] Name signature_of(std::string_view method, const MethodInterface& interface);
}  // namespace detail

/// Checks values against ports one by one and says what does not fit. Symbolic sizes are compared with what `symbols`
/// knows. `role` is "argument" or "output". Errors: invalid_argument, invalid_dtype, invalid_shape.
[[nodiscard]] Result<void> check_values(std::string_view method, std::string_view backend, std::string_view role,
                                        const std::vector<InputPort>& ports, std::span<const EValue> values,
                                        const SymbolValues& symbols);
[[nodiscard]] Result<void> check_values(std::string_view method, std::string_view backend, std::string_view role,
                                        const std::vector<OutputPort>& ports, std::span<const EValue> values,
                                        const SymbolValues& symbols);

/// Finds the values of a method's symbols from the sizes of its inputs (already of the right kinds and ranks), and
/// checks that they agree with each other and with their ranges. Errors: invalid_shape.
[[nodiscard]] Result<void> bind_symbols(std::string_view method, std::string_view backend, const MethodInterface& interface,
                                        std::span<const EValue> inputs, SymbolValues& symbols);

/// An input that the export fixed, as a value; text views the constant.
[[nodiscard]] EValue constant_value(const ConstantValue& constant) noexcept;
[[nodiscard]] bool same_constant(const EValue& value, const ConstantValue& constant) noexcept;

}  // namespace davit

#if !defined(DAVIT_COMPILED)
#include "davit/runtime/impl/check_values.ipp"
#endif
