// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/core/overload_rows.hpp"
#include "davit/program/operators/arguments.hpp"

namespace davit::portable_kernels {

/// The arguments of a kernel at run time, for the readers of operators. The id of a tensor is its position.
class KernelArguments {
 public:
  explicit constexpr KernelArguments(const KernelCall& call) noexcept : call_(&call) {}

  /// True: a kernel is found by its operator before it is called.
  [[nodiscard]] static constexpr bool is(const char*) noexcept { return false; }
  [[nodiscard]] const EValue* find(operators::Parameter p) const noexcept {
    return p.position < call_->arg_count() && call_->has(p.position) ? &call_->arg(p.position) : nullptr;
  }
  [[nodiscard]] ValueId value(operators::Parameter p) const noexcept {
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

/// Returns ok, or records the reason why an operator cannot be read.
[[nodiscard]] inline ErrorCode answer(KernelCall& call, const operators::Refusal& wrong) noexcept {
  return wrong ? call.refuse(wrong.code, wrong.what) : ErrorCode::ok;
}

namespace detail {
template <auto& table, std::size_t i, auto kernel>
[[nodiscard]] ErrorCode call_row(KernelCall& call) {
  return kernel(call, table[i]);
}
/// Accepts all operators of a table.
inline constexpr auto takes_all = [](const auto&) { return true; };
}  // namespace detail

/// A row for each accepted operator of a table; the kernel receives the operator. The other fields are those of `like`.
template <auto& table, auto kernel, auto takes = detail::takes_all>
[[nodiscard]] consteval auto rows_of(const OpRow& like = {}) {
  constexpr std::size_t count = [] {
    std::size_t taken = 0;
    for (const auto& op : table) taken += takes(op) ? 1 : 0;
    return taken;
  }();
  std::array<OpRow, count> rows{};
  std::size_t at = 0;
  const auto add = [&]<std::size_t i>() {
    if constexpr (takes(table[i])) {
      rows[at] = like;
      rows[at].name = table[i].target;
      rows[at++].kernel = detail::call_row<table, i, kernel>;
    }
  };
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (add.template operator()<i>(), ...);
  }(std::make_index_sequence<table.size()>{});
  return rows;
}

}  // namespace davit::portable_kernels
