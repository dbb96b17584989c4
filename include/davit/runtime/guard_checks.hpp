// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/core/evalue.hpp"
#include "davit/lowered/method_interface.hpp"
#include "davit/program/guard_values.hpp"

namespace davit {

/// Checks the guards of a method, again only if the sizes and numbers they depend on have changed.
///
/// Strides are in elements. Tensors passed to a call start at their storage: their storage offset is 0. Source: the
/// guards function that torch 2.9's ExportedProgram.module() calls before forward.
class GuardChecks {
 public:
  /// The interface must outlive the checks. O(nodes). Allocates nothing for a method without guards.
  explicit GuardChecks(const MethodInterface& interface);

  /// False if calls need no check: there are no guards, or the static sizes of the inputs satisfy them all.
  [[nodiscard]] bool any() const noexcept { return any_; }

  /// Checks the guards of one call. `sizes_changed`: some size differs from the last check. `inputs` must have the
  /// kinds and ranks of the interface. Errors: invalid_shape, with the guard and the sizes that break it. O(1) if
  /// nothing has changed, else O(nodes).
  [[nodiscard]] Result<void> check(std::string_view method, std::string_view backend, std::span<const EValue> inputs,
                                   bool sizes_changed);

 private:
  /// Reads the inputs of the leaves. False if all are unchanged.
  [[nodiscard]] bool read(std::span<const EValue> inputs);
  [[nodiscard]] static PythonNumber number_of(const EValue& value) noexcept;
  [[nodiscard]] PythonNumber leaf(const GuardNode& node, std::span<const EValue> inputs) const;

  const MethodInterface* interface_;
  std::vector<std::uint32_t> leaves_{};  ///< leaf nodes whose values depend on the call
  std::vector<std::uint32_t> ports_{};   ///< per user input: index among the method's inputs
  std::vector<PythonNumber> values_{};   ///< values per node
  bool any_ = false;
  bool fit_ = true;  ///< result of guards_fit; if false, every check is an error
  bool asks_sizes_only_ = true;
  bool hold_ = false;  ///< result of the last check
};

}  // namespace davit
