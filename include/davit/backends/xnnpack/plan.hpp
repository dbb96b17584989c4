// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "davit/backends/portable/run_time/kernel_step.hpp"
#include "davit/backends/xnnpack/call.hpp"
#include "davit/backends/xnnpack/dim_order.hpp"
#include "davit/core/tensor.hpp"
#include "davit/program/graph.hpp"

namespace davit::xnnpack_parts {

/// The kind of a step. Kinds before `own` are XNNPACK's operators.
enum class Op : std::uint8_t {
  convolution,
  transposed_convolution,
  quantized_convolution,
  fully_connected,
  max_pool,
  max_pool_s8,
  average_pool,
  own,
  copy = own,
  kernel,        ///< one of portable's kernels; `weights`: row of Plan::kernels
  check_values,  ///< checks the input, which is also the output
};

/// A two-dimensional window of a convolution or pool.
struct Window {
  std::array<std::uint32_t, 2> kernel{1, 1}, stride{1, 1}, dilation{1, 1};
  std::array<std::uint32_t, 4> padding{};         ///< top, right, bottom, left
  std::array<std::uint32_t, 2> output_padding{};  ///< of a transposed convolution
  std::uint32_t groups = 1;
};

/// The relation of floats to integers: value = scale * (integer - zero_point).
struct Quantization {
  float scale = 1;
  std::int32_t zero_point = 0;
  friend constexpr bool operator==(const Quantization&, const Quantization&) = default;
};

/// Constant weights of an operator, with the norm that is folded into them when they are packed.
struct Weights {
  Tensor kernel;  ///< as the program has it: [out, in / groups, ...], [out, in] or, transposed, [in, out / groups,
                  ///< ...], [in, out]
  bool transposed = false;
  Tensor bias;                                  ///< [out], or undefined
  Tensor scale{}, shift{}, mean{}, variance{};  ///< of a batch norm after it, or undefined
  bool has_norm = false;
  double eps = 0;
  std::vector<float> kernel_scales{};  ///< int8: one per output channel, or one
};

inline constexpr float infinity = std::numeric_limits<float>::infinity();

struct Step {
  Op op = Op::copy;
  std::uint32_t in = no_id;  ///< a slot; of a kernel: no_id
  std::uint32_t out = no_id;
  float min = -infinity;
  float max = infinity;
  Window window{};
  std::uint32_t weights = no_id;  ///< row of Plan::weights
  std::uint32_t axis = 0;         ///< copy: dimension of `start`
  std::int64_t start = 0;         ///< copy: first index along `axis`, of the source or, with `into`, of the destination
  std::int64_t step = 1;
  bool into = false;
  std::array<Quantization, 2> quantization{};  ///< of in[0] and out
  std::int32_t low = -128, high = 127;         ///< of a quantized output
  NodeId node = no_id;
};

/// A call of one of portable's kernels. Sizes are set in each run.
struct KernelRow {
  portable_kernels::KernelStep step{};
  std::vector<std::uint32_t> slots{};  ///< of its operands, then of its results
  bool elementwise = false;            ///< all tensors have the first result's order of dimensions
};

/// True if davit's own kernels compute the step.
[[nodiscard]] constexpr bool is_own(const Step& step) noexcept { return step.op >= Op::own; }

enum class Place : std::uint8_t { arena, input, output, constant };

/// A block of memory of steps.
struct Buffer {
  Place place = Place::arena;
  std::uint32_t number = 0;  ///< index of the input, output or constant
  std::uint32_t first = 0;   ///< the step that first writes it
  std::uint32_t last = 0;    ///< the last step that reads or writes it; no_id: kept
  bool read = false;         ///< a step reads it
  std::uint32_t slot = 0;    ///< the slot over the whole buffer
};

/// A tensor in a buffer: dense in `order`, or with rows of its innermost dimension `pitch` elements apart.
struct Slot {
  std::uint32_t buffer = 0;
  Range dims;  ///< logical sizes, rows of Plan::dims
  DimOrder order;
  ScalarType dtype = ScalarType::float32;
  std::int64_t pitch = 0;   ///< 0: dense
  std::int64_t offset = 0;  ///< in elements from the buffer's start
};

/// The steps of a method, in order; immutable, shared by its sessions.
struct Plan {
  std::vector<Dim> dims;
  std::vector<Slot> slots;
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  std::vector<Weights> weights;
  std::vector<KernelRow> kernels;
  std::vector<Tensor> constants;             ///< dense, with slack behind the end
  std::vector<ValueId> input_values;         ///< per delegate input; no_id for none
  std::vector<std::uint8_t> checked_inputs;  ///< per delegate input: 1 if it is checked
  bool always_falls_back = false;            ///< a constant fails its check: every run uses exact kernels
  bool exact = false;                        ///< values are checked where NaN or infinities may get lost
  std::vector<std::uint32_t> output_slots;   ///< per graph output; no_id for an output that is no tensor of the plan

  [[nodiscard]] std::span<const Dim> sizes(std::uint32_t slot) const noexcept {
    return std::span(dims).subspan(slots[slot].dims.first, slots[slot].dims.count);
  }
};

}  // namespace davit::xnnpack_parts
