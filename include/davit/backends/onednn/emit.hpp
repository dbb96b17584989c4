// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "davit/backends/onednn/int8.hpp"
#include "davit/backends/onednn/kernel_call.hpp"
#include "davit/backends/onednn/movement.hpp"
#include "davit/backends/onednn/elementwise.hpp"
#include "davit/backends/onednn/pooling.hpp"
#include "davit/backends/onednn/normalization.hpp"
#include "davit/backends/onednn/products.hpp"

namespace davit::onednn_ops {

namespace detail {

/// Emits a base with its epilogue; false if the library has no primitive for that.
[[nodiscard]] inline bool emit_with_epilogue(Builder& b, const ChainView& chain) {
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

/// Emits a base with as much of its epilogue as one primitive takes; returns the number of operations of the epilogue
/// taken. Throws dnnl::error if there is no primitive even without an epilogue.
inline std::size_t emit_chain(Builder& b, ChainView chain) {
  for (const std::span<const Operation* const> all = chain.epilogue;;
       chain.epilogue = all.first(chain.epilogue.size() - 1)) {
    if (detail::emit_with_epilogue(b, chain)) break;
    if (chain.epilogue.empty()) throw dnnl::error(dnnl_unimplemented, "no primitive for this operation");
  }
  ValueId v = chain.start();
  detail::release_inputs(b, *chain.base);
  if (chain.norm != nullptr) detail::release_inputs(b, *chain.norm, chain.base->outputs[0]);
  for (const Operation* op : chain.epilogue) {
    detail::release_inputs(b, *op, v);
    v = op->outputs[0];
  }
  return chain.epilogue.size();
}

}  // namespace davit::onednn_ops
