// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/core/copy_tensor.hpp"
#include "davit/core/memory_ranges.hpp"
#include "davit/core/scratch.hpp"
#include "davit/lowered/method_interface.hpp"
#include "davit/program/symbols.hpp"
#include "davit/runtime/check_values.hpp"
#include "davit/runtime/guard_checks.hpp"
#include "davit/runtime/named_value.hpp"
#include "davit/runtime/size_memory.hpp"

namespace davit {

/// Makes `tensor` a contiguous tensor of this dtype and these sizes, reusing its storage if it is one. False, and
/// unchanged, if there is no memory.
[[nodiscard]] bool reuse_tensor(Tensor& tensor, ScalarType dtype, std::span<const std::int64_t> sizes,
                                std::uint64_t max_bytes = UINT64_MAX);

/// The copies of a session's buffers that its runs change. Errors: out_of_memory.
[[nodiscard]] Result<std::vector<NamedTensor>> copy_state(std::span<const NamedTensor> initial,
                                                          std::uint64_t max_bytes = UINT64_MAX);

/// What every call of a method goes through, whatever runs it: arguments in, checks, outputs, write-back of mutations.
///
/// `backend` is for messages, and may be empty. The interface and the state must outlive the frame.
class CallFrame {
 public:
  /// O(n log n) for n inputs, outputs and buffers.
  CallFrame(const Name& method, std::string_view backend, const MethodInterface& interface,
            std::span<NamedTensor> state);

  [[nodiscard]] const MethodInterface& interface() const noexcept { return *interface_; }
  [[nodiscard]] std::span<const EValue> inputs() const noexcept { return inputs_; }
  [[nodiscard]] std::span<EValue> outputs() noexcept { return outputs_; }
  [[nodiscard]] bool gathers() const noexcept { return gathers_; }  ///< inputs are more than what the caller passes
  [[nodiscard]] bool writes_back() const noexcept { return writes_back_; }
  [[nodiscard]] bool keeps_state() const noexcept { return gathers_ || writes_back_; }
  [[nodiscard]] bool inputs_fit(std::span<const EValue> inputs) const noexcept { return input_checks_.match(inputs); }
  [[nodiscard]] const PortChecks& input_checks() const noexcept { return input_checks_; }
  [[nodiscard]] bool outputs_fit() const noexcept { return output_checks_.match(outputs_); }

  /// Puts state and fixed inputs between what the caller passes; `inputs()` then holds all. Errors: invalid_argument.
  [[nodiscard]] Result<void> gather(std::span<const EValue> user, std::span<const NamedTensor> state);

  /// Puts inputs given by name where they belong. O(n log n). Errors: invalid_argument.
  [[nodiscard]] Result<std::vector<EValue>> arrange(std::span<const EValue> args,
                                                    std::span<const NamedValue> kwargs) const;

  /// The slow check: says what does not fit, follows dynamic sizes and checks guards. Answers whether sizes changed
  /// since settle().
  [[nodiscard]] Result<bool> check_inputs(std::span<const EValue> user, std::span<const EValue> inputs);

  [[nodiscard]] Result<void> check_outputs() const;

  /// Copies mutations to the state and to user inputs. Outputs that view what is about to change are copied first. Then
  /// the mutation of a buffer is the buffer. An output of a mutation's value that lay in the caller's memory becomes
  /// the buffer or input that the mutation changes: `x.copy_(y); return x` answers x, not y. Source:
  /// torch.export._unlift._insert_copy_for_mutations. Errors: invalid_shape, before anything has changed. O(bytes + n
  /// log n) for n outputs and inputs that are written.
  [[nodiscard]] Result<void> write_back(std::span<const EValue> inputs, std::span<NamedTensor> state);

  [[nodiscard]] Error wrong_count(std::size_t given) const;

  /// A buffer and its new value: the method's input and output of that number.
  struct Update {
    std::uint32_t input;
    std::uint32_t output;
  };
  /// Those of which both are there, by output. O(n log n) for n inputs and outputs.
  [[nodiscard]] std::vector<Update> updates() const;
  /// Where the buffers lie that outputs replace.
  [[nodiscard]] std::vector<MemoryRange> changed_state(std::span<const NamedTensor> state) const;

 private:
  struct Write {
    EValue* value;
    TensorView to;
    const Name* target;
  };

  /// State or a user input that operators write to in place; a run works on a copy, so that one that fails changes
  /// nothing.
  struct Written {
    std::size_t input;
    TensorView to;
    Scratch own;
  };
  /// State that no output replaces is written in place, or another method changes it.
  void find_written();
  /// Copies an input, with its strides; false if there is no memory.
  [[nodiscard]] bool borrow(Written& written);
  /// A copy that a run worked on, and what it is a copy of.
  struct Lent {
    MemoryRange own;
    std::byte* to;
  };
  /// Copies them back, and lets outputs that view a copy view the input. O(n log n) for n copies and outputs.
  void give_back();

  [[nodiscard]] Error error(ErrorCode code, Name where, Name what, Name fix) const;
  [[nodiscard]] Error no_memory() const;
  [[nodiscard]] Name call_it_as() const { return concat("call it as ", signature_text(*method_, *interface_)); }

  /// Where output i is written back to, or none.
  [[nodiscard]] EValue destination(std::size_t i, std::span<const EValue> inputs,
                                   std::span<const NamedTensor> state) const noexcept;
  /// True if a new value lies where it belongs: it was made there.
  [[nodiscard]] static bool is_there(const EValue& value, const TensorView& to) noexcept;
  /// Lets no new value of an input view memory of another one, which is the caller's; false if there is no memory.
  [[nodiscard]] bool keep_mutations(std::span<const EValue> inputs);
  /// Turns a value that views `changed` into a view of a copy; false if there is no memory.
  [[nodiscard]] bool keep(EValue& value, const MemoryRanges& changed);

  const Name* method_;
  std::string_view backend_;
  const MethodInterface* interface_;
  bool gathers_ = false;
  bool writes_back_ = false;
  PortChecks input_checks_;
  PortChecks output_checks_;
  std::vector<EValue> inputs_;
  std::vector<EValue> outputs_;
  std::vector<std::uint32_t> state_of_input_;   ///< per input: index of the state, or no_id
  std::vector<std::uint32_t> state_of_output_;  ///< per output: the state it replaces, or no_id
  std::vector<std::uint32_t> input_of_output_;  ///< per output: the user input it replaces, or no_id
  std::vector<std::pair<std::uint32_t, std::uint32_t>>
      returned_mutations_;  ///< outputs that are the new value of a buffer or input, and its mutation
  std::vector<Written> written_;
  std::vector<Lent> lent_;
  std::vector<Write> writes_;
  MemoryRanges memory_;         ///< that the writes change
  MemoryRanges callers_;        ///< of user inputs, where outputs must not lie in one
  std::vector<Tensor> copies_;  ///< outputs that viewed what a write-back changed
  std::size_t used_copies_ = 0;
  SymbolValues symbols_;
  SizeMemory sizes_;
  GuardChecks guards_;
};

}  // namespace davit
