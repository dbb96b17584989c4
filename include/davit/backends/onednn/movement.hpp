// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "davit/backends/onednn/builder.hpp"
#include "davit/backends/onednn/operands.hpp"
#include "davit/program/operators/movement.hpp"

/// Operators that only rearrange elements; most need no step.
namespace davit::onednn_ops {

/// The same elements in the same order, in other sizes: view, reshape, flatten, squeeze, unsqueeze, clone, dropout in
/// evaluation, expand to the same sizes.
[[nodiscard]] inline const char* describe_view(const NodeArguments& in, const OpRow& row, Operation& op) {
  const ValueId x = in.value({row.name == "aten.dropout.default" ? "input" : "self", 0});
  if (x == no_id) return "an operand is no tensor";
  if (row.name == "aten.dropout.default" && in.flag({"train", 2}, true)) return "it drops values at random";
  if (in.graph().values[x].dtype != in.graph().values[in.output()].dtype) return "the dtypes of its tensors differ";
  if (count_of(sizes_of(in.graph(), x)) != count_of(sizes_of(in.graph(), in.output())))
    return "the number of elements changes";
  op.kind = OpKind::view;
  op.inputs = {x};
  return nullptr;
}

/// aten.expand.
[[nodiscard]] inline const char* describe_expand(const NodeArguments& in, const OpRow& row, Operation& op) {
  const ValueId x = in.value({"self", 0});
  if (x == no_id) return "an operand is no tensor";
  const Dims from = sizes_of(in.graph(), x), to = sizes_of(in.graph(), in.output());
  if (count_of(from) == count_of(to)) return describe_view(in, row, op);
  if (from.size() > to.size()) return "the output does not fit";
  for (std::size_t d = 0; d < from.size(); ++d)
    if (const std::int64_t whole = to[to.size() - from.size() + d]; from[d] != 1 && from[d] != whole)
      return "the output does not fit";
  op.kind = OpKind::expand;
  op.inputs = {x};
  return nullptr;
}

/// aten.full: a constant, made at compile time.
[[nodiscard]] inline const char* describe_fill(const NodeArguments& in, const OpRow&, Operation& op) {
  const std::optional<double> number =
      in.find({"fill_value", 1}) == nullptr ? std::nullopt : in.number({"fill_value", 1}, 0);
  if (!number) return "the number is not known before the run";
  if (count_of(sizes_of(in.graph(), in.output())) > 1 << 20) return "the constant would take much memory";
  op.kind = OpKind::fill;
  op.epsilon = static_cast<float>(*number);
  return nullptr;
}

/// permute, transpose and t.
[[nodiscard]] inline const char* describe_permute(const NodeArguments& in, const OpRow& row, Operation& op) {
  operators::PermutationView view;
  if (const Refusal wrong = operators::read_permutation(in, view)) return wrong.what;
  if (view.rank < 2) return describe_view(in, row, op);
  op.kind = OpKind::permute;
  op.inputs = {view.input};
  op.permutation.assign(view.from.begin(), view.from.begin() + static_cast<std::ptrdiff_t>(view.rank));
  const Dims source = sizes_of(in.graph(), view.input);
  const Dims out = sizes_of(in.graph(), in.output());
  for (std::size_t d = 0; d < view.rank; ++d)
    if (out.size() != view.rank || out[d] != source[static_cast<std::size_t>(op.permutation[d])])
      return "the output's sizes do not fit";
  return nullptr;
}

/// slice and select.
[[nodiscard]] inline const char* describe_slice(const NodeArguments& in, const OpRow&, Operation& op) {
  operators::SliceView view;
  if (const Refusal wrong = operators::read_slice(in, view)) return wrong.what;
  const Dims source = sizes_of(in.graph(), view.input);
  const Dims out = sizes_of(in.graph(), in.output());
  op.kind = OpKind::slice;
  op.inputs = {view.input};
  op.axis = static_cast<int>(view.dim);
  op.first = {view.start};
  op.step = view.step;
  if (in.rank(in.output()) + (view.selects ? 1 : 0) != source.size()) return "the output does not fit";
  const std::int64_t size = source[view.dim];
  const std::int64_t count = view.selects ? 1 : out[view.dim];
  Dims expected = source;
  expected[view.dim] = count;
  if (view.selects) expected.erase(expected.begin() + op.axis);
  if (expected.empty()) expected.push_back(1);
  const bool fits =
      expected == out && view.start < size && (count < 2 || view.step <= (size - 1 - view.start) / (count - 1));
  return fits ? nullptr : "the output does not fit";
}

/// split with the sizes of the outputs.
[[nodiscard]] inline const char* describe_split(const NodeArguments& in, const OpRow&, Operation& op) {
  operators::SliceView whole;
  if (const Refusal wrong = operators::read_split(in, whole)) return wrong.what;
  const std::size_t d = whole.dim;
  Dims part = sizes_of(in.graph(), whole.input);
  op.kind = OpKind::slice;
  op.inputs = {whole.input};
  op.axis = static_cast<int>(d);
  const std::int64_t size = part[d];
  op.outputs.clear();
  if (in.call().outputs.size() != 1 || !in.call().outputs[0].is_list()) return "its outputs are no list";
  std::int64_t at = 0;
  for (const Argument& item : in.graph().args(in.call().outputs[0].items)) {
    if (!item.is_value() || in.rank(item.value()) != part.size()) return "an output does not fit";
    const Dims sizes = sizes_of(in.graph(), item.value());
    part[d] = sizes[d];
    if (sizes != part || sizes[d] > size - at) return "an output does not fit";
    op.outputs.push_back(item.value());
    op.first.push_back(at);
    at += sizes[d];
  }
  return nullptr;
}

/// aten.cat of tensors of one rank.
[[nodiscard]] inline const char* describe_concat(const NodeArguments& in, const OpRow&, Operation& op) {
  const Dims out = sizes_of(in.graph(), in.output());
  std::size_t axis = 0;
  if (const Refusal wrong = operators::read_cat(in, out.size(), axis)) return wrong.what;
  std::int64_t total = 0;
  for (const Argument& item : in.items(*in.find({"tensors", 0}))) {
    if (!item.is_value()) return "an operand is no tensor";
    Dims dims = sizes_of(in.graph(), item.value());
    if (dims.size() != out.size()) return "the operands' ranks differ";
    total += dims[axis];
    dims[axis] = out[axis];
    if (dims != out) return "the operands' sizes differ";
    op.inputs.push_back(item.value());
  }
  if (total != out[axis]) return "the output's sizes do not fit";
  op.kind = OpKind::concat;
  op.axis = static_cast<int>(axis);
  return nullptr;
}

/// aten.constant_pad_nd with zeros, none of them negative.
[[nodiscard]] inline const char* describe_pad(const NodeArguments& in, const OpRow&, Operation& op) {
  operators::PadView view;
  if (const Refusal wrong = operators::read_pad(in, view)) return wrong.what;
  if (view.value != 0 || std::signbit(view.value)) return "it pads with something else than 0";
  const Dims source = sizes_of(in.graph(), view.input);
  const Dims out = sizes_of(in.graph(), in.output());
  if (view.rank == 0 || out.size() != source.size()) return "the padding does not fit the rank";
  const auto rank = static_cast<std::ptrdiff_t>(view.rank);
  op.pad_left.assign(view.before.begin(), view.before.begin() + rank);
  op.pad_right.assign(view.after.begin(), view.after.begin() + rank);
  for (std::size_t d = 0; d < source.size(); ++d)
    if (op.pad_left[d] < 0 || op.pad_right[d] < 0 || source[d] + op.pad_left[d] + op.pad_right[d] != out[d])
      return "the padding is negative or does not fit";
  op.kind = OpKind::pad;
  op.inputs = {view.input};
  return nullptr;
}

inline void emit_view(Builder& b, const Operation& op) { b.place(op.outputs[0], b.place_of(op.inputs[0])); }

/// Broadcasts an operand to the sizes `dims`.
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
        count * op.step > dims_of(whole.md)[axis]) {  // no whole step follows the last element: it is copied by itself
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

/// A block whose parts are all parts of a concatenation, and which can become a piece of it.
struct JoinedBlock {
  std::uint32_t storage = no_id;
  std::size_t offset = 0;  ///< in the concatenation
  std::size_t bytes = 0;   ///< of its parts
};
/// The blocks of parts that can be computed in place in a concatenation along `axis`. A part may lie in an earlier
/// concatenation, if all parts of that are parts of this one, as in a DenseNet.
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
    at->bytes += fits ? part.md.get_size() : b.bytes_of(block) + 1;  // more than possible: the block stays apart
  }
  std::erase_if(blocks, [&](const JoinedBlock& block) {
    return !b.is_free_scratch(block.storage) || block.bytes != b.bytes_of(block.storage);
  });
  return blocks;
}

/// Contiguous parts are computed in place; other parts are copied by reorders, which are far faster than the library's
/// concat.
inline void emit_concat(Builder& b, const Operation& op) {
  const auto axis = static_cast<std::size_t>(op.axis);
  std::vector<Place> parts;
  std::vector<MemoryDesc> layouts;
  for (const ValueId v : op.inputs) {
    parts.push_back(b.place_of(v));
    layouts.push_back(parts.back().md);
  }
  MemoryDesc whole = plain_of(b.graph(), op.outputs[0]);
  if (const auto pd = join_descriptor(b.attributes(), op.axis, layouts); pd && !is_reference(pd)) {
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
