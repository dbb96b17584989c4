// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "davit/backends/onednn/emit_int8.hpp"
#include "davit/backends/onednn/emit_kernel.hpp"
#include "davit/backends/onednn/emit_layout.hpp"
#include "davit/backends/onednn/emit_pointwise.hpp"
#include "davit/backends/onednn/emit_products.hpp"

namespace davit::onednn_ops {

namespace detail {

/// False if the library has no primitive with this tail.
[[nodiscard]] inline bool emit_with_tail(Builder& b, const ChainView& chain) {
  const Operation& op = *chain.base;
  switch (op.kind) {
    case OpKind::convolution: return emit_convolution(b, chain);
    case OpKind::linear: return emit_linear(b, chain);
    case OpKind::matmul: return emit_matmul(b, chain);
    case OpKind::binary: return emit_binary(b, chain);
    case OpKind::pool: emit_pool(b, op); return true;
    case OpKind::eltwise: emit_eltwise(b, op); return true;
    case OpKind::batch_norm: return emit_batch_norm(b, chain);
    case OpKind::layer_norm: emit_layer_norm(b, op); return true;
    case OpKind::expand: emit_expand(b, op); return true;
    case OpKind::resample: emit_resample(b, op); return true;
    case OpKind::concat: emit_concat(b, op); return true;
    case OpKind::view: emit_view(b, op); return true;
    case OpKind::permute: emit_permute(b, op); return true;
    case OpKind::slice: emit_slice(b, op); return true;
    case OpKind::pad: emit_pad(b, op); return true;
    case OpKind::fill: emit_fill(b, op); return true;
    case OpKind::kernel: emit_kernel(b, op); return true;
    case OpKind::convert: emit_convert(b, op); return true;
    case OpKind::int8_product: emit_int8_product(b, op); return true;
    case OpKind::int8_sum: emit_int8_sum(b, op); return true;
  }
  return false;
}

inline void release_inputs(Builder& b, const Operation& op, ValueId made_inside = no_id) {
  for (const ValueId v : op.inputs)
    if (v != no_id && v != made_inside) b.release(v);
}

}  // namespace detail

/// Makes the steps of a base and as much of its tail as one primitive can take; answers how many operations of the tail
/// that were. Throws dnnl::error if there is none even without a tail.
inline std::size_t emit_chain(Builder& b, ChainView chain) {
  for (const std::span<const Operation* const> all = chain.tail;; chain.tail = all.first(chain.tail.size() - 1)) {
    if (detail::emit_with_tail(b, chain)) break;
    if (chain.tail.empty()) throw dnnl::error(dnnl_unimplemented, "no primitive for this operation");
  }
  ValueId v = chain.start();
  detail::release_inputs(b, *chain.base);
  if (chain.norm != nullptr) detail::release_inputs(b, *chain.norm, chain.base->outputs[0]);
  for (const Operation* op : chain.tail) {
    detail::release_inputs(b, *op, v);
    v = op->outputs[0];
  }
  return chain.tail.size();
}

}  // namespace davit::onednn_ops
