// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

#include "davit/core/copy_tensor.hpp"
#include "toy_backend.hpp"

namespace support {

/// A toy backend that fills destinations, uses scratch, and may overwrite an input. It overwrites all of its scratch at
/// every call, so that a value which is wrongly placed there is lost.
template <int N>
struct filling_backend : toy_backend<N> {
  using Base = toy_backend<N>;
  using typename Base::Handle;
  using typename Base::Workspace;
  static constexpr std::string_view name = N == 0 ? "filling0" : N == 1 ? "filling1" : N == 2 ? "filling2" : "filling3";
  static constexpr bool never_views_inputs = true;
  static constexpr std::size_t max_outputs = 64;
  static inline std::size_t scratch_size = 0;
  static inline bool overwrites = false;
  static inline int destinations = 0;  ///< executed outputs with a destination
  static inline int over_inputs = 0;   ///< executed outputs in an input's memory
  static void reset() {
    scratch_size = 0;
    overwrites = false;
    destinations = over_inputs = 0;
  }

  [[nodiscard]] static bool may_overwrite(const Handle&, std::size_t, std::size_t) { return overwrites; }

  [[nodiscard]] static davit::Result<std::size_t> prepare(const Handle& handle, std::span<const davit::EValue> inputs,
                                                          std::span<const davit::EValue>, Workspace& workspace) {
    const davit::Result<std::size_t> none = Base::prepare(handle, inputs, workspace);
    return none ? davit::Result<std::size_t>(scratch_size) : none;
  }

  template <davit::Tracer T, class Report>
  [[nodiscard]] static davit::Status execute(const Handle& handle, std::span<const davit::EValue> inputs,
                                             std::span<davit::EValue> outputs,
                                             davit::ExecuteContext<T, Report, Workspace>& context) {
    if (context.scratch().size() < scratch_size || outputs.size() > max_outputs)
      return context.fail(davit::ErrorCode::failed, davit::no_debug_handle, "not the scratch that it asked for");
    if (!context.scratch().empty()) std::memset(context.scratch().data(), 0xa5, context.scratch().size());
    davit::EValue places[max_outputs];
    std::ranges::copy(outputs, places);
    for (davit::EValue& output : outputs) output.clear();
    const davit::Status status = Base::execute(handle, inputs, outputs, context);
    if (!status) return status;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!places[i].is_tensor() || !outputs[i].is_tensor()) continue;
      ++destinations;
      for (const davit::EValue& input : inputs)
        if (input.is_tensor() &&
            davit::overlap(davit::memory_range(input.tensor()), davit::memory_range(places[i].tensor())))
          ++over_inputs;
      davit::copy_tensor(outputs[i].tensor(), places[i].tensor());
      outputs[i] = places[i];
    }
    return {};
  }
};
static_assert(davit::OverwritesInputs<filling_backend<0>> && davit::Backend<filling_backend<0>>);

}  // namespace support
