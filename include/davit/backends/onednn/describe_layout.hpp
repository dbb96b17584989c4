// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <optional>

#include "davit/backends/onednn/operands.hpp"
#include "davit/backends/onednn/op_row.hpp"
#include "davit/program/operators/movement.hpp"

namespace davit::onednn_ops {

/// The same elements in the same order, in other sizes: view, reshape, flatten, squeeze, unsqueeze, clone, dropout that
/// does nothing, expand that does not.
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

/// aten.full: a constant that is made when compiling.
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

/// split into sizes: those of the outputs.
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

}  // namespace davit::onednn_ops
