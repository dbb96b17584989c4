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

/// The memory of a kernel: planned places for outputs, blocks beyond the plan (for data-dependent sizes), and temporary
/// bytes. Blocks live until the session's next run, temporary bytes until the kernel returns.
class KernelMemory {
 public:
  /// Sets the most bytes at a time.
  void set_limit(std::uint64_t bytes) noexcept { limit_ = bytes; }

  /// Returns a block for an output without a planned place; nullptr if there is no memory.
  [[nodiscard, gnu::noinline]] void* block(std::size_t bytes) {
    if (bytes > limit_ || blocks_size_ + temporary_.span().size() > limit_ - bytes) return nullptr;
    Scratch memory;
    if (!memory.reserve(std::max<std::size_t>(bytes, 1))) return nullptr;
    blocks_.push_back(std::move(memory));
    blocks_size_ += bytes;
    return blocks_.back().span().data();
  }
  /// Returns temporary bytes, kept and reused from call to call; nullptr if there is no memory.
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

/// The place of an output: its sizes and strides to fill in, and its planned bytes (none without a plan).
struct OutputPlace {
  std::int64_t* sizes = nullptr;    ///< `rank_limit` entries
  std::int64_t* strides = nullptr;  ///< `rank_limit` entries
  std::size_t rank_limit = 0;
  std::byte* data = nullptr;
  std::size_t capacity = 0;
  bool is_destination = false;  ///< of known sizes: the output must fit, or the call fails before it computes
};

/// Larger products of sizes are refused: no tensor of this many elements fits in memory.
inline constexpr std::int64_t max_numel = std::int64_t{1} << 40;

/// The address of tensors without elements and memory: no offset may be added to null.
alignas(64) inline std::byte no_elements[64];
/// Returns the value, with the address of `no_elements` if it is a tensor without memory.
[[nodiscard]] inline EValue with_address(EValue value) noexcept {
  if (value.is_tensor() && value.tensor().data == nullptr && value.tensor().numel() == 0)
    value.tensor().data = no_elements;
  return value;
}

struct RowEpilogue;

/// One call of a kernel: arguments in the order of the operator's schema with defaults filled in, and outputs.
///
/// A kernel checks its arguments, computes each output's sizes, requests it with `make` (or `alias` for a view), and
/// fills it. Tensors always have an address. It returns ErrorCode::ok or an error; `why` may describe it (a literal).
/// Kernels must not trust their arguments: any dtype, rank, size, stride (also 0, but not negative) and index may come
/// in. Functions that make outputs and convert arguments are not inlined: they run once per call, and every kernel
/// contains them.
class KernelCall {
 public:
  constexpr KernelCall(std::span<const EValue> args, std::span<EValue> outputs, std::span<const OutputPlace> places,
                       KernelMemory& memory) noexcept
      : args_(args), outputs_(outputs), places_(places), memory_(&memory) {}

  const char* why = nullptr;  ///< the sentence of an error, where the code is not enough
  UndoLog* undo = nullptr;    ///< of a call that may overwrite argument 0
  const RowEpilogue* epilogue =
      nullptr;               ///< of a convolution: the norm and the clamps behind it, which it computes too
  bool reads_state = false;  ///< arguments 1 and 2 are state that earlier runs wrote, such as a KV cache

  /// True if output 0 overwrites argument 0: `undo` must record the old elements.
  [[nodiscard]] bool is_in_place() const noexcept {
    return undo != nullptr && outputs_[0].tensor().data == args_[0].tensor().data;
  }

  [[nodiscard]] std::size_t arg_count() const noexcept { return args_.size(); }
  [[nodiscard]] const EValue& arg(std::size_t i) const noexcept { return args_[i]; }
  [[nodiscard]] bool has(std::size_t i) const noexcept { return !args_[i].is_none(); }
  [[nodiscard]] bool is_tensor(std::size_t i) const noexcept { return args_[i].is_tensor(); }
  /// Argument i as a tensor; the binder has checked parameters of type Tensor.
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
  /// A dtype argument (passed as its number), or `otherwise` if it is None.
  [[nodiscard, gnu::noinline]] ScalarType dtype(std::size_t i, ScalarType otherwise) const noexcept {
    return args_[i].is_int() ? static_cast<ScalarType>(args_[i].as_int()) : otherwise;
  }
  /// A list argument: ints, tensors, ... A lone int counts as a list of one, None as empty.
  [[nodiscard, gnu::noinline]] std::span<const EValue> list(std::size_t i) const noexcept {
    if (args_[i].is_list()) return args_[i].as_list();
    if (args_[i].is_none()) return {};
    return args_.subspan(i, 1);
  }

  [[nodiscard]] std::size_t output_count() const noexcept { return outputs_.size(); }
  /// True if output i is used (the graph may leave out unused outputs of an operator).
  [[nodiscard]] bool wants(std::size_t i) const noexcept { return i < outputs_.size(); }
  [[nodiscard]] TensorView& output(std::size_t i) noexcept { return outputs_[i].tensor(); }
  /// Sets output i to a number, a bool or None.
  void set(std::size_t i, EValue value) noexcept {
    if (i < outputs_.size()) outputs_[i] = value;
  }

  /// Makes output i a contiguous tensor of this dtype and these sizes, uninitialized: then `output(i)` is valid.
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
  /// the view stays inside the storage.
  [[nodiscard, gnu::noinline]] ErrorCode alias(std::size_t i, const TensorView& base,
                                               std::span<const std::int64_t> sizes,
                                               std::span<const std::int64_t> strides, std::int64_t offset = 0) {
    if (i >= outputs_.size()) return refuse(ErrorCode::invalid_program, "the node has fewer outputs than the operator");
    if (const ErrorCode code = place(i, base.dtype, sizes); code != ErrorCode::ok) return code;
    for (std::size_t d = 0; d < strides.size(); ++d)  // no one steps along a single element: an overflowing stride is 0
      places_[i].strides[d] = sizes[d] <= 1 && strides[d] > max_numel ? 1 : strides[d];
    outputs_[i].tensor().data = base.element_at(offset);
    outputs_[i].tensor().storage_offset = static_cast<std::uint32_t>(base.storage_offset + offset);
    return ErrorCode::ok;
  }

  /// Returns temporary memory for `count` objects of a trivial type; nullptr if there is none. A second request in one
  /// call invalidates the first.
  template <class T>
  [[nodiscard]] T* temporary(std::size_t count) {
    if (count > std::min<std::uint64_t>(max_numel, SIZE_MAX / sizeof(T) - 1)) return nullptr;
    return static_cast<T*>(memory_->temporary(count * sizeof(T) + 1));
  }

  /// Records the sentence and returns the code.
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

/// Whether an operator's outputs view an argument's storage: never, possibly, or always. An output that is always a
/// view gets no planned memory, however many elements it has (expand).
enum class Aliasing : std::uint8_t { none, may_alias, always };

/// One row of the op table: the operator, its kernel, the aliasing of its outputs with its first tensor argument, and
/// further properties.
struct OpRow {
  std::string_view name{};
  Kernel kernel = nullptr;
  Aliasing aliasing = Aliasing::none;
  bool takes_numbers = false;   ///< a parameter of type Tensor may be a number; the kernel checks is_tensor
  bool takes_complex = false;   ///< also complex numbers
  bool updates = false;         ///< output 0 is argument 0 with some elements replaced, and may overwrite it
  bool takes_epilogue = false;  ///< the kernel computes KernelCall::epilogue
};

/// An operator that a user adds: its row, and its schema as torch writes it, "ns.op.overload(Tensor x) -> Tensor". A
/// custom object is passed to the kernel as a string, its pickled state.
struct CustomOperator {
  OpRow row;
  std::string_view schema;
};
/// True if each has a kernel, and a schema that begins with its name. O(size).
[[nodiscard]] constexpr bool are_complete(std::span<const CustomOperator> operators) noexcept {
  for (const CustomOperator& op : operators)
    if (op.row.kernel == nullptr || !is_schema(op.schema) || op.schema.substr(0, op.schema.find('(')) != op.row.name)
      return false;
  return true;
}

}  // namespace davit::portable_kernels
