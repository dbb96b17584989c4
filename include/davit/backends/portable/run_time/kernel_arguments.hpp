// SPDX-License-Identifier: MIT
#pragma once

#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/program/operators/arguments.hpp"

namespace davit::portable_kernels {

/// The arguments of a kernel while it runs, as operators are read by. The id of a tensor is its position.
class KernelArguments {
 public:
  explicit constexpr KernelArguments(const KernelCall& call) noexcept : call_(&call) {}

  /// A kernel is found by its operator before it is called.
  [[nodiscard]] static constexpr bool is(const char*) noexcept { return false; }
  [[nodiscard, gnu::noinline]] const EValue* find(operators::Parameter p) const noexcept {
    return p.position < call_->arg_count() && call_->has(p.position) ? &call_->arg(p.position) : nullptr;
  }
  [[nodiscard, gnu::noinline]] ValueId value(operators::Parameter p) const noexcept {
    return p.position < call_->arg_count() && call_->is_tensor(p.position) ? p.position : no_id;
  }
  [[nodiscard]] static std::span<const EValue> items(const EValue& a) noexcept {
    return a.is_list() ? a.as_list() : std::span<const EValue>{};
  }
  [[nodiscard]] static bool read_integer(const EValue& a, std::int64_t& out) noexcept {
    if (!a.is_int() && !a.is_bool()) return false;
    out = a.integer();
    return true;
  }
  [[nodiscard]] static bool read_number(const EValue& a, double& out) noexcept {
    if (!a.is_number()) return false;
    out = a.number();
    return true;
  }
  [[nodiscard]] static std::string_view text(const EValue& a) noexcept {
    return a.is_string() ? a.as_string() : std::string_view{};
  }
  [[nodiscard]] std::size_t rank(ValueId v) const noexcept { return call_->tensor(v).rank; }
  [[nodiscard]] std::int64_t size(ValueId v, std::size_t d) const noexcept { return call_->tensor(v).size(d); }

 private:
  const KernelCall* call_;
};
static_assert(operators::CallArguments<KernelArguments>);

/// Notes why an operator cannot be read; ok if it can.
[[nodiscard]] inline ErrorCode answer(KernelCall& call, const operators::Refusal& wrong) noexcept {
  return wrong ? call.refuse(wrong.code, wrong.what) : ErrorCode::ok;
}

}  // namespace davit::portable_kernels
