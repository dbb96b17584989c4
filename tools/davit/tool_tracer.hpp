// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/formats/chrome_trace.hpp"
#include "delegate_call.hpp"

namespace tool {

/// Records the events of a session and, on request, copies of the outputs of its delegate calls.
class ToolTracer : public davit::formats::ChromeTracer {
 public:
  void record_calls() { recording_ = true; }
  [[nodiscard]] std::vector<DelegateCall>& calls() noexcept { return calls_; }

  void delegate_outputs(std::string_view tag, std::span<const davit::EValue> outputs) {
    if (!recording_) return;
    DelegateCall& call = calls_.emplace_back();
    call.tag = davit::Name::own(tag);
    for (const davit::EValue& output : outputs) call.outputs.emplace_back(output);
  }

 private:
  bool recording_ = false;
  std::vector<DelegateCall> calls_;
};

}  // namespace tool
