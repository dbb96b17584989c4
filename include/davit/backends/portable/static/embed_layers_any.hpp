// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "davit/backends/portable/static/embed_fold.hpp"
#include "davit/backends/portable/static/embed_layers.hpp"
#include "davit/backends/portable/static/inverse.hpp"
#include "davit/backends/portable/static/layers_any.hpp"

/// Layers that embed_layers.hpp has no float32 kernel for, of portable's static face.
namespace davit::static_lowering {

template <bool Transposed>
struct convolve {
  using Params = sf::Convolve;
  template <class P, class T, class B>
  [[gnu::always_inline]] static constexpr void run(const P& p, T* y, const T* x, const T* weight,
                                                   const B* bias) noexcept {
    sf::convolve<Transposed>(p, x, weight, bias, y);
  }
};
struct max_pool_any {
  using Params = sf::PoolAny;
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& p, T* y, const T* x) noexcept {
    sf::max_pool_any(p, x, y, nullptr);
  }
};
struct max_pool_places {
  using Params = sf::PoolAny;
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& p, T* y, std::int64_t* places, const T* x) noexcept {
    sf::max_pool_any(p, x, y, places);
  }
};
struct avg_pool_any {
  using Params = sf::PoolAny;
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& p, T* y, const T* x) noexcept {
    sf::avg_pool_any(p, x, y);
  }
};
struct product_any {
  using Params = sf::ProductAny;
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& p, T* y, const T* a, const T* b) noexcept {
    sf::product_any(p, a, b, y);
  }
};

/// Why the operands and the first output are not floating-point tensors of one type.
[[nodiscard]] constexpr const char* not_of_one_type(const EmbedNode& n, ValueId x, ValueId y) noexcept {
  if (x == no_id || y == no_id || n.output() == no_id) return "an operand is missing";
  const ScalarType type = n.g.dtype(x);
  if (!is_computed(type) || n.g.dtype(y) != type || n.g.dtype(n.output()) != type)
    return "its tensors have different element types";
  return n.g.numel(n.output()) == 0 || n.g.numel(x) == 0 ? "a tensor has no elements" : nullptr;
}
/// The spatial sizes of a value, the width last.
constexpr void read_plane(const EmbedNode& n, ValueId v, std::size_t dims, sf::Three& to) noexcept {
  for (std::size_t d = 0; d < dims; ++d) to[2 - d] = int32(n.g.size(v, -1 - static_cast<std::int64_t>(d)));
}
template <class View>
constexpr void read_windows(const View& v, sf::Windows& w) noexcept {
  for (std::size_t d = 0; d < 3; ++d) {
    w.kernel[d] = int32(v.kernel[d]);
    w.stride[d] = int32(v.stride[d]);
    w.padding[d] = int32(v.padding[d]);
    w.dilation[d] = int32(v.dilation[d]);
  }
}

constexpr const char* embed_convolve(const EmbedNode& n, StepWriter& steps) {
  operators::ConvolutionView v;
  if (const operators::Refusal wrong = operators::read_convolution(n, v)) return wrong.what;
  if (const char* why = not_of_one_type(n, v.input, v.weight)) return why;
  if (!is_floating(n.g.dtype(v.input))) return "it is of integers";
  sf::Convolve c;
  read_windows(v, c.windows);
  read_plane(n, v.input, v.dims, c.windows.in);
  read_plane(n, n.output(), v.dims, c.windows.out);
  c.batch = v.batched ? int32(n.g.size(v.input, 0)) : 1;
  c.channels = int32(n.g.size(v.input, v.batched ? 1 : 0));
  c.filters = int32(n.g.size(n.output(), v.batched ? 1 : 0));
  c.groups = int32(v.groups);
  const std::int64_t first = n.g.size(v.weight, 0);
  c.first_step = is_output_inner(n, v.weight) ? 1 : int32(n.g.numel(v.weight) / first);
  c.rest_step = is_output_inner(n, v.weight) ? int32((first + 7) / 8 * 8) : 1;
  c.bias = v.bias != no_id ? 1 : 0;
  StepOperands step = v.transposed ? steps.step<convolve<true>>(c) : steps.step<convolve<false>>(c);
  step.out(n.output()).in(v.input).in(v.weight).in(v.bias);
  return nullptr;
}

constexpr const char* embed_pool_any(const EmbedNode& n, StepWriter& steps) {
  operators::PoolView v;
  if (const operators::Refusal wrong = operators::read_pool(n, v)) return wrong.what;
  if (const char* why = not_of_one_type(n, v.input, v.input)) return why;
  sf::PoolAny p;
  read_windows(v, p.windows);
  read_plane(n, v.input, v.dims, p.windows.in);
  read_plane(n, n.output(), v.dims, p.windows.out);
  p.planes = int32(n.g.numel(v.input) / p.windows.in_plane());
  p.count_include_pad = v.count_include_pad ? 1 : 0;
  p.divisor = int32(v.divisor);
  if (!v.maximum)
    steps.step<avg_pool_any>(p).out(n.output()).in(v.input);
  else if (n.output(1) != no_id && n.uses_output(1))
    steps.step<max_pool_places>(p).out(n.output()).out(n.output(1)).in(v.input);
  else
    steps.step<max_pool_any>(p).out(n.output()).in(v.input);
  return nullptr;
}

constexpr const char* embed_product_any(const EmbedNode& n, StepWriter& steps) {
  operators::MatmulView v;
  if (const operators::Refusal wrong = operators::read_matmul(n, v)) return wrong.what;
  if (const char* why = not_of_one_type(n, v.left, v.right)) return why;
  if (!v.is_plain()) return "it has factors";
  if (is_output_inner(n, v.right) && !n.g.is_probing()) return "its weight is laid out for a linear";
  const std::uint32_t left = n.g.rank(v.left), right = n.g.rank(v.right);
  if (right < 2 || left < 1 || (left < 2 && !v.transposed) || (right > 2 && left != right))
    return "its operands are no matrices";
  sf::ProductAny p;
  for (std::uint32_t d = 0; d + 2 < right; ++d) {
    if (n.g.size(v.left, d) != n.g.size(v.right, d)) return "its batch dimensions differ";
    p.batch *= int32(n.g.size(v.right, d));
  }
  p.depth = int32(n.g.size(v.right, v.transposed ? -1 : -2));
  p.columns = int32(n.g.size(v.right, v.transposed ? -2 : -1));
  p.rows = int32(n.g.numel(v.left) / (std::int64_t{p.batch} * p.depth));
  p.depth_step = v.transposed ? 1 : p.columns;
  p.column_step = v.transposed ? p.depth : 1;
  p.right_step = right > 2 ? p.depth * p.columns : 0;
  if (v.addend == no_id) {
    steps.step<product_any>(p).out(n.output()).in(v.left).in(v.right);
    return nullptr;
  }
  if (n.g.dtype(v.addend) != n.g.dtype(v.left)) return "its tensors have different element types";
  sf::MapTwo<0> sum;
  if (const char* why = walk_over<2>(n, {n.output(), v.addend}, sum.walk)) return why;
  const std::uint32_t product = steps.temporary(n.g.dtype(v.left), n.g.numel(n.output()));
  steps.step<product_any>(p).scratch(product).in(v.left).in(v.right);
  steps.step<map_two<kernels::Add, 0>>(sum).out(n.output()).scratch(product).in(v.addend);
  return nullptr;
}

/// The factor and the addend of each channel, where there are any: y is (batch, channels, plane).
constexpr const char* write_affine(const EmbedNode& n, StepWriter& steps, ValueId weight, ValueId bias,
                                   std::int64_t batch, std::int64_t channels) {
  const ValueId y = n.output();
  const std::int64_t plane = n.g.numel(y) / (batch * channels);
  sf::MapTwo<0> p;
  if (!p.walk.push(batch, {channels * plane, 0}) || !p.walk.push(channels, {plane, 1}) || !p.walk.push(plane, {1, 0}))
    return too_many_dims;
  for (const ValueId v : {weight, bias})
    if (v != no_id && (n.g.dtype(v) != ScalarType::float32 || n.g.numel(v) != channels))
      return "its factors are not one number per channel";
  if (weight != no_id) steps.step<map_two<kernels::Multiply, 0>>(p).out(y).out(y).in(weight);
  if (bias != no_id) steps.step<map_two<kernels::Add, 0>>(p).out(y).out(y).in(bias);
  return nullptr;
}
constexpr const char* write_normalized(const EmbedNode& n, StepWriter& steps, ValueId x, std::int64_t rows,
                                       double eps) {
  if (const char* why = not_float(n, x)) return why;
  if (n.uses_output(1) || n.uses_output(2)) return "its statistics are used";
  if (rows < 1 || n.g.numel(x) == 0 || n.g.numel(x) % rows != 0) return "its sizes do not fit";
  steps.step<layer_norm>({int32(rows), int32(n.g.numel(x) / rows), eps}).out(n.output()).in(x).in(no_id).in(no_id);
  return nullptr;
}
constexpr const char* embed_group_norm(const EmbedNode& n, StepWriter& steps) {
  operators::GroupNormView v;
  if (const operators::Refusal wrong = operators::read_group_norm(n, v)) return wrong.what;
  if (v.batch < 1 || v.channels < 1) return "its sizes do not fit";
  if (const char* why = write_normalized(n, steps, v.input, v.batch * v.groups, v.eps)) return why;
  return write_affine(n, steps, v.weight, v.bias, v.batch, v.channels);
}
/// An instance norm, as a batch norm of one batch by its own statistics.
constexpr const char* embed_instance_norm(const EmbedNode& n, StepWriter& steps) {
  operators::BatchNormView v;
  if (const operators::Refusal wrong = operators::read_batch_norm(n, v)) return wrong.what;
  if (n.g.size(v.input, 0) != 1) return "it is of several batches";
  if (!(v.eps > 0)) return "it has no epsilon";
  if (const char* why = write_normalized(n, steps, v.input, n.g.size(v.input, 1), v.eps)) return why;
  return write_affine(n, steps, v.weight, v.bias, 1, n.g.size(v.input, 1));
}

/// A batch norm of any floating-point type, with the running statistics: ((x - mean) * (variance + eps)^-1/2) * weight
/// + bias.
constexpr const char* embed_batch_norm_any(const EmbedNode& n, StepWriter& steps) {
  operators::BatchNormView v;
  if (const operators::Refusal wrong = operators::read_batch_norm(n, v)) return wrong.what;
  if (v.training) return "it trains";
  if (const char* why = not_of_one_type(n, v.input, v.mean)) return why;
  if (n.uses_output(1) || n.uses_output(2)) return "its batch statistics are used";
  const ScalarType type = n.g.dtype(v.input);
  if (!is_floating(type)) return "it is of integers";
  const std::int64_t channels = n.g.size(v.input, 1), batch = n.g.size(v.input, 0),
                     plane = n.g.numel(v.input) / (batch * channels);
  for (const ValueId each : {v.weight, v.bias, v.variance})
    if (each != no_id && (n.g.dtype(each) != type || n.g.numel(each) != channels))
      return "its factors are not one number per channel";
  sf::MapTwo<0> p;
  if (!p.walk.push(batch, {channels * plane, 0}) || !p.walk.push(channels, {plane, 1}) || !p.walk.push(plane, {1, 0}))
    return too_many_dims;
  MappedOperand eps;
  eps.real = v.eps;
  const std::uint32_t shifted = steps.temporary(type, channels), factor = steps.temporary(type, channels);
  const ValueId y = n.output();
  steps.step<map_with_number<kernels::Add, 0>>({int32(channels), 0, eps.param(type)}).scratch(shifted).in(v.variance);
  steps.step<map_one<kernels::Rsqrt, 0>>({int32(channels)}).scratch(factor).scratch(shifted);
  steps.step<map_two<kernels::Subtract, 0>>(p).out(y).in(v.input).in(v.mean);
  steps.step<map_two<kernels::Multiply, 0>>(p).out(y).out(y).scratch(factor);
  if (v.weight != no_id) steps.step<map_two<kernels::Multiply, 0>>(p).out(y).out(y).in(v.weight);
  if (v.bias != no_id) steps.step<map_two<kernels::Add, 0>>(p).out(y).out(y).in(v.bias);
  return nullptr;
}

struct inverse {
  using Params = sf::Inverse;
  template <class P, class T>
  [[gnu::always_inline]] static constexpr ErrorCode run(const P& p, T* y, std::int32_t* info, T* work,
                                                        const T* x) noexcept {
    return sf::inverse(p, x, y, info, work);
  }
};
constexpr const char* embed_inverse(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value({"A", 0});
  if (x == no_id || n.output() == no_id || n.output(1) == no_id) return "an operand is missing";
  const ScalarType type = n.g.dtype(x);
  if (type != ScalarType::float32 && type != ScalarType::float64)
    return "its matrices are of neither float32 nor float64";
  const std::uint32_t rank = n.g.rank(x);
  if (rank < 2 || n.g.size(x, rank - 1) != n.g.size(x, rank - 2)) return "its matrices are not square";
  if (n.g.numel(x) == 0) return "a tensor has no elements";
  bool checks = false;
  if (!operators::read_flag(n, {"check_errors", 1}, false, checks)) return "an argument is not known";
  const std::int64_t size = n.g.size(x, rank - 1);
  const std::uint32_t work = steps.temporary(type, size * size);
  steps.step<inverse>({int32(n.g.numel(x) / (size * size)), int32(size), checks ? 1 : 0})
      .out(n.output())
      .out(n.output(1))
      .scratch(work)
      .in(x);
  return nullptr;
}

using layer_any_kernels =
    kernel_list<inverse, convolve<true>, convolve<false>, max_pool_any, max_pool_places, avg_pool_any, product_any>;

inline constexpr std::array layer_any_rows{
    EmbedRow{"aten.convolution.default", embed_convolve},
    EmbedRow{"aten.conv1d.default", embed_convolve},
    EmbedRow{"aten.conv2d.default", embed_convolve},
    EmbedRow{"aten.conv3d.default", embed_convolve},
    EmbedRow{"aten.max_pool2d_with_indices.default", embed_pool_any},
    EmbedRow{"aten.max_pool3d_with_indices.default", embed_pool_any},
    EmbedRow{"aten.max_pool1d.default", embed_pool_any},
    EmbedRow{"aten.max_pool2d.default", embed_pool_any},
    EmbedRow{"aten.max_pool3d.default", embed_pool_any},
    EmbedRow{"aten.avg_pool1d.default", embed_pool_any},
    EmbedRow{"aten.avg_pool2d.default", embed_pool_any},
    EmbedRow{"aten.avg_pool3d.default", embed_pool_any},
    EmbedRow{"aten.linear.default", embed_product_any},
    EmbedRow{"aten.mm.default", embed_product_any},
    EmbedRow{"aten.bmm.default", embed_product_any},
    EmbedRow{"aten.matmul.default", embed_product_any},
    EmbedRow{"aten.addmm.default", embed_product_any},
    EmbedRow{"aten.linalg_inv_ex.default", embed_inverse},
    EmbedRow{"aten.native_group_norm.default", embed_group_norm},
    EmbedRow{"aten._native_batch_norm_legit_no_training.default", embed_batch_norm_any},
    EmbedRow{"aten.batch_norm.default", embed_batch_norm_any},
    EmbedRow{"aten._native_batch_norm_legit.no_stats", embed_instance_norm},
};

}  // namespace davit::static_lowering
