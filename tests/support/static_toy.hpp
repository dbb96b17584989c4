// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "davit/backend/embed_contract.hpp"
#include "davit/embed/static_program.hpp"
#include "davit/program/graph_builder.hpp"

/// Backends and programs for tests of static programs.
namespace static_toy {

using davit::EmbedNode;
using davit::ErrorCode;
using davit::GraphBuilder;
using davit::GraphModule;
using davit::NodeId;
using davit::ScalarType;
using davit::StepWriter;
using davit::ValueId;

struct Count {
  std::int32_t count = 0;
};
[[nodiscard]] constexpr Count count_of(const EmbedNode& n) {
  return {static_cast<std::int32_t>(n.g.numel(n.output()))};
}

struct add_kernel {
  using Params = Count;
  static constexpr void run(const Params& p, float* y, const float* a, const float* b) noexcept {
    for (std::int32_t i = 0; i < p.count; ++i) y[i] = a[i] + b[i];
  }
};
struct add_relu_kernel {
  using Params = Count;
  static constexpr void run(const Params& p, float* y, const float* a, const float* b) noexcept {
    for (std::int32_t i = 0; i < p.count; ++i) y[i] = a[i] + b[i] < 0 ? 0 : a[i] + b[i];
  }
};
struct relu_kernel {
  using Params = Count;
  static constexpr void run(const Params& p, float* y, const float* x) noexcept {
    for (std::int32_t i = 0; i < p.count; ++i) y[i] = x[i] < 0 ? 0 : x[i];
  }
};
/// 1 / x, which refuses 0.
struct reciprocal_kernel {
  using Params = Count;
  static constexpr ErrorCode run(const Params& p, float* y, const float* x) noexcept {
    for (std::int32_t i = 0; i < p.count; ++i) {
      if (x[i] == 0) return ErrorCode::out_of_range;
      y[i] = 1 / x[i];
    }
    return ErrorCode::ok;
  }
};
/// y = x * factors, with the factors from a table, through a temporary.
struct scale_kernel {
  using Params = Count;
  static constexpr void run(const Params& p, float* y, float* scratch, const float* x, const float* factors) noexcept {
    for (std::int32_t i = 0; i < p.count; ++i) scratch[i] = x[i] * factors[i];
    for (std::int32_t i = 0; i < p.count; ++i) y[i] = scratch[i];
  }
};

/// Takes only additions, for this kernel.
template <class Kernel>
struct adder_on {
  using Kernels = davit::kernel_list<Kernel>;
  static constexpr const char* embed(const EmbedNode& n, StepWriter& steps) {
    if (!n.is("aten.add.Tensor")) return "no addition";
    const ValueId a = n.value("self"), b = n.value("other");
    steps.step<Kernel>(count_of(n)).out(n.output()).in(a).in(b).overwrites(a).overwrites(b);
    return nullptr;
  }
};
struct adder : adder_on<add_kernel> {
  static constexpr std::string_view name = "adder";
};

/// Takes additions, relu, reciprocal, views and mul by a constant; relu(add) becomes one step.
struct calculator {
  static constexpr std::string_view name = "calculator";
  using Kernels = davit::kernel_list<add_kernel, add_relu_kernel, relu_kernel, reciprocal_kernel, scale_kernel>;
  static constexpr const char* embed(const EmbedNode& n, StepWriter& steps) {
    const ValueId x = n.value("self");
    if (n.is("aten.add.Tensor")) return adder::embed(n, steps);
    if (n.is("aten.view.default")) {
      steps.alias(n.output(), x);
    } else if (n.is("aten.reciprocal.default")) {
      steps.step<reciprocal_kernel>(count_of(n)).out(n.output()).in(x);
    } else if (n.is("aten.mul.Tensor")) {
      const float* factors = n.g.elements<float>(n.value("other"));
      if (factors == nullptr) return "the factor is no constant";
      std::array<float, 16> doubled{};
      const auto count = static_cast<std::size_t>(n.g.numel(x));
      for (std::size_t i = 0; i < count; ++i) doubled[i] = 2 * factors[i];
      const std::uint32_t scratch = steps.temporary(ScalarType::float32, n.g.numel(x));
      steps.step<scale_kernel>(count_of(n))
          .out(n.output())
          .scratch(scratch)
          .in(x)
          .table<float>({doubled.data(), count});
    } else if (n.is("aten.relu.default")) {
      const NodeId producer = n.g.producer(x);
      if (n.g.is_assigned(producer, "aten.add.Tensor") && n.g.users(x) == 1) {
        const EmbedNode sum{n.g, producer};
        steps.step<add_relu_kernel>(count_of(n)).out(n.output()).in(sum.value("self")).in(sum.value("other"));
      } else {
        steps.step<relu_kernel>(count_of(n)).out(n.output()).in(x).overwrites(x);
      }
    } else {
      return "unknown to a calculator";
    }
    return nullptr;
  }
};

inline constexpr auto f32 = ScalarType::float32;

constexpr ValueId call(GraphBuilder& b, std::string_view target, std::string_view name, ValueId self) {
  return b.call(target, {{"self", b.value(self)}}, name, f32, {4});
}
constexpr ValueId add(GraphBuilder& b, std::string_view name, ValueId self, ValueId other) {
  return b.call("aten.add.Tensor", {{"self", b.value(self)}, {"other", b.value(other)}}, name, f32, {4});
}

/// y = relu(x + bias) + x, and a node without users.
constexpr GraphModule make_residual() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId bias = b.input("bias", f32, {4}), x = b.input("x", f32, {4});
  const ValueId sum = add(b, "sum", x, bias);
  const ValueId unused = call(b, "aten.sin.default", "unused", sum);
  static_cast<void>(unused);
  const ValueId active = call(b, "aten.relu.default", "active", sum);
  b.end_graph({add(b, "y", active, x)});
  return std::move(b).finish();
}
inline constexpr std::array<float, 4> bias{1, -2, 3, -4};
struct residual : davit::static_program_of<make_residual> {
  static constexpr std::string_view name = "residual";
  static constexpr std::array inputs{davit::constant_input(bias), davit::user_input()};
};

/// total = state + x; y = 1 / total; the state becomes total.
constexpr GraphModule make_running_total() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId state = b.input("state", f32, {4}), x = b.input("x", f32, {4});
  const ValueId total = add(b, "total", state, x);
  b.end_graph({total, call(b, "aten.reciprocal.default", "y", total)});
  return std::move(b).finish();
}
struct running_total : davit::static_program_of<make_running_total> {
  static constexpr std::array inputs{davit::state_input(bias), davit::user_input()};
  static constexpr std::array outputs{davit::mutation_of(0), davit::user_output()};
};
/// running_total with a state of zeros.
struct total_from_zero : running_total {
  static constexpr std::array inputs{davit::state_input(), davit::user_input()};
};

/// A chain of `count` relu and add nodes.
template <int count>
constexpr GraphModule make_chain() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", f32, {4});
  ValueId last = x;
  for (int i = 0; i < count; ++i)
    last = i % 2 == 0 ? add(b, "sum", last, x) : call(b, "aten.view.default", "same", last);
  b.end_graph({last});
  return std::move(b).finish();
}

}  // namespace static_toy
