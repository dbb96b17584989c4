// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "davit/backends/onednn/builder.hpp"

/// Steps of operations that only say where elements lie; most of them need none.
namespace davit::onednn_ops {

inline void emit_view(Builder& b, const Operation& op) {
  b.place(op.outputs[0], b.place_of(op.inputs[0]));
}

/// Repeats what broadcasts: the operand in the sizes `dims`.
[[nodiscard]] inline Place expanded(Builder& b, const Place& from, Dims own, const Dims& dims) {
  own.insert(own.begin(), dims.size() - own.size(), 1);
  const Place source = b.viewed(b.row_major(from), own);
  const Place to = b.add_scratch(plain(dims));
  b.add_broadcast(source, to);
  return to;
}
inline void emit_expand(Builder& b, const Operation& op) {
  b.place(op.outputs[0], expanded(b, b.place_of(op.inputs[0]), b.sizes(op.inputs[0]), b.sizes(op.outputs[0])));
}

inline void emit_fill(Builder& b, const Operation& op) {
  const MemoryDesc md = plain(b.sizes(op.outputs[0]));
  if (b.trial()) return b.place(op.outputs[0], b.add_scratch(md));
  const Place to = b.add_constant(md);
  std::fill_n(reinterpret_cast<float*>(b.constant_data(to)), md.get_size() / sizeof(float), op.epsilon);
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
    if (count > 1 && count * op.step > dims_of(whole.md)[axis]) {  // the last element has no whole step behind it: it is copied by itself
      const Place to = b.add_scratch(plain(dims));
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
  const Place to = b.add_scratch(plain(dims));
  b.add_zeros(to);
  Place inside = to;
  for (std::size_t d = 0; d < dims.size(); ++d)
    inside = sliced(inside, d, op.pad_left[d], dims[d] - op.pad_left[d] - op.pad_right[d], 1);
  b.copy(b.place_of(op.inputs[0]), inside);
  b.place(op.outputs[0], to);
}

/// Parts that lie in one piece of the whole are made in their places, so that nothing is left to do; else a primitive.
inline void emit_concat(Builder& b, const Operation& op) {
  const auto axis = static_cast<std::size_t>(op.axis);
  std::vector<MemoryDesc> layouts;
  for (const ValueId v : op.inputs) layouts.push_back(b.place_of(v).md);
  auto pd = describe_concat(b.attributes(), op.axis, layouts);
  const bool as_is = pd && !is_reference(pd);
  if (!as_is) {
    for (std::size_t i = 0; i < layouts.size(); ++i) layouts[i] = plain(b.sizes(op.inputs[i]));
    pd = describe_concat(b.attributes(), op.axis, layouts);
  }
  if (!pd) throw dnnl::error(dnnl_unimplemented, "no concatenation");
  const Place to = b.add_scratch(pd.dst_desc());
  std::vector<std::size_t> offsets;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < op.inputs.size() && offsets.size() == i; ++i) {
    const Place& part = b.place_of(op.inputs[i]);
    const std::optional<std::size_t> offset = part_offset(to.md, part.md, axis, first);
    const bool twice = std::ranges::any_of(op.inputs.begin(), op.inputs.begin() + static_cast<std::ptrdiff_t>(i),
                                           [&](ValueId v) { return b.place_of(v).storage == part.storage; });
    if (offset && !twice && b.can_join(part)) offsets.push_back(*offset);
    first += dims_of(part.md)[axis];
  }
  if (offsets.size() == op.inputs.size()) {
    for (std::size_t i = 0; i < op.inputs.size(); ++i) b.join(b.place_of(op.inputs[i]).storage, to.storage, offsets[i]);
  } else {
    std::vector<Builder::Role> roles;
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      roles.push_back({DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), b.reordered(b.place_of(op.inputs[i]), layouts[i])});
    b.add_step<dnnl::concat>(pd, {{DNNL_ARG_DST, to}}, roles);
  }
  b.place(op.outputs[0], to);
}

}  // namespace davit::onednn_ops
