// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "davit/backend/embed_contract.hpp"
#include "device.hpp"

/// A backend for the accelerator: addmm in float32, with the relu that follows in the same command.
struct npu {
  static constexpr std::string_view name = "npu";

  struct linear {
    struct Params {
      std::int32_t rows, in, out, clamp;
    };
    static void run(const Params& p, float* y, const float* x, const float* weight, const float* bias) noexcept {
      npu_device.x = x;
      npu_device.weight = weight;
      npu_device.bias = bias;
      npu_device.y = y;
      npu_device.rows = p.rows;
      npu_device.in = p.in;
      npu_device.out = p.out;
      npu_device.clamp = p.clamp != 0;
      npu_device.start();
      while (npu_device.busy) {
      }
    }
  };
  using Kernels = davit::kernel_list<linear>;

  /// The accelerator's own limits: one bias per column, no scaling.
  static constexpr bool takes(const davit::EmbedNode& n) {
    if (!n.is("aten.addmm.default") || n.g.dtype(n.output()) != davit::ScalarType::float32) return false;
    return n.number("alpha", 1) == 1 && n.number("beta", 1) == 1 &&
           n.g.numel(n.value("self")) == n.g.size(n.output(), 1);
  }
  /// Called by the compiler: writes a node's command, or says why the node is not for this backend.
  static constexpr const char* embed(const davit::EmbedNode& n, davit::StepWriter& steps) {
    const bool clamp = n.is("aten.relu.default");
    const davit::EmbedNode product{n.g, clamp ? n.g.producer(n.value("self")) : n.id};
    if (product.id == davit::no_id || !takes(product)) return "no float32 addmm, nor the relu of one";
    if (clamp && n.g.users(product.output()) != 1) return "the addmm before the relu is needed elsewhere";
    const davit::ValueId x = product.value("mat1"), weight = product.value("mat2");
    const auto size = [&](davit::ValueId v, int d) { return static_cast<std::int32_t>(n.g.size(v, d)); };
    steps.step<linear>({size(x, 0), size(x, 1), size(weight, 1), clamp ? 1 : 0})
        .out(n.output())
        .in(x)
        .in(weight)
        .in(product.value("self"));
    return nullptr;
  }
};
static_assert(davit::StaticBackend<npu>);
