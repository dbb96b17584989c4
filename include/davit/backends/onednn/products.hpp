// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backends/onednn/convolution_layout.hpp"
#include "davit/backends/onednn/epilogue.hpp"
#include "davit/backends/onednn/floats.hpp"
#include "davit/backends/onednn/fold_norm.hpp"
#include "davit/backends/onednn/kernel_call.hpp"
#include "davit/backends/onednn/kernels.hpp"
#include "davit/backends/onednn/normalization.hpp"
#include "davit/backends/onednn/operands.hpp"
#include "davit/backends/onednn/sound_convolution.hpp"
#include "davit/kernels/winograd_weights.hpp"
#include "davit/program/operators/convolution.hpp"
#include "davit/program/operators/matmul.hpp"

/// Convolutions and matrix products, with their epilogues.
namespace davit::onednn_ops {

/// Convolutions of inputs with a batch dimension. Transposed convolutions are portable's, whose kernel is faster than
/// the library's primitive.
[[nodiscard]] inline const char* describe_convolution(const NodeArguments& in, const OpRow&, Operation& op) {
  operators::ConvolutionView view;
  if (const Refusal wrong = operators::read_convolution(in, view)) return wrong.what;
  if (view.transposed) return describe_kernel(in, op);
  if (!view.batched) return "the input has no batch dimension";
  for (const ValueId v : {view.input, view.weight, in.output()})
    if (in.rank(v) != view.dims + 2) return "the sizes of input, weight and output differ in number";
  op.kind = OpKind::convolution;
  op.kernel = spatial_dims(view.kernel, view.dims);
  op.strides = spatial_dims(view.stride, view.dims);
  op.dilates = dilation_dims(view.dilation, view.dims);
  op.pad_left = spatial_dims(view.padding, view.dims);
  op.pad_right = spatial_dims(view.padding_end, view.dims);
  op.groups = view.groups;
  op.inputs = {view.input, view.weight, view.bias};
  return nullptr;
}

/// linear, mm, addmm with a row as bias, bmm, and matmul of two tensors of at least two dimensions.
[[nodiscard]] inline const char* describe_matmul(const NodeArguments& in, const OpRow&, Operation& op) {
  operators::MatmulView view;
  if (const Refusal wrong = operators::read_matmul(in, view)) return wrong.what;
  if (!view.is_plain()) return "alpha or beta is not 1";
  if (in.rank(view.right) < 2 || (!view.transposed && in.rank(view.left) < 2)) return "an operand is a vector";
  const Dims a = sizes_of(in.graph(), view.left);
  const Dims b = sizes_of(in.graph(), view.right);
  const bool one = view.transposed || b.size() == 2;  // one matrix for all rows
  op.kind = one ? OpKind::linear : OpKind::matmul;
  op.transposed = view.transposed;
  op.inputs = {view.left, view.right};
  if (op.kind == OpKind::linear) op.inputs.push_back(view.addend);
  const std::int64_t columns = view.transposed ? b[0] : b.back();
  if (view.addend != no_id && sizes_of(in.graph(), view.addend) != Dims{columns}) return "the bias is not one row";
  const Dims out = sizes_of(in.graph(), in.output());
  if (view.transposed) {
    Dims made = a;
    made.back() = columns;
    if (in.rank(view.right) != 2 || out != made) return "the output's sizes do not fit";
  }
  if (view.rank != 0 || view.transposed)
    return in.rank(view.left) == in.rank(in.output()) ? nullptr : "the output's sizes do not fit";
  return out.size() == std::max(a.size(), b.size()) && a[a.size() - 2] == out[out.size() - 2] && columns == out.back()
             ? nullptr
             : "the matrices do not fit";
}

namespace detail {

/// True if the implementation copies images into matrices and multiplies them (im2col and gemm).
template <class PrimitiveDesc>
[[nodiscard]] bool copies_images(const PrimitiveDesc& pd) {
  return std::string_view(pd.impl_info_str()).find("gemm") != std::string_view::npos;
}

/// True for a float32 convolution of `channels` to `filters` that portable's kernel computes in less time, reorders
/// included: in small groups, where the library multiplies matrices group by group (5 to 20 times as long), and with
/// few filters in all, each of which the library computes as a full vector.
template <class PrimitiveDesc>
[[nodiscard]] bool wastes_vectors(const PrimitiveDesc& pd, const Operation& op, std::int64_t channels,
                                  std::int64_t filters) {
  if (!pd || is_reference(pd)) return true;
  if (op.groups == 1) return filters < 8 && count_of(op.kernel) > 1;
  return has_small_groups(op, channels, filters) || copies_images(pd);
}

/// The dtype of a product of `rows`: bfloat16 if the library has code for it and it is faster, else float32. Few rows
/// are faster in bfloat16 everywhere: their time is that of reading the matrix.
[[nodiscard]] inline DataType product_type(const Builder& b, ValueId made, std::int64_t rows) {
  const bool pairs = b.type(made) == DataType::bf16 && has_wide_vectors() && (rows < 16 || has_fast_bfloat16());
  return pairs ? DataType::bf16 : DataType::f32;
}
/// The place of a product's operand, computed in `type`.
[[nodiscard]] inline Place operand(Builder& b, ValueId v, DataType type) {
  return type == DataType::f32 ? floats(b, v) : b.place_of(v);
}

/// The weight and bias of a convolution for the primitive, with the batch norm after it folded in.
[[nodiscard]] inline std::pair<Place, Place> convolution_parameters(Builder& b, const Operation& op,
                                                                    const Operation* norm, const MemoryDesc& md) {
  const Dims channels{b.sizes(op.inputs[1])[0]};
  std::pair<Place, Place> made;
  if (norm != nullptr) {
    made = fold_norm(b, op, *norm);
  } else {
    made.first = in_rows(b, operand(b, op.inputs[1], type_of(md)), b.sizes(op.inputs[1]), type_of(md));
    if (op.inputs[2] != no_id) made.second = float_parameter(b, op.inputs[2], channels);
  }
  made.first = b.reordered(b.viewed(made.first, dims_of(md)), md);
  return made;
}

/// The epilogue of davit's own convolution kernel: the sum with a tensor of the result's sizes, then clamps; nothing
/// for a longer epilogue.
struct OwnEpilogue {
  ValueId sum = no_id;
  bool relu = false;
};
[[nodiscard]] inline std::optional<OwnEpilogue> own_epilogue(const Builder& b, const ChainView& chain,
                                                             const Dims& dims) {
  OwnEpilogue epilogue;
  ValueId v = chain.start();
  for (const Operation* const op : chain.epilogue) {
    const ValueId other = op->kind != OpKind::binary ? no_id : op->inputs[0] == v ? op->inputs[1] : op->inputs[0];
    if (epilogue.relu) return {};
    if (op->kind == OpKind::eltwise && op->functions.size() == 1 &&
        op->functions[0] == Function{algorithm::eltwise_relu})
      epilogue.relu = true;
    else if (op->algorithm == algorithm::binary_add && epilogue.sum == no_id && other != no_id &&
             b.sizes(other) == dims)
      epilogue.sum = other;
    else
      return {};
    v = op->outputs[0];
  }
  return epilogue;
}
/// Emits winograd_kernel. Returns false, and emits nothing, if it does not take the convolution or its epilogue.
[[nodiscard]] inline bool emit_winograd(Builder& b, const ChainView& chain, const Place& from,
                                        const MemoryDesc& source_md, const MemoryDesc& made_md) {
  const Operation& op = *chain.base;
  const std::optional<kernels::WinogradConvolution> c = can_convolve_by_tiles(op, source_md, made_md);
  const std::optional<OwnEpilogue> epilogue = own_epilogue(b, chain, dims_of(made_md));
  if (!c || !epilogue || b.trial() || !b.is_constant(op.inputs[1])) return false;
  if (b.sizes(op.inputs[1]) != Dims{c->out_channels, c->channels, 3, 3})
    return false;  // a damaged file may declare other sizes
  const auto [weight, bias] = convolution_parameters(b, op, chain.norm, plain(b.sizes(op.inputs[1]), DataType::f32));
  const Place packed =
      b.packed_constant(weight, plain({c->packed_size()}, DataType::f32), [&](std::byte* own, std::byte* to) {
        kernels::pack_winograd_weights(*c, reinterpret_cast<const float*>(own), reinterpret_cast<float*>(to));
      });
  const Place source = b.reordered(from, source_md);
  const bool over = epilogue->sum != no_id && b.is_last_use(epilogue->sum);
  const Place sum =
      epilogue->sum == no_id ? Place() : b.reordered(b.viewed(b.place_of(epilogue->sum), dims_of(made_md)), made_md);
  const Place to = over ? sum : b.add_scratch(made_md);
  const std::array<Place, 4> operands{source, packed, bias.is_set() ? bias : packed, sum.is_set() ? sum : packed};
  const auto flat = [](const Place& place) {
    return KernelTensor{{static_cast<std::int64_t>(place.md.get_size() / sizeof(float))}};
  };
  std::vector<KernelTensor> tensors;
  for (const Place& operand : operands) tensors.push_back(flat(operand));
  b.add_kernel(own_kernel_step(winograd_kernel, tensors,
                               winograd_numbers(*c, {bias.is_set(), sum.is_set(), epilogue->relu}), flat(to)),
               operands, {&to, 1});
  place_floats(b, chain.result(), to);
  return true;
}

}  // namespace detail

[[nodiscard]] inline bool emit_convolution(Builder& b, const ChainView& chain) {
  const Operation& op = *chain.base;
  const Dims source_dims = b.sizes(op.inputs[0]);
  const Dims destination_dims = b.sizes(op.outputs[0]);
  Dims weight_dims = b.sizes(op.inputs[1]);
  const Dims bias_dims{weight_dims[0]};
  const DataType type = detail::product_type(b, op.outputs[0], count_of(destination_dims) / destination_dims[1]);
  if (op.groups > 1) {
    weight_dims[0] /= op.groups;
    weight_dims.insert(weight_dims.begin(), op.groups);
  }
  const bool biased = op.inputs[2] != no_id || chain.norm != nullptr;
  std::optional<Epilogue> epilogue = make_epilogue(b, chain, destination_dims);
  if (!epilogue) return false;
  const auto descriptor_with = [&](const dnnl::primitive_attr& attributes, algorithm how, const MemoryDesc& source,
                                   const MemoryDesc& destination) {
    return sound_convolution_descriptor(how, attributes, false, source, any(weight_dims, type),
                                        biased ? plain(bias_dims, DataType::f32) : MemoryDesc(), destination,
                                        op.strides, op.dilates, op.pad_left, op.pad_right);
  };
  const auto try_with = [&](const MemoryDesc& source, const MemoryDesc& destination,
                            algorithm how = algorithm::convolution_direct) {
    return descriptor_with(epilogue->attributes, how, source, destination);
  };
  dnnl::convolution_forward::primitive_desc pd;
  if (type == DataType::f32 && b.type(op.outputs[0]) != DataType::undef &&
      suits_winograd(op, source_dims, destination_dims) && epilogue->depthwise == nullptr)
    pd = try_with(any(source_dims, type), any(destination_dims, type), algorithm::convolution_winograd);
  const Place from = detail::operand(b, op.inputs[0], type);
  const auto [source_md, destination_md] = convolution_layouts(op, from, source_dims, destination_dims, type);
  if (!pd && type == DataType::f32 && b.type(op.outputs[0]) == DataType::f32 &&
      detail::emit_winograd(b, chain, from, source_md, destination_md))
    return true;
  if (!pd) pd = try_with(source_md, epilogue->depthwise == nullptr ? destination_md : any(destination_dims, type));
  if (!pd || is_reference(pd)) pd = try_with(any(source_dims, type), any(destination_dims, type));
  if (type == DataType::f32 && epilogue->depthwise == nullptr &&
      detail::wastes_vectors(pd, op, source_dims[1], destination_dims[1])) {
    if (!chain.epilogue.empty()) return false;
    if (emit_instead(b, op)) return chain.norm == nullptr || emit_batch_norm(b, {.base = chain.norm});
  }
  if (!is_usable(pd, chain, *epilogue)) return false;
  if (!chain.epilogue.empty() && epilogue->depthwise == nullptr &&
      detail::copies_images(pd)) {  // up to 40 times as long as without this epilogue
    const auto bare = descriptor_with(dnnl::primitive_attr(), algorithm::convolution_direct, any(source_dims, type),
                                      any(destination_dims, type));
    if (bare && !is_reference(bare) && !detail::copies_images(bare)) return false;
  }
  const auto [weight, bias] = detail::convolution_parameters(b, op, chain.norm, pd.weights_desc());
  if (biased) epilogue->roles.push_back({DNNL_ARG_BIAS, bias});
  if (epilogue->depthwise != nullptr) {
    const int role = DNNL_ARG_ATTR_POST_OP_DW | DNNL_ARG_WEIGHTS;
    const auto [own, own_bias] = detail::convolution_parameters(b, *epilogue->depthwise, epilogue->depthwise_norm,
                                                                pd.query_md(dnnl::query::exec_arg_md, role));
    epilogue->roles.push_back({role, own});
    if (own_bias.is_set()) epilogue->roles.push_back({DNNL_ARG_ATTR_POST_OP_DW | DNNL_ARG_BIAS, own_bias});
  }
  const Place source = b.reordered(from, pd.src_desc());
  const Place to = destination(b, *epilogue, pd.dst_desc());
  b.add_step<dnnl::convolution_forward>(pd, {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_DST, to}},
                                        epilogue->roles);
  place_floats(b, chain.result(), to);
  return true;
}

namespace detail {

/// True for one row times a constant matrix too large for the inner caches: its time is that of reading the matrix.
[[nodiscard]] inline bool is_row_times_large(std::int64_t rows, std::int64_t inner, std::int64_t columns) noexcept {
  return rows == 1 && inner * columns >= 256 * 1024;
}

/// Emits row_kernel on one thread: 1.2 times as fast as the library's kernels with packed weights, and without packed
/// copies.
[[nodiscard]] inline Place emit_row_kernel(Builder& b, const Place& from, const Place& weight, const Place& bias) {
  const Dims dims = dims_of(weight.md), made{1, dims[0]};
  std::vector<Place> operands{b.viewed(b.row_major(from), {1, dims[1]}), b.row_major(weight)};
  if (bias.is_set()) operands.push_back(bias);
  std::vector<KernelTensor> tensors;
  for (const Place& operand : operands) tensors.push_back({dims_of(operand.md)});
  const std::vector<EValue> no_bias(3 - operands.size());
  const Place to = b.add_scratch(plain(made, DataType::f32));
  b.add_kernel(own_kernel_step(row_kernel, tensors, no_bias, {made}), operands, {&to, 1});
  return to;
}

/// The primitive for that product on several threads: a convolution of one pixel, which in oneDNN 2.6 reads the matrix
/// 1.3 times as fast as its matrix product (1280 x 1000 and 512 x 1000, AVX-512). Empty if it does not apply.
[[nodiscard]] inline dnnl::convolution_forward::primitive_desc row_descriptor(const Epilogue& epilogue,
                                                                              std::int64_t inner, std::int64_t columns,
                                                                              bool biased) {
  if (!has_wide_vectors() || epilogue.sum != no_id || !epilogue.roles.empty()) return {};
  using Tag = dnnl::memory::format_tag;
  const auto pixel = [](std::int64_t n) { return MemoryDesc({1, n, 1, 1}, DataType::f32, Tag::acdb); };
  return make_descriptor_if<dnnl::convolution_forward>(
      [](std::string_view implementation) { return implementation.starts_with("jit_1x1"); }, epilogue.attributes,
      dnnl::prop_kind::forward_inference, algorithm::convolution_direct, pixel(inner),
      any({columns, inner, 1, 1}, DataType::f32), biased ? plain({columns}, DataType::f32) : MemoryDesc(),
      pixel(columns), Dims{1, 1}, Dims{0, 0}, Dims{0, 0}, Dims{0, 0});
}

/// True for a product with one matrix that portable's kernel computes in less time than the library (1.2 to 4 times,
/// AVX-512): few rows times an unpacked transposed matrix, or times an unpacked matrix whose rows share cache sets;
/// many rows times a packed matrix with four long columns, a quarter of a vector.
[[nodiscard]] inline bool is_faster_by_kernel(const Operation& op, bool packed, std::int64_t rows, std::int64_t inner,
                                              std::int64_t columns) {
  if (packed) return columns == 4 && rows >= 16 && inner >= 256 && has_wide_vectors();
  return columns == 1 || (op.transposed ? rows <= 4 : rows <= 32 && columns % 512 == 0);
}

/// Emits row_descriptor's primitive; `weight` is [columns, inner].
[[nodiscard]] inline Place emit_row(Builder& b, const dnnl::convolution_forward::primitive_desc& pd, const Place& from,
                                    const Place& weight, const Place& bias) {
  const Place source = b.reordered(b.viewed(from, dims_of(pd.src_desc())), pd.src_desc());
  const Place packed = b.reordered(b.viewed(weight, dims_of(pd.weights_desc())), pd.weights_desc());
  const Place to = b.add_scratch(pd.dst_desc());
  std::vector<Builder::Role> roles;
  if (bias.is_set()) roles.push_back({DNNL_ARG_BIAS, bias});
  b.add_step<dnnl::convolution_forward>(pd, {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, packed}, {DNNL_ARG_DST, to}},
                                        roles);
  return to;
}

}  // namespace detail

/// Emits a batched product; matrices with a dimension of stride 1 are used without a reorder.
[[nodiscard]] inline bool emit_matmul(Builder& b, const ChainView& chain) {
  const Operation& op = *chain.base;
  const Dims dims = b.sizes(op.outputs[0]);
  const DataType type = detail::product_type(b, op.outputs[0], dims[dims.size() - 2]);
  std::optional<Epilogue> epilogue = make_epilogue(b, chain, dims);
  if (!epilogue) return false;
  const auto direct = [type](const Place& place) {
    const Blocking blocking = blocking_of(place.md);
    return type_of(place.md) == type && blocking.is_plain() &&
           (blocking.strides.back() == 1 || blocking.strides[blocking.strides.size() - 2] == 1);
  };
  Dims dims_a = b.sizes(op.inputs[0]);
  Dims dims_b = b.sizes(op.inputs[1]);
  dims_a.insert(dims_a.begin(), dims.size() - dims_a.size(), 1);
  dims_b.insert(dims_b.begin(), dims.size() - dims_b.size(), 1);
  const Place first = detail::operand(b, op.inputs[0], type);
  const Place second = detail::operand(b, op.inputs[1], type);
  const bool lies_well = direct(first) && direct(second) && dims_of(first.md) == dims_a && dims_of(second.md) == dims_b;
  auto pd = lies_well ? make_descriptor<dnnl::matmul>(epilogue->attributes, first.md, second.md, MemoryDesc(),
                                                      plain(dims, type))
                      : dnnl::matmul::primitive_desc();
  const bool as_is = pd && !is_reference(pd);
  if (!as_is)
    pd = make_descriptor<dnnl::matmul>(epilogue->attributes, plain(dims_a, type), plain(dims_b, type), MemoryDesc(),
                                       plain(dims, type));
  if (!is_usable(pd, chain, *epilogue)) return false;
  const Place source = as_is ? first : in_rows(b, first, dims_a, type);
  const Place weight = as_is ? second : in_rows(b, second, dims_b, type);
  const Place to = destination(b, *epilogue, pd.dst_desc());
  b.add_step<dnnl::matmul>(pd, {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_DST, to}},
                           epilogue->roles);
  place_floats(b, chain.result(), to);
  return true;
}

/// Emits a product with one matrix, which is packed once if it is constant.
[[nodiscard]] inline bool emit_linear(Builder& b, const ChainView& chain) {
  const Operation& op = *chain.base;
  const Dims weight_dims = b.sizes(op.inputs[1]);
  const std::int64_t inner = weight_dims[op.transposed ? 1 : 0];
  const std::int64_t columns = weight_dims[op.transposed ? 0 : 1];
  const Dims source_dims{count_of(b.sizes(op.inputs[0])) / inner, inner};
  const Dims destination_dims{source_dims[0], columns};
  // a program may declare inconsistent symbolic sizes, and the library divides by them
  if (source_dims[0] < 1 || count_of(source_dims) != count_of(b.sizes(op.inputs[0])) ||
      count_of(destination_dims) != count_of(b.sizes(op.outputs[0])))
    throw dnnl::error(dnnl_invalid_arguments, "the rows and the matrix do not fit together");
  const bool biased = op.inputs[2] != no_id;
  const DataType type = detail::product_type(b, op.outputs[0], source_dims[0]);
  const bool packed = b.is_constant(op.inputs[1]);
  if (b.type(op.outputs[0]) == DataType::f32 &&
      detail::is_faster_by_kernel(op, packed, source_dims[0], inner, columns)) {
    if (!chain.epilogue.empty()) return false;
    if (emit_instead(b, op)) return true;
  }
  if (!packed && !op.transposed && !biased && b.sizes(op.inputs[0]).size() == 2) return emit_matmul(b, chain);
  std::optional<Epilogue> epilogue = make_epilogue(b, chain, destination_dims);
  if (!epilogue) return false;
  const Place from = detail::operand(b, op.inputs[0], type), matrix = detail::operand(b, op.inputs[1], type);
  const Place as_is = blocking_of(matrix.md).is_plain() ? matrix : b.row_major(matrix);
  Place to;
  const bool is_row = packed && type == DataType::f32 && detail::is_row_times_large(source_dims[0], inner, columns);
  const Place bias = is_row && biased ? float_parameter(b, op.inputs[2], {columns}) : Place();
  dnnl::convolution_forward::primitive_desc row;
  if (is_row && b.threads() != 1) row = detail::row_descriptor(*epilogue, inner, columns, biased);
  if (is_row && b.threads() == 1) {
    if (!chain.epilogue.empty()) return false;
    to = detail::emit_row_kernel(b, from, op.transposed ? as_is : permuted(as_is, {1, 0}), bias);
  } else if (row) {
    to = detail::emit_row(b, row, from, op.transposed ? as_is : permuted(as_is, {1, 0}), bias);
  } else if (packed) {
    const auto pd = make_descriptor<dnnl::inner_product_forward>(
        epilogue->attributes, dnnl::prop_kind::forward_inference, any(source_dims, type), any({columns, inner}, type),
        biased ? plain({columns}, DataType::f32) : MemoryDesc(), plain(destination_dims, type));
    if (!is_usable(pd, chain, *epilogue)) return false;
    const Place weight = b.reordered(op.transposed ? as_is : permuted(as_is, {1, 0}), pd.weights_desc());
    const Place source = b.reordered(b.viewed(from, source_dims), pd.src_desc());
    if (biased) epilogue->roles.push_back({DNNL_ARG_BIAS, float_parameter(b, op.inputs[2], {columns})});
    to = destination(b, *epilogue, pd.dst_desc());
    b.add_step<dnnl::inner_product_forward>(
        pd, {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_DST, to}}, epilogue->roles);
  } else {
    const auto described = [&](const MemoryDesc& md) {
      return make_descriptor<dnnl::matmul>(epilogue->attributes, plain(source_dims, type), md,
                                           biased ? plain({1, columns}, DataType::f32) : MemoryDesc(),
                                           plain(destination_dims, type));
    };
    Place weight = op.transposed ? permuted(as_is, {1, 0}) : as_is;
    auto pd = type_of(weight.md) == type ? described(weight.md) : dnnl::matmul::primitive_desc();
    if (!pd || is_reference(pd)) {  // in the current layout
      const MemoryDesc dense = plain(dims_of(weight.md), type);
      if (auto other = described(dense); is_usable(other, chain, *epilogue)) {
        pd = std::move(other);
        weight = b.reordered(weight, dense);
      }
    }
    if (!is_usable(pd, chain, *epilogue)) return false;
    const Place source = in_rows(b, from, source_dims, type);
    if (biased) epilogue->roles.push_back({DNNL_ARG_BIAS, float_parameter(b, op.inputs[2], {1, columns})});
    to = destination(b, *epilogue, pd.dst_desc());
    b.add_step<dnnl::matmul>(pd, {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_DST, to}},
                             epilogue->roles);
  }
  place_floats(b, chain.result(), to);
  return true;
}

}  // namespace davit::onednn_ops
