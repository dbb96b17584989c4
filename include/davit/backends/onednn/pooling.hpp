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
#include "davit/program/operators/pooling.hpp"
#include "davit/program/operators/reduction.hpp"
#include "davit/program/operators/resize.hpp"

/// Pooling, means over images, and resizing by the nearest element.
namespace davit::onednn_ops {

/// max_pool and avg_pool over 1 to 3 dimensions, and max_pool_with_indices with unused indices.
[[nodiscard]] inline const char* describe_pool(const NodeArguments& in, const OpRow&, Operation& op) {
  operators::PoolView view;
  if (const Refusal wrong = operators::read_pool(in, view)) return wrong.what;
  if (!view.batched || in.rank(in.output()) != view.dims + 2) return "the input has no batch dimension";
  if (!in.uses_first_output_only()) return "the indices of the maxima are used";
  if (view.divisor != 0) return "the divisor is given";
  op.kind = OpKind::pool;
  op.inputs = {view.input};
  op.kernel = spatial_dims(view.kernel, view.dims);
  op.strides = spatial_dims(view.stride, view.dims);
  op.dilates = dilation_dims(view.dilation, view.dims);
  op.pad_left = spatial_dims(view.padding, view.dims);
  operators::Spatial end{};
  bool overhangs = false;
  for (std::size_t d = 3 - view.dims; d < 3; ++d) {
    const std::size_t at = d + view.dims - 1;
    end[d] = view.padding_end(d, in.size(view.input, at), in.size(in.output(), at));
    overhangs = overhangs || end[d] > view.padding[d];
    if (end[d] >= view.kernel[d] * view.dilation[d]) return "the padding is as wide as the kernel";
  }
  op.pad_right = spatial_dims(end, view.dims);
  const bool counts_padding = !view.maximum && view.count_include_pad;
  if (counts_padding && overhangs) return "ceil_mode reaches over the padding, which counts";
  op.algorithm = view.maximum                         ? algorithm::pooling_max
                 : counts_padding && view.is_padded() ? algorithm::pooling_avg_include_padding
                                                      : algorithm::pooling_avg_exclude_padding;
  return nullptr;
}

/// adaptive_avg_pool whose windows all have one size.
[[nodiscard]] inline const char* describe_adaptive_pool(const NodeArguments& in, const OpRow&, Operation& op) {
  operators::AdaptivePoolView view;
  if (const Refusal wrong = operators::read_adaptive_pool(in, view)) return wrong.what;
  if (!view.batched || in.rank(in.output()) != view.dims + 2) return "the input has no batch dimension";
  op.kind = OpKind::pool;
  op.inputs = {view.input};
  for (std::size_t d = 3 - view.dims; d < 3; ++d) {
    const std::size_t at = d + view.dims - 1;
    std::int64_t size = in.size(view.input, at);
    if (size < 0 && view.out[d] == 1)
      size = sizes_of(in.graph(), view.input)[at];  // one window over all elements, of any size
    if (view.out[d] < 1 || size % view.out[d] != 0) return "its windows differ in size";
    op.kernel.push_back(size / view.out[d]);
  }
  op.strides = op.kernel;
  op.dilates = op.pad_left = op.pad_right = Dims(view.dims, 0);
  op.algorithm = algorithm::pooling_avg_exclude_padding;
  return nullptr;
}

/// Nearest resizing to multiples of the input's sizes: there oneDNN's rule and torch's agree.
[[nodiscard]] inline const char* describe_nearest(const NodeArguments& in, const OpRow&, Operation& op) {
  operators::ResizeView view;
  if (const Refusal wrong = operators::read_resize(in, view)) return wrong.what;
  if (in.rank(view.input) != 4 || in.rank(in.output()) != 4) return "input and output have other than four dimensions";
  const Dims from = sizes_of(in.graph(), view.input), to = sizes_of(in.graph(), in.output());
  if (from[0] != to[0] || from[1] != to[1] || to[2] % from[2] != 0 || to[3] % from[3] != 0)
    return "the new sizes are not multiples";
  if (to[2] > 1 << 20 || to[3] > 1 << 20) return "a size beyond 2^20";  // oneDNN makes tables of these sizes
  for (std::size_t d = 0; d < 2; ++d)
    if (view.factor[d] != 0 && view.factor[d] * static_cast<double>(from[d + 2]) != static_cast<double>(to[d + 2]))
      return "the scale is not that of the sizes";
  op.kind = OpKind::resample;
  op.inputs = {view.input};
  op.algorithm = algorithm::resampling_nearest;
  return nullptr;
}

/// The mean over all dimensions behind the channels, as a pooling. Other reductions are portable's: its sums are faster
/// than oneDNN 2.6's, and in double.
[[nodiscard]] inline const char* describe_mean(const NodeArguments& in, const OpRow&, Operation& op) {
  operators::ReductionView view;
  if (const Refusal wrong = operators::read_reduction(in, view)) return wrong.what;
  if (view.converts) return "it changes the dtype";
  const Dims source = sizes_of(in.graph(), view.input);
  std::int64_t left = 1;
  bool spatial = source.size() >= 3 && source.size() <= 5;
  for (std::size_t d = 0; d < source.size(); ++d) {
    const bool reduced = view.reduces(d);
    left *= reduced ? 1 : source[d];
    spatial = spatial && reduced == (d >= 2);
  }
  if (left != count_of(sizes_of(in.graph(), in.output()))) return "the output's sizes do not fit";
  if (!spatial) return "it is not a mean over whole images";
  op.inputs = {view.input};
  op.kind = OpKind::pool;
  op.algorithm = algorithm::pooling_avg_exclude_padding;
  op.kernel.assign(source.begin() + 2, source.end());
  op.strides = op.kernel;
  op.dilates = op.pad_left = op.pad_right = Dims(op.kernel.size(), 0);
  return nullptr;
}

inline void emit_pool(Builder& b, const Operation& op) {
  const Place& from = b.place_of(op.inputs[0]);
  const bool means = op.name.starts_with("aten.mean");
  const bool apart = b.type(op.outputs[0]) == DataType::f32 && op.strides.back() > 1 &&
                     (op.strides.size() == 3 || b.sizes(op.inputs[0]).back() >= 64);
  if ((means || apart) && is_row_major(from.md) && emit_instead(b, op))
    return;  // the library's primitive is slower there
  Dims dims = b.sizes(op.inputs[0]);
  for (std::size_t d = 2; d < dims.size(); ++d)
    dims[d] =
        (dims[d] + op.pad_left[d - 2] + op.pad_right[d - 2] - (op.kernel[d - 2] - 1) * (op.dilates[d - 2] + 1) - 1) /
            op.strides[d - 2] +
        1;
  const DataType type = type_of(from.md);
  const bool bytes = type == DataType::s8 || type == DataType::u8;  // byte pools have code for channels_last alone
  const auto best = [&] {
    return detail::best_of(from.md, bytes ? channels_last(dims_of(from.md), type) : plain(dims_of(from.md), type),
                           [&](const MemoryDesc& tried) {
                             return make_descriptor<Pooling>(b.attributes(), dnnl::prop_kind::forward_inference,
                                                             op.algorithm, tried, any(dims, type), op.strides,
                                                             op.kernel, op.dilates, op.pad_left, op.pad_right);
                           });
  };
  auto [pd, md] = means ? attempt(best) : best();
  if (emit_instead_of_reference(b, op, pd)) return;
  const Place source = b.reordered(from, md);
  const Place to = b.add_scratch(pd.dst_desc());
  b.add_step<Pooling>(pd, {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, to}});
  b.place(op.outputs[0], to);
}

inline void emit_resample(Builder& b, const Operation& op) {
  const Place& from = b.place_of(op.inputs[0]);
  auto [pd, md] = detail::best_of(from.md, plain(dims_of(from.md), type_of(from.md)), [&](const MemoryDesc& tried) {
    return make_descriptor<dnnl::resampling_forward>(b.attributes(), dnnl::prop_kind::forward_inference, op.algorithm,
                                                     tried, any(b.sizes(op.outputs[0]), type_of(tried)));
  });
  if (emit_instead_of_reference(b, op, pd)) return;
  const Place source = b.reordered(from, md);
  const Place to = b.add_scratch(pd.dst_desc());
  b.add_step<dnnl::resampling_forward>(pd, {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, to}});
  b.place(op.outputs[0], to);
}

}  // namespace davit::onednn_ops
