// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "davit/backends/onednn/builder.hpp"
#include "davit/backends/onednn/floats.hpp"

namespace davit::onednn_ops {

/// The operations of a chain: the base, a batch norm that is folded into its weights, and the epilogue.
struct ChainView {
  const Operation* base = nullptr;
  const Operation* norm = nullptr;
  std::span<const Operation* const> epilogue{};

  /// The result of the base, before the epilogue.
  [[nodiscard]] ValueId start() const noexcept { return norm != nullptr ? norm->outputs[0] : base->outputs[0]; }
  [[nodiscard]] ValueId result() const noexcept { return epilogue.empty() ? start() : epilogue.back()->outputs[0]; }
};

/// Post-ops of a primitive, and their tensors.
struct Epilogue {
  dnnl::primitive_attr attributes;
  std::vector<Builder::Role> roles;
  ValueId sum = no_id;                        ///< the value that the result is added to, in place
  const Operation* depthwise = nullptr;       ///< a depthwise convolution as a post-op
  const Operation* depthwise_norm = nullptr;  ///< the batch norm folded into its weights
};

namespace detail {

/// The operand of a post-op in the primitive's sizes `dims`, with broadcast dimensions of size 1; nothing if it needs a
/// copy.
[[nodiscard]] inline std::optional<Place> post_operand(const Builder& b, ValueId v, const Dims& full,
                                                       const Dims& dims) {
  const Place& place = b.place_of(v);
  Dims own = b.sizes(v);
  if (count_of(own) == count_of(dims)) return attempt([&] { return reshaped(place, dims); });
  own.insert(own.begin(), full.size() - own.size(), 1);
  if (full != dims) {  // rows of a matrix: only an operand that is broadcast to all rows
    if (count_of(own) != own.back()) return std::nullopt;
    own = Dims(dims.size(), 1);
    own.back() = count_of(b.sizes(v));
  }
  return attempt([&] { return reshaped(place, own); });
}

}  // namespace detail

/// The epilogue as attributes of a primitive whose destination has the sizes `dims`; nothing if they cannot express it.
[[nodiscard]] inline std::optional<Epilogue> make_epilogue(Builder& b, const ChainView& chain, const Dims& dims) {
  Epilogue out;
  dnnl::post_ops ops;
  std::vector<Function> functions;
  ValueId v = chain.start();
  for (std::size_t i = 0; i < chain.epilogue.size(); ++i) {
    const Operation* const op = chain.epilogue[i];
    if (op->kind == OpKind::eltwise) {
      for (const Function& f : op->functions) {
        for (const Function& before : functions)
          if (faults.repeated_functions && before.algorithm == f.algorithm && before != f) return std::nullopt;
        functions.push_back(f);
        append_eltwise(ops, f.algorithm, f.alpha, f.beta);
      }
    } else if (op->kind == OpKind::convolution) {
      out.depthwise = op;
      const bool normed = i + 1 < chain.epilogue.size() && chain.epilogue[i + 1]->kind == OpKind::batch_norm;
      const bool biased = normed || op->inputs[2] != no_id;
      append_depthwise(ops, biased ? DataType::f32 : DataType::undef, op->kernel[0], op->strides[0], op->pad_left[0]);
    } else if (op->kind == OpKind::batch_norm) {
      out.depthwise_norm = op;
    } else if (op->kind == OpKind::binary) {
      const ValueId other = op->inputs[0] == v ? op->inputs[1] : op->inputs[0];
      if (op->algorithm == algorithm::binary_add && chain.base->kind != OpKind::binary && out.sum == no_id &&
          other != no_id && count_of(b.sizes(other)) == count_of(dims) && b.is_last_use(other)) {
        ops.append_sum(1.0f);
        out.sum = other;
      } else {
        const std::optional<Place> operand = other == no_id ? std::optional(b.number(op->epsilon, dims.size()))
                                                            : detail::post_operand(b, other, b.sizes(v), dims);
        if (!operand) return std::nullopt;
        out.roles.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(ops.len()) | DNNL_ARG_SRC_1, *operand});
        ops.append_binary(op->algorithm, operand->md);
      }
    }
    v = op->outputs[0];
  }
  out.attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  out.attributes.set_post_ops(ops);
  return out;
}

/// True if an implementation reads the epilogue's tensors correctly: tensors of the destination's sizes have its
/// layout, or are row-major as it is; broadcast tensors are row-major, as the library reads them. Of broadcast tensors
/// its "jit:uni" binary misreads a number per channel if only batch and channels of the destination, of more than two
/// dimensions, are larger than 1, and writes nothing if the batch is the innermost dimension; its gemm convolution
/// misreads all but numbers per channel if the destination is not row-major.
[[nodiscard]] inline bool operands_fit(const Epilogue& epilogue, const MemoryDesc& destination,
                                       std::string_view implementation) {
  const Dims full = dims_of(destination);
  const Blocking layout = blocking_of(destination);
  const bool channels_last = layout.known && (!layout.blocks.empty() || (full.size() > 1 && layout.strides[1] == 1));
  return std::ranges::all_of(epilogue.roles, [&](const Builder::Role& role) {
    const MemoryDesc& md = role.place.md;
    const Dims dims = dims_of(md);
    if (dims == full) return md == destination || (is_row_major(md) && is_row_major(destination));
    if (!is_row_major(md)) return false;
    const bool per_channel = full.size() > 2 && dims[1] == count_of(dims);
    if (implementation.find("gemm") != implementation.npos) return per_channel || is_row_major(destination);
    if (implementation != "jit:uni") return true;
    if (!is_row_major(destination) && !channels_last) return false;
    return !per_channel || dims[1] == 1 || count_of(full) != full[0] * full[1];
  });
}
/// True if an implementation is correct for this layout: see Faults::narrow_blocks.
[[nodiscard]] inline bool layout_fits(const MemoryDesc& destination, std::string_view implementation) {
  const std::int64_t width = has_wide_vectors() ? 16 : 8;
  const Dims dims = dims_of(destination);
  const std::int64_t block = dims.size() > 1 ? blocking_of(destination).block_of(1) : 1;
  return !faults.narrow_blocks || implementation != "jit:uni" || block == 1 || block == width || dims[1] % width == 0;
}
/// True if the library has a fast and correct primitive with this epilogue. For bfloat16, portable's kernels are faster
/// than implementations without code for the CPU.
template <class PrimitiveDesc>
[[nodiscard]] bool is_usable(const PrimitiveDesc& pd, const ChainView& chain, const Epilogue& epilogue) {
  if (!pd) return false;
  if (chain.epilogue.empty()) return type_of(pd.dst_desc()) == DataType::f32 || !is_reference(pd);
  return !is_reference(pd) && operands_fit(epilogue, pd.dst_desc(), pd.impl_info_str()) &&
         layout_fits(pd.dst_desc(), pd.impl_info_str());
}

/// The destination of the primitive: in place of the value of a sum post-op, or a new place.
[[nodiscard]] inline Place destination(Builder& b, const Epilogue& epilogue, const MemoryDesc& md) {
  if (epilogue.sum == no_id) return b.add_scratch(md);
  return b.reordered(
      b.viewed(type_of(md) == DataType::f32 ? floats(b, epilogue.sum) : b.place_of(epilogue.sum), dims_of(md)), md);
}

}  // namespace davit::onednn_ops
