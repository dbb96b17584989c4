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

/// Checks a method's guards where what they ask of the inputs is new.
///
/// Strides are in elements; a tensor of a call begins where its storage does: its storage offset is 0.
/// Source: the guards function that torch 2.9's ExportedProgram.module() calls before forward.
class GuardChecks {
 public:
  /// The interface must outlive the checks. O(nodes); a method without guards takes no memory.
  explicit GuardChecks(const MethodInterface& interface);

  /// False if there is nothing to check in a call: no guards, or ones that the fixed sizes of the inputs fulfil.
  [[nodiscard]] bool any() const noexcept { return any_; }

  /// `sizes_changed`: a size is not what it was at the last check. `inputs` are of the interface's kinds and ranks.
  /// Errors: invalid_shape, with the guard and the sizes that break it. O(1) if nothing is new, else O(nodes).
  [[nodiscard]] Result<void> check(std::string_view method, std::string_view backend, std::span<const EValue> inputs,
                                   bool sizes_changed);

 private:
  /// Reads what leaves ask; false if all is as it was.
  [[nodiscard]] bool read(std::span<const EValue> inputs);
  [[nodiscard]] static GuardNumber number_of(const EValue& value) noexcept;
  [[nodiscard]] GuardNumber leaf(const GuardNode& node, std::span<const EValue> inputs) const;

  const MethodInterface* interface_;
  std::vector<std::uint32_t> leaves_{};  ///< the nodes of those that calls decide
  std::vector<std::uint32_t> ports_{};   ///< per user input, which input of the method it is
  std::vector<GuardNumber> values_{};    ///< per node
  bool any_ = false;
  bool fit_ = true;  ///< guards_fit; else every check is an error
  bool asks_sizes_only_ = true;
  bool hold_ = false;  ///< as of the last check
};

}  // namespace davit
