// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "davit/backends/onednn/library.hpp"

/// Primitive descriptors. Each function returns an empty one if the library has no implementation.
namespace davit::onednn_ops {

using dnnl::algorithm;
using dnnl::primitive_attr;

/// Returns make(), or an empty object if the library refuses.
template <class Make>
[[nodiscard]] auto attempt(Make&& make) -> decltype(make()) {
  try {
    return make();
  } catch (const dnnl::error&) {
    return {};
  }
}

/// The first implementation whose name fulfils `accepts`.
template <class P, class Accepts, class... Args>
[[nodiscard]] typename P::primitive_desc make_descriptor_if(Accepts&& accepts, const primitive_attr& attr,
                                                            const Args&... args) {
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
[[nodiscard]] typename P::primitive_desc make_descriptor(const primitive_attr& attr, const Args&... args) {
  return make_descriptor_if<P>([](std::string_view) { return true; }, attr, args...);
}

[[nodiscard]] inline auto eltwise_descriptor(const primitive_attr& attr, algorithm a, const MemoryDesc& md, float alpha,
                                             float beta) {
  return in_one_layout(
      [&](const auto&... args) {
        return make_descriptor<dnnl::eltwise_forward>(attr, dnnl::prop_kind::forward_inference, a, args...);
      },
      md, alpha, beta);
}

/// Layer or batch normalization of `md`; source and destination share the layout.
template <class P>
[[nodiscard]] auto norm_descriptor(const primitive_attr& attr, const MemoryDesc& md, float epsilon,
                                   dnnl::normalization_flags flags) {
  return in_one_layout(
      [&](const auto&... args) { return make_descriptor<P>(attr, dnnl::prop_kind::forward_inference, args...); }, md,
      epsilon, flags);
}

[[nodiscard]] inline dnnl::concat::primitive_desc join_descriptor(const primitive_attr& attr, int axis,
                                                                  const std::vector<MemoryDesc>& sources) {
  return attempt([&] { return concat_descriptor(cpu(), attr, axis, sources); });
}

namespace detail {
[[nodiscard]] inline bool has_gaps(const MemoryDesc& md) {
  return md.get_size() != plain(dims_of(md), type_of(md)).get_size();
}
}  // namespace detail

/// A copy to another layout. The implementation "jit_direct_copy" of version 3 also writes the gaps between elements if
/// both sides have some. A sum post-op that adds 0 times the destination excludes it.
[[nodiscard]] inline dnnl::reorder::primitive_desc reorder_descriptor(const primitive_attr& attr,
                                                                      const MemoryDesc& from, const MemoryDesc& to) {
  const auto described = [&](const primitive_attr& with) {
    return attempt([&] { return dnnl::reorder::primitive_desc(cpu(), from, cpu(), to, with); });
  };
  dnnl::reorder::primitive_desc first = described(attr);
  if (!first || !std::string_view(first.impl_info_str()).starts_with("jit_direct_copy") || !detail::has_gaps(from) ||
      !detail::has_gaps(to))
    return first;
  primitive_attr with_sum;
  with_sum.set_scratchpad_mode(attr.get_scratchpad_mode());
  dnnl::post_ops ops;
  ops.append_sum(0.0f);
  with_sum.set_post_ops(ops);
  return described(with_sum);
}

/// True if the library would use its reference implementation, or pool by plain loops: at least 10 times slower.
template <class PrimitiveDesc>
[[nodiscard]] bool is_reference(const PrimitiveDesc& pd) {
  const std::string_view name = pd.impl_info_str();
  return name.starts_with("ref") || name.starts_with("simple_nchw");
}

}  // namespace davit::onednn_ops
