// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "davit/backends/onednn/library.hpp"

/// Primitive descriptors, made alike with oneDNN 2 and 3: 2 first makes an operation descriptor, 3 does not have them.
/// Each function answers an empty descriptor where the library has no implementation.
/// Source: the "Transition from v2.x to v3.x" page of oneDNN's developer guide.
namespace davit::onednn_ops {

using dnnl::algorithm;
using dnnl::primitive_attr;

#if DNNL_VERSION_MAJOR >= 3
using Pooling = dnnl::pooling_forward;
#else
using Pooling = dnnl::pooling_v2_forward;
#endif

/// What `make` answers, or an empty object if the library refuses.
template <class Make>
[[nodiscard]] auto attempt(Make&& make) -> decltype(make()) {
  try {
    return make();
  } catch (const dnnl::error&) {
    return {};
  }
}

/// The first implementation whose name `accepts`; the arguments are the same and in the same order in both versions.
template <class P, class Accepts, class... Args>
[[nodiscard]] typename P::primitive_desc describe_if(Accepts&& accepts, const primitive_attr& attr, const Args&... args) {
  return attempt([&] {
#if DNNL_VERSION_MAJOR >= 3
    typename P::primitive_desc pd(cpu(), args..., attr);
#else
    const typename P::desc operation(args...);  // version 2.6 reads it again for each implementation
    typename P::primitive_desc pd(operation, attr, cpu());
#endif
    while (!accepts(std::string_view(pd.impl_info_str())))
      if (!pd.next_impl()) return typename P::primitive_desc();
    return pd;
  });
}

/// The library's first implementation.
template <class P, class... Args>
[[nodiscard]] typename P::primitive_desc describe(const primitive_attr& attr, const Args&... args) {
  return describe_if<P>([](std::string_view) { return true; }, attr, args...);
}

[[nodiscard]] inline auto describe_eltwise(const primitive_attr& attr, algorithm a, const MemoryDesc& md, float alpha,
                                           float beta) {
  constexpr auto inference = dnnl::prop_kind::forward_inference;
#if DNNL_VERSION_MAJOR >= 3
  return describe<dnnl::eltwise_forward>(attr, inference, a, md, md, alpha, beta);
#else
  return describe<dnnl::eltwise_forward>(attr, inference, a, md, alpha, beta);
#endif
}

/// Layer or batch normalization of `md`, with the same layout for source and destination.
template <class P>
[[nodiscard]] auto describe_norm(const primitive_attr& attr, const MemoryDesc& md, float epsilon,
                                 dnnl::normalization_flags flags) {
  constexpr auto inference = dnnl::prop_kind::forward_inference;
#if DNNL_VERSION_MAJOR >= 3
  return describe<P>(attr, inference, md, md, epsilon, flags);
#else
  return describe<P>(attr, inference, md, epsilon, flags);
#endif
}

[[nodiscard]] inline dnnl::concat::primitive_desc describe_concat(const primitive_attr& attr, int axis,
                                                                  const std::vector<MemoryDesc>& sources) {
  return attempt([&] {
#if DNNL_VERSION_MAJOR >= 3
    return dnnl::concat::primitive_desc(cpu(), axis, sources, attr);
#else
    return dnnl::concat::primitive_desc(axis, sources, cpu(), attr);
#endif
  });
}

[[nodiscard]] inline dnnl::reorder::primitive_desc describe_reorder(const primitive_attr& attr, const MemoryDesc& from,
                                                                    const MemoryDesc& to) {
  return attempt([&] { return dnnl::reorder::primitive_desc(cpu(), from, cpu(), to, attr); });
}

inline void append_eltwise(dnnl::post_ops& ops, algorithm a, float alpha, float beta) {
#if DNNL_VERSION_MAJOR >= 3
  ops.append_eltwise(a, alpha, beta);
#else
  ops.append_eltwise(1.0f, a, alpha, beta);
#endif
}

/// A depthwise convolution of the result, with weights of its own. Source: oneDNN's guide to "Depthwise" post-ops.
inline void append_depthwise(dnnl::post_ops& ops, std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                             bool biased) {
  constexpr auto f32 = dnnl::memory::data_type::f32;
  const auto bias = biased ? f32 : dnnl::memory::data_type::undef;
#if DNNL_VERSION_MAJOR >= 3
  ops.append_dw(f32, bias, f32, kernel, stride, pad);
#else
  ops.append_dw(f32, bias, f32, kernel, stride, pad, 0, {});
#endif
}

/// hardswish(x) = x * clamp(x / 6 + 1 / 2, 0, 1): version 3 takes the factors, version 2 has them built in.
inline constexpr float hardswish_alpha = DNNL_VERSION_MAJOR >= 3 ? 1.0f / 6 : 0.0f;
inline constexpr float hardswish_beta = DNNL_VERSION_MAJOR >= 3 ? 0.5f : 0.0f;

/// True if the library would fall back on its reference implementation, or pools by plain loops: 10 times slower and more.
template <class PrimitiveDesc>
[[nodiscard]] bool is_reference(const PrimitiveDesc& pd) {
  const std::string_view name = pd.impl_info_str();
  return name.starts_with("ref") || name.starts_with("simple_nchw");
}

}  // namespace davit::onednn_ops
