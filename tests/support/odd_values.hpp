// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#include "support/net.hpp"
#include "support/reference.hpp"

namespace support {

/// Describes differences of a backend's results from portable's if one element of an input is NaN, infinite or near the
/// end of float's range, each in turn in one session, and if the whole last row is NaN or infinite; empty if there are
/// none.
template <class B>
[[nodiscard]] std::string differs_on_odd_values(Net& net, const davit::ExportedProgram& program) {
  using Limits = std::numeric_limits<float>;
  const auto lowered = davit::to_backend<B>(program, {});
  if (!lowered) return to_string(lowered.error());
  davit::Session session = *davit::Session::make(*lowered);
  const std::vector<davit::EValue> sample = net.sample();
  const auto differs = [&] {
    const auto results = session.run(0, sample);
    return results ? differs_from_portable(program, sample, results->all(), {1e-4, 1e-5}) : to_string(results.error());
  };
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const std::span<float> elements(sample[i].tensor().as<float>(),
                                    static_cast<std::size_t>(sample[i].tensor().numel()));
    const std::vector<float> kept(elements.begin(), elements.end());
    for (const float odd : {Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(),
                            Limits::max(), Limits::lowest(), 1e20f, -1e20f})
      for (const std::size_t count : {std::size_t{1}, static_cast<std::size_t>(sample[i].tensor().sizes().back())}) {
        for (std::size_t k = 0; k < count; ++k) elements[elements.size() - 1 - k] = odd;
        if (const std::string found = differs(); !found.empty())
          return "input " + std::to_string(i) + " with " + std::to_string(count) + " of " + std::to_string(odd) + ": " +
                 found;
        std::copy(kept.begin(), kept.end(), elements.begin());
      }
  }
  return differs();
}

/// The same for an operator of one tensor and `more`, and for an elementwise operator of two tensors.
template <class B>
[[nodiscard]] std::string differs_on_odd_values(std::string_view target, std::initializer_list<Net::Named> more = {}) {
  Net n;
  const auto x = n.input("x", {3, 20});
  std::vector<Net::Named> arguments{{"self", n.v(x)}};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return differs_on_odd_values<B>(n, n.finish({n.op(target, "y", {3, 20}, std::span<const Net::Named>(arguments))}));
}
template <class B>
[[nodiscard]] std::string differs_on_odd_pairs(std::string_view target) {
  Net n;
  const auto x = n.input("x", {3, 20});
  const auto y = n.input("y", {3, 20});
  return differs_on_odd_values<B>(n, n.finish({n.op(target, "z", {3, 20}, {{"self", n.v(x)}, {"other", n.v(y)}})}));
}

}  // namespace support
