// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backends/onednn/emit_kernel.hpp"
#include "davit/backends/onednn/emit_layout.hpp"
#include "davit/backends/onednn/epilogue.hpp"

/// Steps of operations whose layout is that of their source: elementwise, pooling, normalization.
/// Each tries the layout it finds first, and row-major order where the library has no (fast) primitive for that.
namespace davit::onednn_ops {

namespace detail {
/// Calls `make(md)` with the layouts to try, until the descriptor it answers is no reference implementation; answers
/// the last one otherwise, and the layout.
template <class Make>
[[nodiscard]] auto best_of(const MemoryDesc& first, const MemoryDesc& second, Make&& make) {
  auto pd = attempt([&] { return make(first); });
  if (pd && !is_reference(pd)) return std::pair(std::move(pd), first);
  auto other = attempt([&] { return make(second); });
  if (other && (!pd || !is_reference(other))) return std::pair(std::move(other), second);
  if (!pd) throw dnnl::error(dnnl_unimplemented, "no primitive for this operation");
  return std::pair(std::move(pd), first);
}
}  // namespace detail

/// Functions in turn; of bfloat16 several of them are a kernel, which rounds once.
inline void emit_eltwise(Builder& b, const Operation& op) {
  const bool is_float = b.type(op.outputs[0]) == DataType::f32;
  if (!is_float && op.functions.size() != 1 &&
      emit_instead_of_reference(b, op, dnnl::eltwise_forward::primitive_desc()))
    return;
  Place from = b.place_of(op.inputs[0]);
  bool in_place = b.is_last_use(op.inputs[0]);
  for (const Function& f : op.functions) {
    auto [pd, md] = detail::best_of(from.md, plain(dims_of(from.md), type_of(from.md)), [&](const MemoryDesc& tried) {
      return describe_eltwise(b.attributes(), f.algorithm, tried, f.alpha, f.beta);
    });
    if (!is_float && op.functions.size() == 1 && emit_instead_of_reference(b, op, pd)) return;
    const Place source = b.reordered(from, md);
    const Place to = in_place ? source : b.add_scratch(md);
    b.add_step<dnnl::eltwise_forward>(pd, {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, to}});
    from = to;
    in_place = true;
  }
  b.place(op.outputs[0], from);
}

/// With functions as epilogue. The second operand may be broadcast; the first is repeated if it is.
[[nodiscard]] inline bool emit_binary(Builder& b, const ChainView& chain) {
  const Operation& op = *chain.base;
  const Dims dims = b.sizes(op.outputs[0]);
  const DataType type = b.type(op.outputs[0]);
  std::optional<Epilogue> epilogue = make_epilogue(b, chain, dims);
  if (!epilogue) return false;
  const bool by_number = op.inputs[1] == no_id;
  Dims other_dims = by_number ? Dims(dims.size(), 1) : b.sizes(op.inputs[1]);
  other_dims.insert(other_dims.begin(), dims.size() - other_dims.size(), 1);
  const bool repeats = count_of(b.sizes(op.inputs[0])) != count_of(dims);
  const std::optional<Place> first =
      repeats ? std::optional(expanded(b, b.place_of(op.inputs[0]), b.sizes(op.inputs[0]), dims))
              : attempt([&] { return reshaped(b.place_of(op.inputs[0]), dims); });
  const std::optional<Place> second = by_number
                                          ? std::optional(b.number(op.epsilon, dims.size()))
                                          : attempt([&] { return reshaped(b.place_of(op.inputs[1]), other_dims); });
  const DataType other_type = by_number ? DataType::f32 : type;
  MemoryDesc md = first ? first->md : plain(dims, type);
  MemoryDesc other_md = second ? second->md : plain(other_dims, other_type);
  if (dims == other_dims) {  // both in the layout of the one that is blocked
    if (first && second && blocking_of(md).is_plain() && !blocking_of(other_md).is_plain()) md = other_md;
    if (md.get_size() != plain(dims, type).get_size() && blocking_of(md).is_plain()) md = plain(dims, type);
    other_md = md;
  }
  auto pd = describe<dnnl::binary>(epilogue->attributes, op.algorithm, md, other_md, any(dims, type));
  const bool fits = pd && !is_reference(pd) && layout_fits(pd.dst_desc(), pd.impl_info_str());
  if (!fits) {
    auto row_major = describe<dnnl::binary>(epilogue->attributes, op.algorithm, plain(dims, type),
                                            plain(other_dims, other_type), plain(dims, type));
    if (row_major && (!pd || !is_reference(row_major))) {
      md = plain(dims, type);
      other_md = plain(other_dims, other_type);
      pd = row_major;
    }
  }
  if (chain.epilogue.empty() && emit_instead_of_reference(b, op, pd)) return true;
  if (!is_usable(pd, chain, *epilogue)) return false;
  const bool padded = faults.padded_in_place && md.get_size() != plain(dims, type).get_size();
  const bool in_place =
      pd.dst_desc() == md && op.inputs[0] != op.inputs[1] && (repeats || b.is_last_use(op.inputs[0])) && !padded;
  const Place source = b.reordered(first ? *first : b.viewed(b.place_of(op.inputs[0]), dims), md);
  const Place other = b.reordered(second ? *second : b.viewed(b.place_of(op.inputs[1]), other_dims), other_md);
  const Place to = in_place ? source : b.add_scratch(pd.dst_desc());
  b.add_step<dnnl::binary>(pd, {{DNNL_ARG_SRC_0, source}, {DNNL_ARG_SRC_1, other}, {DNNL_ARG_DST, to}},
                           epilogue->roles);
  b.place(chain.result(), to);
  return true;
}

inline void emit_pool(Builder& b, const Operation& op) {
  const Place& from = b.place_of(op.inputs[0]);
  const bool means = op.name.starts_with("aten.mean");
  const bool apart = b.type(op.outputs[0]) == DataType::f32 && op.strides.back() > 1 &&
                     (op.strides.size() == 3 || b.sizes(op.inputs[0]).back() >= 64);
  if ((means || apart) && is_row_major(from.md) && emit_instead(b, op)) return;  // the library's is slower there
  Dims dims = b.sizes(op.inputs[0]);
  for (std::size_t d = 2; d < dims.size(); ++d)
    dims[d] =
        (dims[d] + op.pad_left[d - 2] + op.pad_right[d - 2] - (op.kernel[d - 2] - 1) * (op.dilates[d - 2] + 1) - 1) /
            op.strides[d - 2] +
        1;
  const DataType type = type_of(from.md);
  const bool bytes = type == DataType::s8 || type == DataType::u8;  // whose pools have code for channels_last alone
  const auto best = [&] {
    return detail::best_of(from.md, bytes ? channels_last(dims_of(from.md), type) : plain(dims_of(from.md), type),
                           [&](const MemoryDesc& tried) {
                             return describe<Pooling>(b.attributes(), dnnl::prop_kind::forward_inference, op.algorithm,
                                                      tried, any(dims, type), op.strides, op.kernel, op.dilates,
                                                      op.pad_left, op.pad_right);
                           });
  };
  auto [pd, md] = means ? attempt(best) : best();
  if (emit_instead_of_reference(b, op, pd)) return;
  const Place source = b.reordered(from, md);
  const Place to = b.add_scratch(pd.dst_desc());
  b.add_step<Pooling>(pd, {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, to}});
  b.place(op.outputs[0], to);
}

/// With a relu as epilogue, where that has code of its own: oneDNN 2.6's norms of row-major images compute it slowly.
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
      return describe_norm<dnnl::batch_normalization_forward>(epilogue->attributes, tried, op.epsilon, flags);
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
  const auto pd = describe_norm<dnnl::layer_normalization_forward>(b.attributes(), md, op.epsilon, flags);
  if (type_of(md) != DataType::f32 && emit_instead_of_reference(b, op, pd)) return;
  if (!pd) throw dnnl::error(dnnl_unimplemented, "no layer normalization");
  const Place source = b.viewed(b.row_major(b.place_of(op.inputs[0])), dims);
  if (op.inputs[1] != no_id) roles.push_back({DNNL_ARG_SCALE, float_parameter(b, op.inputs[1], {width})});
  if (op.inputs[2] != no_id) roles.push_back({DNNL_ARG_SHIFT, float_parameter(b, op.inputs[2], {width})});
  const Place to = b.add_scratch(md);
  b.add_step<dnnl::layer_normalization_forward>(pd, {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, to}}, roles);
  b.place(op.outputs[0], to);
}

inline void emit_resample(Builder& b, const Operation& op) {
  const Place& from = b.place_of(op.inputs[0]);
  auto [pd, md] = detail::best_of(from.md, plain(dims_of(from.md), type_of(from.md)), [&](const MemoryDesc& tried) {
    return describe<dnnl::resampling_forward>(b.attributes(), dnnl::prop_kind::forward_inference, op.algorithm, tried,
                                              any(b.sizes(op.outputs[0]), type_of(tried)));
  });
  if (emit_instead_of_reference(b, op, pd)) return;
  const Place source = b.reordered(from, md);
  const Place to = b.add_scratch(pd.dst_desc());
  b.add_step<dnnl::resampling_forward>(pd, {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, to}});
  b.place(op.outputs[0], to);
}

}  // namespace davit::onednn_ops
