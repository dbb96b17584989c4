// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backends/onednn/descriptors.hpp"
#include "davit/backends/onednn/elementwise.hpp"
#include "davit/backends/onednn/epilogue.hpp"
#include "davit/backends/onednn/kernel_call.hpp"
#include "davit/backends/onednn/operands.hpp"
#include "davit/program/operators/normalization.hpp"
#include "davit/program/operators/reduction.hpp"

/// Batch norms and layer norms.
namespace davit::onednn_ops {

namespace detail {
/// True if the output has the sizes of that operand, as normalizations require.
[[nodiscard]] inline bool keeps_sizes(const NodeArguments& in, ValueId v) {
  return in.output() != no_id && sizes_of(in.graph(), v) == sizes_of(in.graph(), in.output());
}
}  // namespace detail

/// Batch norms with the running statistics.
[[nodiscard]] inline const char* describe_batch_norm(const NodeArguments& in, const OpRow&, Operation& op) {
  operators::BatchNormView view;
  if (const Refusal wrong = operators::read_batch_norm(in, view)) return wrong.what;
  if (view.training) return "it computes the statistics of its input";
  if (!detail::keeps_sizes(in, view.input)) return "the sizes of input and output differ";
  if (!in.uses_first_output_only()) return "the saved statistics are used";
  op.kind = OpKind::batch_norm;
  op.inputs = {view.input, view.mean, view.variance, view.weight, view.bias};
  op.epsilon = static_cast<float>(view.eps);
  return nullptr;
}

/// aten.layer_norm, and aten.native_layer_norm with unused statistics.
[[nodiscard]] inline const char* describe_layer_norm(const NodeArguments& in, const OpRow&, Operation& op) {
  operators::LayerNormView view;
  if (const Refusal wrong = operators::read_layer_norm(in, view)) return wrong.what;
  if (!in.uses_first_output_only()) return "the statistics are used";
  if (!detail::keeps_sizes(in, view.input)) return "the sizes of input and output differ";
  op.kind = OpKind::layer_norm;
  op.inputs = {view.input, view.weight, view.bias};
  const Dims source = sizes_of(in.graph(), view.input);
  op.kernel.assign(source.end() - static_cast<std::ptrdiff_t>(view.dims), source.end());
  op.epsilon = static_cast<float>(view.eps);
  return nullptr;
}

/// Emits a batch norm. A relu is its epilogue only in generated code ("jit"): oneDNN 2.6's norms of row-major images
/// are slow with it.
[[nodiscard]] inline bool emit_batch_norm(Builder& b, const ChainView& chain) {
  const Operation& op = *chain.base;
  const std::optional<Epilogue> epilogue = make_epilogue(b, chain, b.sizes(op.outputs[0]));
  if (!epilogue) return false;
  const Place& from = b.place_of(op.inputs[0]);
  const Dims channels{b.sizes(op.inputs[0])[1]};
  auto flags = dnnl::normalization_flags::use_global_stats;
  std::vector<Builder::Role> roles;
  if (op.inputs[3] != no_id) flags = flags | dnnl::normalization_flags::use_scale;
  if (op.inputs[4] != no_id) flags = flags | dnnl::normalization_flags::use_shift;
  auto [pd, md] = attempt([&] {
    return detail::best_of(from.md, plain(dims_of(from.md), type_of(from.md)), [&](const MemoryDesc& tried) {
      return norm_descriptor<dnnl::batch_normalization_forward>(epilogue->attributes, tried, op.epsilon, flags);
    });
  });
  const bool generated = pd && std::string_view(pd.impl_info_str()).find("jit") != std::string_view::npos;
  if (!generated && chain.epilogue.empty() && emit_instead(b, op)) return true;  // the library's takes 50 times as long
  if (!pd || (!chain.epilogue.empty() && !generated)) return false;
  const Place source = b.reordered(from, md);
  roles.push_back({DNNL_ARG_MEAN, float_parameter(b, op.inputs[1], channels)});
  roles.push_back({DNNL_ARG_VARIANCE, float_parameter(b, op.inputs[2], channels)});
  if (op.inputs[3] != no_id) roles.push_back({DNNL_ARG_SCALE, float_parameter(b, op.inputs[3], channels)});
  if (op.inputs[4] != no_id) roles.push_back({DNNL_ARG_SHIFT, float_parameter(b, op.inputs[4], channels)});
  const Place to = b.is_last_use(op.inputs[0]) ? source : b.add_scratch(md);
  b.add_step<dnnl::batch_normalization_forward>(pd, {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, to}}, roles);
  b.place(chain.result(), to);
  return true;
}

inline void emit_layer_norm(Builder& b, const Operation& op) {
  const std::int64_t width = count_of(op.kernel);
  const Dims dims{count_of(b.sizes(op.inputs[0])) / width, width};
  auto flags = dnnl::normalization_flags::none;
  std::vector<Builder::Role> roles;
  if (op.inputs[1] != no_id) flags = flags | dnnl::normalization_flags::use_scale;
  if (op.inputs[2] != no_id) flags = flags | dnnl::normalization_flags::use_shift;
  const MemoryDesc md = plain(dims, b.type(op.outputs[0]));
  const auto pd = norm_descriptor<dnnl::layer_normalization_forward>(b.attributes(), md, op.epsilon, flags);
  if (type_of(md) != DataType::f32 && emit_instead_of_reference(b, op, pd)) return;
  if (!pd) throw dnnl::error(dnnl_unimplemented, "no layer normalization");
  const Place source = b.viewed(b.row_major(b.place_of(op.inputs[0])), dims);
  if (op.inputs[1] != no_id) roles.push_back({DNNL_ARG_SCALE, float_parameter(b, op.inputs[1], {width})});
  if (op.inputs[2] != no_id) roles.push_back({DNNL_ARG_SHIFT, float_parameter(b, op.inputs[2], {width})});
  const Place to = b.add_scratch(md);
  b.add_step<dnnl::layer_normalization_forward>(pd, {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, to}}, roles);
  b.place(op.outputs[0], to);
}

}  // namespace davit::onednn_ops
