// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backends/onednn/descriptors.hpp"
#include "davit/backends/onednn/epilogue.hpp"
#include "davit/backends/onednn/kernel_call.hpp"
#include "davit/backends/onednn/movement.hpp"
#include "davit/backends/onednn/operands.hpp"
#include "davit/program/operators/activation.hpp"
#include "davit/program/operators/binary.hpp"
#include "davit/program/operators/bounds.hpp"

/// Elementwise functions of one and of two tensors.
namespace davit::onednn_ops {

namespace detail {
/// Calls `make(md)` with candidate layouts until it returns a descriptor that is no reference implementation. Returns
/// that one, or else the last, with its layout.
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

namespace detail {
[[nodiscard]] inline const char* unary(const NodeArguments& in, Operation& op,
                                       std::initializer_list<Function> functions) {
  const ValueId x = in.value({"self", 0});
  if (x == no_id) return "an operand is no tensor";
  if (sizes_of(in.graph(), x) != sizes_of(in.graph(), in.output())) return "the sizes of input and output differ";
  op.kind = OpKind::eltwise;
  op.inputs = {x};
  op.functions = functions;
  return nullptr;
}
[[nodiscard]] inline const char* unary(const NodeArguments& in, Operation& op, dnnl::algorithm a, double alpha = 0,
                                       double beta = 0) {
  return unary(in, op, {{a, static_cast<float>(alpha), static_cast<float>(beta)}});
}
/// A tensor divided by a number: a product with its reciprocal only if that is exact.
[[nodiscard]] inline const char* quotient(const NodeArguments& in, Operation& op, float divisor) {
  if (!std::isnormal(divisor)) return "the divisor is out of float's range";
  int exponent = 0;
  const bool exact = std::frexp(std::fabs(divisor), &exponent) == 0.5f && std::isnormal(1 / divisor);
  if (const char* const wrong = unary(in, op, algorithm::eltwise_linear, 1 / divisor, -0.0f); wrong != nullptr || exact)
    return wrong;
  op.kind = OpKind::binary;
  op.algorithm = algorithm::binary_div;
  op.functions.clear();
  op.inputs.push_back(no_id);
  op.epsilon = divisor;
  return nullptr;
}
/// The number of an addition as torch rounds it: to the result's dtype. Factors and divisors are not rounded.
[[nodiscard]] inline float addend(const NodeArguments& in, double number) {
  const auto wide = static_cast<float>(number);
  return in.graph().values[in.output()].dtype == ScalarType::bfloat16 ? static_cast<float>(BFloat16(wide)) : wide;
}
[[nodiscard]] inline algorithm algorithm_of(operators::BinaryFunction f) noexcept {
  switch (f) {
    case operators::BinaryFunction::add: return algorithm::binary_add;
    case operators::BinaryFunction::subtract: return algorithm::binary_sub;
    case operators::BinaryFunction::multiply: return algorithm::binary_mul;
    case operators::BinaryFunction::divide: return algorithm::binary_div;
    case operators::BinaryFunction::maximum: return algorithm::binary_max;
    case operators::BinaryFunction::minimum: return algorithm::binary_min;
  }
  return algorithm::undef;
}
}  // namespace detail

/// The summand of eltwise_linear for a product: a zero keeps its sign.
inline constexpr float minus_zero = -0.0f;

/// Functions of one tensor without further arguments, from the row.
[[nodiscard]] inline const char* describe_unary(const NodeArguments& in, const OpRow& row, Operation& op) {
  return detail::unary(in, op, row.algorithm, row.alpha, row.beta);
}

[[nodiscard]] inline const char* describe_hardsigmoid(const NodeArguments& in, const OpRow&, Operation& op) {
  return detail::unary(in, op, {{algorithm::eltwise_linear, 1.0f / 6, 0.5f}, {algorithm::eltwise_clip, 0, 1}});
}

/// relu, relu6, hardtanh and clamp.
[[nodiscard]] inline const char* describe_bounds(const NodeArguments& in, const OpRow&, Operation& op) {
  operators::ClampView view;
  if (const Refusal wrong = operators::read_clamp(in, view)) return wrong.what;
  if (!(view.low <= view.high)) return "the bounds cross";
  if (view.low == 0 && view.high == std::numeric_limits<double>::infinity())
    return detail::unary(in, op, algorithm::eltwise_relu);
  return detail::unary(in, op, algorithm::eltwise_clip, view.low, view.high);
}

/// gelu, leaky_relu, and pow with an exponent that has a primitive.
[[nodiscard]] inline const char* describe_activation(const NodeArguments& in, const OpRow&, Operation& op) {
  operators::ActivationView view;
  if (const Refusal wrong = operators::read_activation(in, view)) return wrong.what;
  switch (view.function) {
    case operators::ActivationFunction::gelu: return detail::unary(in, op, algorithm::eltwise_gelu_erf);
    case operators::ActivationFunction::gelu_tanh: return detail::unary(in, op, algorithm::eltwise_gelu_tanh);
    case operators::ActivationFunction::leaky_relu:
      return detail::unary(in, op, algorithm::eltwise_relu, view.numbers[0]);
    case operators::ActivationFunction::power:
      if (view.numbers[0] == 2) return detail::unary(in, op, algorithm::eltwise_square);
      if (view.numbers[0] == 1) return detail::unary(in, op, algorithm::eltwise_linear, 1, 0);
      return "the exponent is neither 1 nor 2";
    case operators::ActivationFunction::elu: break;
  }
  return "the library computes it otherwise";
}

[[nodiscard]] inline const char* describe_reciprocal_root(const NodeArguments& in, const OpRow&, Operation& op) {
  return detail::unary(in, op, {{algorithm::eltwise_sqrt, 0, 0}, {algorithm::eltwise_pow, 1, -1}});
}

/// add, sub, mul, div, maximum and minimum of two tensors, or of a tensor and a number; number - tensor.
[[nodiscard]] inline const char* describe_binary(const NodeArguments& in, const OpRow&, Operation& op) {
  operators::BinaryView view;
  if (const Refusal wrong = operators::read_binary(in, view)) return wrong.what;
  if (view.alpha != 1) return "alpha is not 1";
  if (view.left == no_id) {
    if (view.function != operators::BinaryFunction::subtract || view.right == no_id)
      return "the first operand is no tensor";
    if (sizes_of(in.graph(), view.right) != sizes_of(in.graph(), in.output()))
      return "the sizes of input and output differ";
    op.kind = OpKind::eltwise;
    op.inputs = {view.right};
    op.functions = {{algorithm::eltwise_linear, -1.0f, detail::addend(in, view.left_number)}};
    return nullptr;
  }
  if (view.right == no_id) {
    const double c = view.right_number;
    switch (view.function) {
      case operators::BinaryFunction::add:
        return detail::unary(in, op, algorithm::eltwise_linear, 1, detail::addend(in, c));
      case operators::BinaryFunction::subtract:
        return detail::unary(in, op, algorithm::eltwise_linear, 1, -detail::addend(in, c));
      case operators::BinaryFunction::multiply: return detail::unary(in, op, algorithm::eltwise_linear, c, minus_zero);
      case operators::BinaryFunction::divide: return detail::quotient(in, op, static_cast<float>(c));
      default: return "the second operand is a number";
    }
  }
  const Dims a = sizes_of(in.graph(), view.left);
  const Dims b = sizes_of(in.graph(), view.right);
  const Dims out = sizes_of(in.graph(), in.output());
  const auto fits = [&](const Dims& dims) {
    if (dims.size() > out.size()) return false;
    for (std::size_t d = 0; d < dims.size(); ++d)
      if (const std::int64_t size = dims[dims.size() - 1 - d]; size != 1 && size != out[out.size() - 1 - d])
        return false;
    return true;
  };
  if (!fits(a) || !fits(b)) return "the operands do not broadcast to the output";
  op.kind = OpKind::binary;
  op.algorithm = detail::algorithm_of(view.function);
  op.inputs = {view.left, view.right};
  const bool commutes = op.algorithm != algorithm::binary_sub && op.algorithm != algorithm::binary_div;
  if (count_of(a) != count_of(out) && commutes && count_of(b) == count_of(out)) std::swap(op.inputs[0], op.inputs[1]);
  return nullptr;
}

/// Emits functions one after the other; several functions of bfloat16 are one kernel, which rounds once.
inline void emit_eltwise(Builder& b, const Operation& op) {
  const bool is_float = b.type(op.outputs[0]) == DataType::f32;
  if (!is_float && op.functions.size() != 1 &&
      emit_instead_of_reference(b, op, dnnl::eltwise_forward::primitive_desc()))
    return;
  Place from = b.place_of(op.inputs[0]);
  bool in_place = b.is_last_use(op.inputs[0]);
  for (const Function& f : op.functions) {
    auto [pd, md] = detail::best_of(from.md, plain(dims_of(from.md), type_of(from.md)), [&](const MemoryDesc& tried) {
      return eltwise_descriptor(b.attributes(), f.algorithm, tried, f.alpha, f.beta);
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

/// Emits a binary with functions as its epilogue. The second operand may be broadcast; a broadcast first operand is
/// copied.
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
  if (dims == other_dims) {  // both in the blocked operand's layout
    if (first && second && blocking_of(md).is_plain() && !blocking_of(other_md).is_plain()) md = other_md;
    if (md.get_size() != plain(dims, type).get_size() && blocking_of(md).is_plain()) md = plain(dims, type);
    other_md = md;
  }
  auto pd = make_descriptor<dnnl::binary>(epilogue->attributes, op.algorithm, md, other_md, any(dims, type));
  const bool fits = pd && !is_reference(pd) && layout_fits(pd.dst_desc(), pd.impl_info_str());
  if (!fits) {
    auto row_major = make_descriptor<dnnl::binary>(epilogue->attributes, op.algorithm, plain(dims, type),
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

}  // namespace davit::onednn_ops
