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

/// What a step does. Those before `own` are XNNPACK's operators.
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
  kernel,        ///< one of portable's; `weights`: row of Plan::kernels
  check_values,  ///< that they are ordinary; the output is the input
};

/// A two-dimensional window: convolutions and pools.
struct Window {
  std::array<std::uint32_t, 2> kernel{1, 1}, stride{1, 1}, dilation{1, 1};
  std::array<std::uint32_t, 4> padding{};         ///< top, right, bottom, left
  std::array<std::uint32_t, 2> output_padding{};  ///< of a transposed convolution
  std::uint32_t groups = 1;
};

/// How float values and integers correspond: value = scale * (integer - zero_point).
struct Quantization {
  float scale = 1;
  std::int32_t zero_point = 0;
  friend constexpr bool operator==(const Quantization&, const Quantization&) = default;
};

/// Constant weights of an operator, with what is folded into them when they are packed.
struct Weights {
  Tensor kernel;  ///< as the program has it: [out, in / groups, ...], [out, in] or, transposed, [in, out / groups,
                  ///< ...], [in, out]
  bool transposed = false;
  Tensor bias;                                  ///< [out], or undefined
  Tensor scale{}, shift{}, mean{}, variance{};  ///< of a batch norm after it, or undefined
  bool has_norm = false;
  double eps = 0;
  std::vector<float> kernel_scales{};  ///< int8: per output channel, or one
};

inline constexpr float infinity = std::numeric_limits<float>::infinity();

struct Step {
  Op op = Op::copy;
  std::uint32_t in = no_id;  ///< a slot; of a kernel no_id
  std::uint32_t out = no_id;
  float min = -infinity;
  float max = infinity;
  Window window{};
  std::uint32_t weights = no_id;  ///< row of Plan::weights
  std::uint32_t axis = 0;         ///< copy: dimension of `start`
  std::int64_t start = 0;  ///< copy: first index of the source (or, with `into`, of the destination) along `axis`
  std::int64_t step = 1;
  bool into = false;
  std::array<Quantization, 2> quantization{};  ///< of in[0] and out
  std::int32_t low = -128, high = 127;         ///< of a quantized output
  NodeId node = no_id;
};

/// A call of a kernel of portable's. Sizes are a run's.
struct KernelRow {
  portable_kernels::KernelStep step{};
  std::vector<std::uint32_t> slots{};  ///< of its operands, then of its results
  bool elementwise = false;            ///< dimensions in the order in which the first result lies
};

/// True if davit's own kernels do the step.
[[nodiscard]] constexpr bool is_own(const Step& step) noexcept { return step.op >= Op::own; }

enum class Place : std::uint8_t { arena, input, output, constant };

/// A block of memory that steps write or read.
struct Buffer {
  Place place = Place::arena;
  std::uint32_t number = 0;  ///< which input, output or constant
  std::uint32_t first = 0;   ///< the step that writes it first
  std::uint32_t last = 0;    ///< the last step that reads or writes it; no_id: it is kept
  bool read = false;         ///< a step reads it
  std::uint32_t slot = 0;    ///< the slot that covers all of it
};

/// A tensor in a buffer: dense in `order`, or every row of its innermost dimension `pitch` elements after the last one.
struct Slot {
  std::uint32_t buffer = 0;
  Range dims;  ///< logical sizes, rows of Plan::dims
  DimOrder order;
  ScalarType dtype = ScalarType::float32;
  std::int64_t pitch = 0;   ///< 0: dense
  std::int64_t offset = 0;  ///< elements into the buffer
};

/// What a method's execute does, in order; immutable, shared by its sessions.
struct Plan {
  std::vector<Dim> dims;
  std::vector<Slot> slots;
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  std::vector<Weights> weights;
  std::vector<KernelRow> kernels;
  std::vector<Tensor> constants;             ///< dense, with room to read past their end
  std::vector<ValueId> input_values;         ///< per delegate input; no_id for none
  std::vector<std::uint8_t> checked_inputs;  ///< per delegate input: 1 if its values have to be ordinary
  bool always_falls_back = false;  ///< a constant holds what would get lost: every run is one of the exact kernels
  bool exact = false;              ///< nothing that loses NaN or infinities goes unnoticed
  std::vector<std::uint32_t> output_slots;  ///< per graph output; no_id for one that is no tensor of the plan

  [[nodiscard]] std::span<const Dim> sizes(std::uint32_t slot) const noexcept {
    return std::span(dims).subspan(slots[slot].dims.first, slots[slot].dims.count);
  }
};

}  // namespace davit::xnnpack_parts
