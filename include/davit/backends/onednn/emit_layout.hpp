// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "davit/backends/onednn/builder.hpp"

/// Steps of operations that only say where elements lie; most of them need none.
namespace davit::onednn_ops {

inline void emit_view(Builder& b, const Operation& op) { b.place(op.outputs[0], b.place_of(op.inputs[0])); }

/// Repeats what broadcasts: the operand in the sizes `dims`.
[[nodiscard]] inline Place expanded(Builder& b, const Place& from, Dims own, const Dims& dims) {
  own.insert(own.begin(), dims.size() - own.size(), 1);
  const Place source = b.viewed(b.row_major(from), own);
  const Place to = b.add_scratch(plain(dims, type_of(from.md)));
  b.add_broadcast(source, to);
  return to;
}
inline void emit_expand(Builder& b, const Operation& op) {
  b.place(op.outputs[0], expanded(b, b.place_of(op.inputs[0]), b.sizes(op.inputs[0]), b.sizes(op.outputs[0])));
}

inline void emit_fill(Builder& b, const Operation& op) {
  const MemoryDesc md = plain_of(b.graph(), op.outputs[0]);
  if (b.trial()) return b.place(op.outputs[0], b.add_scratch(md));
  const Place to = b.add_constant(md);
  std::byte* const bytes = b.constant_data(to);
  if (type_of(md) == DataType::bf16)
    std::fill_n(reinterpret_cast<BFloat16*>(bytes), md.get_size() / sizeof(BFloat16), BFloat16(op.epsilon));
  else
    std::fill_n(reinterpret_cast<float*>(bytes), md.get_size() / sizeof(float), op.epsilon);
  b.place(op.outputs[0], to);
}

inline void emit_permute(Builder& b, const Operation& op) {
  b.place(op.outputs[0], permuted(b.place_of(op.inputs[0]), op.permutation));
}

inline void emit_slice(Builder& b, const Operation& op) {
  Place whole = b.place_of(op.inputs[0]);
  if (!blocking_of(whole.md).is_plain()) whole = b.row_major(whole);
  const auto axis = static_cast<std::size_t>(op.axis);
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    const Dims dims = b.sizes(op.outputs[i]);
    const bool select = dims.size() < dims_of(whole.md).size() || b.graph().values[op.outputs[i]].sizes.count == 0;
    const std::int64_t count = select ? 1 : dims[axis];
    if (count > 1 &&
        count * op.step >
            dims_of(whole.md)[axis]) {  // the last element has no whole step behind it: it is copied by itself
      const Place to = b.add_scratch(plain(dims, type_of(whole.md)));
      b.copy(sliced(whole, axis, op.first[i], count - 1, op.step), sliced(to, axis, 0, count - 1, 1));
      b.copy(sliced(whole, axis, op.first[i] + (count - 1) * op.step, 1, 1), sliced(to, axis, count - 1, 1, 1));
      b.place(op.outputs[i], to);
      continue;
    }
    const Place part = sliced(whole, axis, op.first[i], count, op.step);
    b.place(op.outputs[i], select ? without_dimension(part, axis) : part);
  }
}

inline void emit_pad(Builder& b, const Operation& op) {
  const Dims dims = b.sizes(op.outputs[0]);
  const Place to = b.add_scratch(plain_of(b.graph(), op.outputs[0]));
  b.add_zeros(to);
  Place inside = to;
  for (std::size_t d = 0; d < dims.size(); ++d)
    inside = sliced(inside, d, op.pad_left[d], dims[d] - op.pad_left[d] - op.pad_right[d], 1);
  b.copy(b.place_of(op.inputs[0]), inside);
  b.place(op.outputs[0], to);
}

/// A block whose parts are all parts of a concatenation, which it can become a piece of.
struct JoinedBlock {
  std::uint32_t storage = no_id;
  std::size_t offset = 0;  ///< in the whole
  std::size_t bytes = 0;   ///< of the parts in it
};
/// The blocks of parts that can be made in their places of a concatenation along `axis`. A part may lie in an earlier
/// concatenation, of which all parts are parts of this one, as in a DenseNet.
[[nodiscard]] inline std::vector<JoinedBlock> joined_blocks(const Builder& b, std::span<const Place> parts,
                                                            const MemoryDesc& whole, std::size_t axis) {
  std::vector<JoinedBlock> blocks;
  std::int64_t first = 0;
  for (const Place& part : parts) {
    const std::optional<std::size_t> offset = part_offset(whole, part.md, axis, first);
    first += dims_of(part.md)[axis];
    const auto [block, inside] = b.block_of(part);
    auto at = std::ranges::find(blocks, block, &JoinedBlock::storage);
    if (at == blocks.end()) at = blocks.insert(at, {block, offset ? *offset - inside : 0});
    const bool fits = offset && *offset >= inside && at->offset == *offset - inside;
    at->bytes += fits ? part.md.get_size() : b.bytes_of(block) + 1;  // more than there are: it stays apart
  }
  std::erase_if(blocks, [&](const JoinedBlock& block) {
    return !b.is_free_scratch(block.storage) || block.bytes != b.bytes_of(block.storage);
  });
  return blocks;
}

/// Parts that lie in one piece of the whole are made in their places; the others are copied there, which the library's
/// concatenation does far slower than its reorders.
inline void emit_concat(Builder& b, const Operation& op) {
  const auto axis = static_cast<std::size_t>(op.axis);
  std::vector<Place> parts;
  std::vector<MemoryDesc> layouts;
  for (const ValueId v : op.inputs) {
    parts.push_back(b.place_of(v));
    layouts.push_back(parts.back().md);
  }
  MemoryDesc whole = plain_of(b.graph(), op.outputs[0]);
  if (const auto pd = describe_concat(b.attributes(), op.axis, layouts); pd && !is_reference(pd)) {
    const std::int64_t block = blocking_of(pd.dst_desc()).block_of(op.axis);
    if (std::ranges::all_of(parts, [&](const Place& part) { return dims_of(part.md)[axis] % block == 0; }))
      whole = pd.dst_desc();
  }
  const Place to = b.add_scratch(whole);
  for (const JoinedBlock& block : joined_blocks(b, parts, whole, axis)) b.join(block.storage, to.storage, block.offset);
  Dims first(dims_of(whole).size(), 0);
  for (const Place& part : parts) {
    if (b.block_of(part).first != to.storage)
      b.copy(part, {whole.submemory_desc(dims_of(part.md), first), to.storage, to.offset});
    first[axis] += dims_of(part.md)[axis];
  }
  b.place(op.outputs[0], to);
}

}  // namespace davit::onednn_ops
