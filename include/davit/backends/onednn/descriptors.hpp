// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "davit/backends/onednn/library.hpp"

/// Primitive descriptors. Each function answers an empty one where the library has no implementation.
namespace davit::onednn_ops {

using dnnl::algorithm;
using dnnl::primitive_attr;

/// What `make` answers, or an empty object if the library refuses.
template <class Make>
[[nodiscard]] auto attempt(Make&& make) -> decltype(make()) {
  try {
    return make();
  } catch (const dnnl::error&) {
    return {};
  }
}

/// The first implementation whose name `accepts`.
template <class P, class Accepts, class... Args>
[[nodiscard]] typename P::primitive_desc describe_if(Accepts&& accepts, const primitive_attr& attr, const Args&... args) {
  using Found = typename P::primitive_desc;
  const auto first = [&](Found pd) {
    while (!accepts(std::string_view(pd.impl_info_str())))
      if (!pd.next_impl()) return Found();
    return pd;
  };
  return attempt([&] { return with_descriptor<P>(cpu(), attr, first, args...); });
}

/// The library's first implementation.
template <class P, class... Args>
[[nodiscard]] typename P::primitive_desc describe(const primitive_attr& attr, const Args&... args) {
  return describe_if<P>([](std::string_view) { return true; }, attr, args...);
}

[[nodiscard]] inline auto describe_eltwise(const primitive_attr& attr, algorithm a, const MemoryDesc& md, float alpha, float beta) {
  return in_one_layout([&](const auto&... args) { return describe<dnnl::eltwise_forward>(attr, dnnl::prop_kind::forward_inference, a, args...); }, md, alpha, beta);
}

/// Layer or batch normalization of `md`, with the same layout for source and destination.
template <class P>
[[nodiscard]] auto describe_norm(const primitive_attr& attr, const MemoryDesc& md, float epsilon, dnnl::normalization_flags flags) {
  return in_one_layout([&](const auto&... args) { return describe<P>(attr, dnnl::prop_kind::forward_inference, args...); }, md, epsilon, flags);
}

[[nodiscard]] inline dnnl::concat::primitive_desc describe_concat(const primitive_attr& attr, int axis, const std::vector<MemoryDesc>& sources) {
  return attempt([&] { return concat_descriptor(cpu(), attr, axis, sources); });
}

[[nodiscard]] inline dnnl::reorder::primitive_desc describe_reorder(const primitive_attr& attr, const MemoryDesc& from,
                                                                    const MemoryDesc& to) {
  return attempt([&] { return dnnl::reorder::primitive_desc(cpu(), from, cpu(), to, attr); });
}

/// True if the library would fall back on its reference implementation, or pools by plain loops: 10 times slower and more.
template <class PrimitiveDesc>
[[nodiscard]] bool is_reference(const PrimitiveDesc& pd) {
  const std::string_view name = pd.impl_info_str();
  return name.starts_with("ref") || name.starts_with("simple_nchw");
}

}  // namespace davit::onednn_ops
