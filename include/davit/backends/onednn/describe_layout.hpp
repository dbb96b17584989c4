// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>

#include "davit/backends/onednn/operands.hpp"
#include "davit/backends/onednn/op_row.hpp"

namespace davit::onednn_ops {

/// The same elements in the same order, in other sizes: view, reshape, flatten, squeeze, unsqueeze, clone, dropout that
/// does nothing, expand that does not.
[[nodiscard]] inline const char* describe_view(const NodeArguments& in, const OpRow& row, Operation& op) {
  const ValueId x = in.value({row.name == "aten.dropout.default" ? "input" : "self", 0});
  if (x == no_id) return "an operand is no tensor";
  if (row.name == "aten.dropout.default" && in.flag({"train", 2}, true)) return "it drops values at random";
  if (count_of(sizes_of(in.graph(), x)) != count_of(sizes_of(in.graph(), in.output()))) return "the number of elements changes";
  op.kind = OpKind::view;
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
  const ValueId x = in.value({"self", 0});
  if (x == no_id) return "an operand is no tensor";
  const std::size_t rank = sizes_of(in.graph(), x).size();
  op.kind = OpKind::permute;
  op.inputs = {x};
  op.permutation.resize(rank);
  std::iota(op.permutation.begin(), op.permutation.end(), 0);
  if (row.name == "aten.permute.default") {
    Dims dims;
    if (!in.ints({"dims", 1}, dims) || dims.size() != in.rank(x)) return "the dimensions are no permutation";
    std::vector<bool> seen(rank, false);
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const std::optional<int> axis = dimension(dims[d], rank);
      if (!axis || seen[static_cast<std::size_t>(*axis)]) return "the dimensions are no permutation";
      seen[static_cast<std::size_t>(*axis)] = true;
      op.permutation[d] = *axis;
    }
  } else {
    const bool t = row.name == "aten.t.default";
    if (t && rank > 2) return "it has more than two dimensions";
    if (t && rank < 2) return describe_view(in, row, op);
    const std::optional<std::int64_t> first = t ? 0 : in.integer({"dim0", 1}, 0);
    const std::optional<std::int64_t> second = t ? 1 : in.integer({"dim1", 2}, 0);
    const std::optional<int> a = first ? dimension(*first, rank) : std::nullopt;
    const std::optional<int> b = second ? dimension(*second, rank) : std::nullopt;
    if (!a || !b) return "a dimension is out of range";
    std::swap(op.permutation[static_cast<std::size_t>(*a)], op.permutation[static_cast<std::size_t>(*b)]);
  }
  const Dims source = sizes_of(in.graph(), x);
  const Dims out = sizes_of(in.graph(), in.output());
  for (std::size_t d = 0; d < rank; ++d)
    if (out.size() != rank || out[d] != source[static_cast<std::size_t>(op.permutation[d])])
      return "the output's sizes do not fit";
  return nullptr;
}

/// slice, select, and split into sizes.
[[nodiscard]] inline const char* describe_slice(const NodeArguments& in, const OpRow& row, Operation& op) {
  const ValueId x = in.value({"self", 0});
  if (x == no_id || in.rank(x) == 0) return "an operand is no tensor";
  const Dims source = sizes_of(in.graph(), x);
  const bool split = row.name.starts_with("aten.split");
  const bool select = row.name == "aten.select.int";
  const std::optional<std::int64_t> dim = in.integer({"dim", split ? 2u : 1u}, 0);
  const std::optional<int> axis = dim ? dimension(*dim, source.size()) : std::nullopt;
  if (!axis) return "the dimension is out of range";
  op.kind = OpKind::slice;
  op.inputs = {x};
  op.axis = *axis;
  const std::int64_t size = source[static_cast<std::size_t>(*axis)];
  Dims outer = source;
  const auto part_of = [&](ValueId v, std::int64_t count) {
    outer[static_cast<std::size_t>(*axis)] = count;
    Dims expected = outer;
    if (select) expected.erase(expected.begin() + *axis);
    if (expected.empty()) expected.push_back(1);
    return expected == sizes_of(in.graph(), v);
  };
  if (split) {
    op.outputs.clear();
    if (in.call().outputs.size() != 1 || !in.call().outputs[0].is_list()) return "its outputs are no list";
    std::int64_t at = 0;
    for (const Argument& item : in.graph().args(in.call().outputs[0].items)) {
      if (!item.is_value() || in.rank(item.value()) != source.size()) return "an output does not fit";
      const std::int64_t count = sizes_of(in.graph(), item.value())[static_cast<std::size_t>(*axis)];
      if (!part_of(item.value(), count) || count > size - at) return "an output does not fit";
      op.outputs.push_back(item.value());
      op.first.push_back(at);
      at += count;
    }
    return nullptr;
  }
  const std::optional<std::int64_t> start = in.integer({select ? "index" : "start", 2}, 0);
  const std::optional<std::int64_t> step = select ? 1 : in.integer({"step", 4}, 1);
  if (!start || !step || *step < 1) return "an index is symbolic";
  const std::int64_t first = std::clamp<std::int64_t>(*start < 0 ? *start + size : *start, 0, size);
  const std::int64_t count = select ? 1 : sizes_of(in.graph(), in.output())[static_cast<std::size_t>(*axis)];
  if ((!select && in.rank(in.output()) != source.size()) || !part_of(in.output(), count) || first >= size ||
      (count > 1 && *step > (size - 1 - first) / (count - 1)))
    return "the output does not fit";
  op.first = {first};
  op.step = *step;
  return nullptr;
}

/// aten.cat of tensors of one rank.
[[nodiscard]] inline const char* describe_concat(const NodeArguments& in, const OpRow&, Operation& op) {
  const Argument* list = in.find({"tensors", 0});
  if (list == nullptr || !list->is_list() || list->items.count == 0) return "its operands are no list";
  const Dims out = sizes_of(in.graph(), in.output());
  const std::optional<std::int64_t> dim = in.integer({"dim", 1}, 0);
  const std::optional<int> axis = dim ? dimension(*dim, out.size()) : std::nullopt;
  if (!axis) return "the dimension is out of range";
  std::int64_t total = 0;
  for (const Argument& item : in.graph().args(list->items)) {
    if (!item.is_value()) return "an operand is no tensor";
    Dims dims = sizes_of(in.graph(), item.value());
    if (dims.size() != out.size()) return "the operands' ranks differ";
    total += dims[static_cast<std::size_t>(*axis)];
    dims[static_cast<std::size_t>(*axis)] = out[static_cast<std::size_t>(*axis)];
    if (dims != out) return "the operands' sizes differ";
    op.inputs.push_back(item.value());
  }
  if (total != out[static_cast<std::size_t>(*axis)]) return "the output's sizes do not fit";
  op.kind = OpKind::concat;
  op.axis = *axis;
  return nullptr;
}

/// aten.constant_pad_nd with zeros, none of them negative.
[[nodiscard]] inline const char* describe_pad(const NodeArguments& in, const OpRow&, Operation& op) {
  const ValueId x = in.value({"self", 0});
  if (x == no_id || in.rank(x) == 0) return "an operand is no tensor";
  Dims pad;
  if (!in.ints({"pad", 1}, pad) || pad.size() % 2 != 0) return "the padding is symbolic";
  if (in.number({"value", 2}, 0) != 0.0) return "it pads with something else than 0";
  const Dims source = sizes_of(in.graph(), x);
  const Dims out = sizes_of(in.graph(), in.output());
  if (pad.size() / 2 > source.size() || out.size() != source.size()) return "the padding does not fit the rank";
  op.pad_left.assign(source.size(), 0);
  op.pad_right.assign(source.size(), 0);
  for (std::size_t i = 0; i < pad.size() / 2; ++i) {
    op.pad_left[source.size() - 1 - i] = pad[2 * i];
    op.pad_right[source.size() - 1 - i] = pad[2 * i + 1];
  }
  for (std::size_t d = 0; d < source.size(); ++d)
    if (op.pad_left[d] < 0 || op.pad_right[d] < 0 || source[d] + op.pad_left[d] + op.pad_right[d] != out[d])
      return "the padding is negative or does not fit";
  op.kind = OpKind::pad;
  op.inputs = {x};
  return nullptr;
}

}  // namespace davit::onednn_ops
