// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/undo_log.hpp"
#include "davit/core/error.hpp"
#include "davit/core/evalue.hpp"
#include "davit/core/scratch.hpp"
#include "davit/ops/operator_schema.hpp"

namespace davit::portable_kernels {

/// Memory a kernel may ask for while it runs: planned places for outputs, blocks beyond the plan (sizes that depend on
/// data), and temporary bytes. Blocks live until the session's next run; temporary bytes until the kernel returns.
class KernelMemory {
 public:
  /// How many bytes there may be at a time.
  void set_limit(std::uint64_t bytes) noexcept { limit_ = bytes; }

  /// A block for an output the plan has no place for; nullptr if there is no memory.
  [[nodiscard, gnu::noinline]] void* block(std::size_t bytes) {
    if (bytes > limit_ || blocks_size_ + temporary_.span().size() > limit_ - bytes) return nullptr;
    Scratch memory;
    if (!memory.reserve(std::max<std::size_t>(bytes, 1))) return nullptr;
    blocks_.push_back(std::move(memory));
    blocks_size_ += bytes;
    return blocks_.back().span().data();
  }
  /// Temporary bytes, kept and reused from call to call; nullptr if there is no memory.
  [[nodiscard, gnu::noinline]] void* temporary(std::size_t bytes) {
    const bool grows = bytes > temporary_.span().size();
    if (grows && (bytes > limit_ || blocks_size_ > limit_ - bytes)) return nullptr;
    return temporary_.reserve(bytes) ? temporary_.span().data() : nullptr;
  }
  /// Frees all blocks.
  void reset() noexcept {
    blocks_.clear();
    blocks_size_ = 0;
  }

 private:
  std::vector<Scratch> blocks_;
  Scratch temporary_;
  std::size_t blocks_size_ = 0;
  std::uint64_t limit_ = UINT64_MAX;
};

/// Where an output goes: the sizes and strides to fill, and the planned bytes (none for a value without a plan).
struct OutputPlace {
  std::int64_t* sizes = nullptr;    ///< max rank entries: `rank_limit`
  std::int64_t* strides = nullptr;  ///< likewise
  std::size_t rank_limit = 0;
  std::byte* data = nullptr;
  std::size_t capacity = 0;
  bool is_destination = false;  ///< of known sizes: the output fits in there, or the call fails before it computes
};

/// Products larger than this are refused: no tensor of this many elements fits in memory.
inline constexpr std::int64_t max_numel = std::int64_t{1} << 40;

/// Where tensors without elements lie that have no memory, as no offset may be added to null.
alignas(64) inline std::byte no_elements[64];
/// The value; a tensor without memory lies at `no_elements`.
[[nodiscard]] inline EValue with_address(EValue value) noexcept {
  if (value.is_tensor() && value.tensor().data == nullptr && value.tensor().numel() == 0)
    value.tensor().data = no_elements;
  return value;
}

struct RowEpilogue;

/// One call of a kernel: arguments in the order of the operator's schema with defaults filled in, and outputs.
///
/// A kernel checks its arguments, works out each output's sizes, asks for it with `make` (or `alias` for a view), and
/// fills it. Tensors have an address, also those without elements. It returns ErrorCode::ok or what is wrong; `why` may
/// say it in words (a literal). Kernels are the only place that trusts nothing: any dtype, rank, size, stride (0 and,
/// for no tensor, negative) and index may come in. What makes outputs and converts arguments stays out of line: it runs
/// once a call, and stands in every kernel.
class KernelCall {
 public:
  constexpr KernelCall(std::span<const EValue> args, std::span<EValue> outputs, std::span<const OutputPlace> places,
                       KernelMemory& memory) noexcept
      : args_(args), outputs_(outputs), places_(places), memory_(&memory) {}

  const char* why = nullptr;  ///< a sentence for the error, if the code alone does not say enough
  UndoLog* undo = nullptr;    ///< of a call that may be made where argument 0 lies
  const RowEpilogue* epilogue =
      nullptr;  ///< of a convolution: the norm and the bounds after it, which it carries out, too

  /// True if output 0 was made where argument 0 lies: `undo` is to keep what is written over.
  [[nodiscard]] bool is_in_place() const noexcept {
    return undo != nullptr && outputs_[0].tensor().data == args_[0].tensor().data;
  }

  [[nodiscard]] std::size_t arg_count() const noexcept { return args_.size(); }
  [[nodiscard]] const EValue& arg(std::size_t i) const noexcept { return args_[i]; }
  [[nodiscard]] bool has(std::size_t i) const noexcept { return !args_[i].is_none(); }
  [[nodiscard]] bool is_tensor(std::size_t i) const noexcept { return args_[i].is_tensor(); }
  /// Argument i as a tensor; the binder has checked that a parameter of type Tensor is one.
  [[nodiscard]] const TensorView& tensor(std::size_t i) const noexcept { return args_[i].tensor(); }
  [[nodiscard, gnu::noinline]] std::int64_t integer(std::size_t i, std::int64_t otherwise = 0) const noexcept {
    return args_[i].is_number() ? args_[i].integer() : otherwise;
  }
  [[nodiscard, gnu::noinline]] double number(std::size_t i, double otherwise = 0) const noexcept {
    return args_[i].is_number() ? args_[i].number() : otherwise;
  }
  [[nodiscard, gnu::noinline]] bool boolean(std::size_t i, bool otherwise = false) const noexcept {
    return args_[i].is_number() ? args_[i].number() != 0 : otherwise;
  }
  [[nodiscard, gnu::noinline]] std::string_view string(std::size_t i) const noexcept {
    return args_[i].is_string() ? args_[i].as_string() : std::string_view{};
  }
  /// A dtype argument (passed as its number), or `otherwise` if none was given.
  [[nodiscard, gnu::noinline]] ScalarType dtype(std::size_t i, ScalarType otherwise) const noexcept {
    return args_[i].is_int() ? static_cast<ScalarType>(args_[i].as_int()) : otherwise;
  }
  /// A list argument: ints, tensors, ... ; a lone int counts as a list of one, none as empty.
  [[nodiscard, gnu::noinline]] std::span<const EValue> list(std::size_t i) const noexcept {
    if (args_[i].is_list()) return args_[i].as_list();
    if (args_[i].is_none()) return {};
    return args_.subspan(i, 1);
  }

  [[nodiscard]] std::size_t output_count() const noexcept { return outputs_.size(); }
  /// True if output i is wanted (an unused output of a multi-output operator may be absent from the graph).
  [[nodiscard]] bool wants(std::size_t i) const noexcept { return i < outputs_.size(); }
  [[nodiscard]] TensorView& output(std::size_t i) noexcept { return outputs_[i].tensor(); }
  /// Sets output i to a number, a bool or none.
  void set(std::size_t i, EValue value) noexcept {
    if (i < outputs_.size()) outputs_[i] = value;
  }

  /// Makes output i a contiguous tensor of this dtype and these sizes, uninitialised; afterwards `output(i)` is it.
  [[nodiscard, gnu::noinline]] ErrorCode make(std::size_t i, ScalarType dtype, std::span<const std::int64_t> sizes) {
    if (i >= outputs_.size()) return refuse(ErrorCode::invalid_program, "the node has fewer outputs than the operator");
    if (const ErrorCode code = place(i, dtype, sizes); code != ErrorCode::ok) return code;
    const OutputPlace& p = places_[i];
    contiguous_strides(sizes, {p.strides, sizes.size()});
    const std::size_t bytes = outputs_[i].tensor().nbytes();
    if (p.is_destination && bytes > p.capacity)
      return refuse(ErrorCode::invalid_shape, "an output is larger than the program declares");
    void* data = bytes <= p.capacity ? p.data : memory_->block(bytes);
    if (data == nullptr && bytes > 0) return refuse(ErrorCode::out_of_memory, "no memory for an output");
    outputs_[i].tensor().data = data == nullptr ? no_elements : data;
    return ErrorCode::ok;
  }
  [[nodiscard, gnu::noinline]] ErrorCode make_like(std::size_t i, const TensorView& like) {
    return make(i, like.dtype, like.sizes());
  }

  /// Makes output i a view of `base`'s storage, `offset` elements after its first element. The caller guarantees that
  /// sizes and strides stay inside it.
  [[nodiscard, gnu::noinline]] ErrorCode alias(std::size_t i, const TensorView& base,
                                               std::span<const std::int64_t> sizes,
                                               std::span<const std::int64_t> strides, std::int64_t offset = 0) {
    if (i >= outputs_.size()) return refuse(ErrorCode::invalid_program, "the node has fewer outputs than the operator");
    if (const ErrorCode code = place(i, base.dtype, sizes); code != ErrorCode::ok) return code;
    for (std::size_t d = 0; d < strides.size();
         ++d)  // nobody steps along one element: a step that cannot be multiplied is none
      places_[i].strides[d] = sizes[d] <= 1 && strides[d] > max_numel ? 1 : strides[d];
    outputs_[i].tensor().data = base.element_at(offset);
    outputs_[i].tensor().storage_offset = static_cast<std::uint32_t>(base.storage_offset + offset);
    return ErrorCode::ok;
  }

  /// Temporary memory for `count` objects of a trivial type; nullptr if there is none. A second request in one call
  /// invalidates the first: ask once.
  template <class T>
  [[nodiscard]] T* temporary(std::size_t count) {
    if (count > std::min<std::uint64_t>(max_numel, SIZE_MAX / sizeof(T) - 1)) return nullptr;
    return static_cast<T*>(memory_->temporary(count * sizeof(T) + 1));
  }

  /// Notes the sentence and returns the code.
  [[gnu::cold, gnu::noinline]] ErrorCode refuse(ErrorCode code, const char* sentence) noexcept {
    why = sentence;
    return code;
  }

 private:
  [[nodiscard, gnu::noinline]] ErrorCode place(std::size_t i, ScalarType dtype, std::span<const std::int64_t> sizes) {
    const OutputPlace& p = places_[i];
    if (sizes.size() > p.rank_limit)
      return refuse(ErrorCode::invalid_shape,
                    "the operator gives an output of a higher rank than the program declares");
    for (std::size_t d = 0; d < sizes.size(); ++d)
      if ((p.sizes[d] = sizes[d]) < 0) return refuse(ErrorCode::invalid_shape, "an output's size is negative");
    if (checked_numel(sizes, max_numel) < 0) return refuse(ErrorCode::out_of_memory, "an output is too large");
    outputs_[i] = EValue(TensorView{nullptr, p.sizes, p.strides, static_cast<std::uint8_t>(sizes.size()), dtype});
    return ErrorCode::ok;
  }

  std::span<const EValue> args_;
  std::span<EValue> outputs_;
  std::span<const OutputPlace> places_;
  KernelMemory* memory_;
};

/// A kernel: reads its arguments, makes and fills its outputs.
using Kernel = ErrorCode (*)(KernelCall&);

/// Whether an operator's outputs view an argument's storage instead of having their own: never, where that can be, or
/// always, and then no memory is planned for them, however many elements they show (expand).
enum class Aliasing : std::uint8_t { none, may_alias, always };

/// One row of the op table: the operator, its kernel, whether its outputs may be views of its first tensor argument,
/// and what else it takes.
struct OpRow {
  std::string_view name{};
  Kernel kernel = nullptr;
  Aliasing aliasing = Aliasing::none;
  bool takes_numbers = false;  ///< a parameter of type Tensor may be a number; the kernel asks is_tensor
  bool takes_complex = false;  ///< complex numbers, too
  bool updates = false;  ///< output 0 is argument 0 with other numbers in some places, and may be made in its place
  bool takes_epilogue = false;  ///< the kernel carries out KernelCall::epilogue
};

/// An operator that a user adds: its row, and its schema as torch writes it, "ns.op.overload(Tensor x) -> Tensor". A
/// custom object reaches the kernel as a string: its pickled state.
struct CustomOperator {
  OpRow row;
  std::string_view schema;
};
/// True if each has a kernel, and a schema of its name. O(size).
[[nodiscard]] constexpr bool are_complete(std::span<const CustomOperator> operators) noexcept {
  for (const CustomOperator& op : operators)
    if (op.row.kernel == nullptr || !is_schema(op.schema) || op.schema.substr(0, op.schema.find('(')) != op.row.name)
      return false;
  return true;
}

}  // namespace davit::portable_kernels
