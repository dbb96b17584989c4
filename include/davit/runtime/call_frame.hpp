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

/// Makes `tensor` contiguous, with this dtype and these sizes; keeps its storage if it already is. Returns false, and
/// leaves `tensor` unchanged, if memory runs out.
[[nodiscard]] bool reuse_tensor(Tensor& tensor, ScalarType dtype, std::span<const std::int64_t> sizes,
                                std::uint64_t max_bytes = UINT64_MAX);

/// Copies the initial buffers for a session, whose runs change them. Errors: out_of_memory.
[[nodiscard]] Result<std::vector<NamedTensor>> copy_state(std::span<const NamedTensor> initial,
                                                          std::uint64_t max_bytes = UINT64_MAX);

/// Gives a buffer memory of its own, with the same elements, if a fork or another holder shares its memory. Returns
/// false, and leaves it as it was, if memory runs out. O(1) if not shared, else O(bytes).
[[nodiscard]] bool own_memory(Tensor& buffer);

/// The work around every call of a method: gathers arguments, checks inputs and outputs, writes back mutations.
///
/// `backend` appears in messages only and may be empty. The interface and the state must outlive the frame.
class CallFrame {
 public:
  /// O(n log n) for n inputs, outputs and buffers.
  CallFrame(const Name& method, std::string_view backend, const MethodInterface& interface,
            std::span<NamedTensor> state);

  [[nodiscard]] const MethodInterface& interface() const noexcept { return *interface_; }
  [[nodiscard]] std::span<const EValue> inputs() const noexcept { return inputs_; }
  [[nodiscard]] std::span<EValue> outputs() noexcept { return outputs_; }
  [[nodiscard]] bool gathers() const noexcept { return gathers_; }  ///< inputs() differ from the caller's arguments
  [[nodiscard]] bool writes_back() const noexcept { return writes_back_; }
  [[nodiscard]] bool keeps_state() const noexcept { return gathers_ || writes_back_; }
  [[nodiscard]] bool inputs_fit(std::span<const EValue> inputs) const noexcept { return input_checks_.match(inputs); }
  [[nodiscard]] const PortChecks& input_checks() const noexcept { return input_checks_; }
  [[nodiscard]] bool outputs_fit() const noexcept { return output_checks_.match(outputs_); }

  /// Merges the caller's arguments with state and fixed inputs into `inputs()`. Errors: invalid_argument.
  [[nodiscard]] Result<void> gather(std::span<const EValue> user, std::span<const NamedTensor> state);

  /// Merges positional and named arguments into one list in the order of the inputs. O(n log n). Errors:
  /// invalid_argument.
  [[nodiscard]] Result<std::vector<EValue>> arrange(std::span<const EValue> args,
                                                    std::span<const NamedValue> kwargs) const;

  /// The thorough check: describes the first mismatch, binds dynamic sizes and checks guards. Returns true if sizes
  /// differ from those of the last check.
  [[nodiscard]] Result<bool> check_inputs(std::span<const EValue> user, std::span<const EValue> inputs);

  /// Gives the buffers that outputs replace memory of their own where it is shared; inputs() then have the new
  /// addresses. Errors: out_of_memory; each buffer keeps its elements. O(outputs + bytes that were shared).
  [[nodiscard]] Result<void> own_state(std::span<NamedTensor> state);
  /// True if a buffer has changed its address since the last call of this function.
  [[nodiscard]] bool take_moved() noexcept { return std::exchange(moved_, false); }

  [[nodiscard]] Result<void> check_outputs() const;

  /// Copies mutations to the state and to user inputs.
  ///
  /// Copies outputs first that view memory about to change. Afterwards the mutation of a buffer is a view of the
  /// buffer. If an output holds the new value of a buffer or input and lies in the caller's memory, it becomes a view
  /// of that buffer or input: `x.copy_(y); return x` returns x, not y. Source:
  /// torch.export._unlift._insert_copy_for_mutations. Errors: invalid_shape, before anything changes. O(bytes + n log
  /// n) for n outputs and written inputs.
  [[nodiscard]] Result<void> write_back(std::span<const EValue> inputs, std::span<NamedTensor> state);

  [[nodiscard]] Error wrong_count(std::size_t given) const;

  /// A buffer and its new value: the indices of the method's input and output.
  struct Update {
    std::uint32_t input;
    std::uint32_t output;
  };
  /// Returns all buffers that are an input and have a new value, by output. O(n log n) for n inputs and outputs.
  [[nodiscard]] std::vector<Update> updates() const;
  /// Returns the memory of the buffers that outputs replace.
  [[nodiscard]] std::vector<MemoryRange> changed_state(std::span<const NamedTensor> state) const;

 private:
  struct Write {
    EValue* value;
    TensorView to;
    const Name* target;
  };

  /// State or a user input that operators write in place. Runs work on a copy, so that a failed run changes nothing.
  struct InPlaceInput {
    std::size_t input;
    TensorView to;
    Scratch own;
    bool is_same = false;  ///< the buffer is shared, and the run has not changed the copy
  };
  /// Finds in-place written inputs. State that no output replaces is among them: it may be written, here or by another
  /// method.
  void find_written();
  /// Copies an input with its strides. False if memory runs out.
  [[nodiscard]] bool copy_in(InPlaceInput& written);
  /// Gives in-place written buffers memory of their own where it is shared, unless the run did not change them. False
  /// if memory runs out.
  [[nodiscard]] bool own_written(std::span<NamedTensor> state);
  /// A copy that a run worked on, and its original.
  struct WorkingCopy {
    MemoryRange own;
    std::byte* to;
  };
  /// Copies the results back to the originals, and turns outputs that view a copy into views of the original. O(n log
  /// n) for n copies and outputs.
  void copy_out();

  [[nodiscard]] Error error(ErrorCode code, Name where, Name what, Name fix) const;
  [[nodiscard]] Error no_memory() const;
  [[nodiscard]] Name call_it_as() const { return concat("call it as ", signature_text(*method_, *interface_)); }

  /// Returns the buffer or input that output i is written back to; none if there is none.
  [[nodiscard]] EValue destination(std::size_t i, std::span<const EValue> inputs,
                                   std::span<const NamedTensor> state) const noexcept;
  /// True if the backend has already made the new value in its destination.
  [[nodiscard]] static bool is_there(const EValue& value, const TensorView& to) noexcept;
  /// Copies the new value of an input if it views memory of another input, which belongs to the caller. False if memory
  /// runs out.
  [[nodiscard]] bool keep_mutations(std::span<const EValue> inputs);
  /// Replaces a value that views `changed` by a view of a copy. False if memory runs out.
  [[nodiscard]] bool keep(EValue& value, const MemoryRanges& changed);

  const Name* method_;
  std::string_view backend_;
  const MethodInterface* interface_;
  bool gathers_ = false;
  bool writes_back_ = false;
  bool moved_ = false;
  PortChecks input_checks_;
  PortChecks output_checks_;
  std::vector<EValue> inputs_;
  std::vector<EValue> outputs_;
  std::vector<std::uint32_t> state_of_input_;   ///< per input: index of the state, or no_id
  std::vector<std::uint32_t> state_of_output_;  ///< per output: index of the replaced state, or no_id
  std::vector<std::uint32_t> input_of_output_;  ///< per output: index of the replaced user input, or no_id
  std::vector<std::pair<std::uint32_t, std::uint32_t>>
      returned_mutations_;  ///< pairs: an output that is the new value of a buffer or input, and the mutation's output
  std::vector<InPlaceInput> written_;
  std::vector<WorkingCopy> lent_;
  std::vector<Write> writes_;
  MemoryRanges memory_;         ///< memory that the writes change
  MemoryRanges callers_;        ///< memory of user inputs, if some output must not lie in it
  std::vector<Tensor> copies_;  ///< copies of outputs that viewed memory changed by write_back
  std::size_t used_copies_ = 0;
  SymbolValues symbols_;
  SizeMemory sizes_;
  GuardChecks guards_;
};

}  // namespace davit
