// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "davit/backend/embed_contract.hpp"
#include "davit/program/operators/matmul.hpp"
#include "device.hpp"

/// A backend for the accelerator: linear and addmm in float32, with the relu that follows in the same command.
struct npu {
  static constexpr std::string_view name = "npu";

  struct linear {
    struct Params {
      std::int32_t rows, in, out, transposed, clamp;
    };
    static void run(const Params& p, float* y, const float* x, const float* weight, const float* bias) noexcept {
      npu_device.x = x;
      npu_device.weight = weight;
      npu_device.bias = bias;
      npu_device.y = y;
      npu_device.rows = p.rows;
      npu_device.in = p.in;
      npu_device.out = p.out;
      npu_device.transposed = p.transposed != 0;
      npu_device.clamp = p.clamp != 0;
      npu_device.start();
      while (npu_device.busy) {
      }
    }
  };
  using Kernels = davit::kernel_list<linear>;

  /// Reads a product within the accelerator's limits: matrices in rows of float32, one bias per column, no factors.
  static constexpr bool takes(const davit::EmbedNode& n, davit::operators::MatmulView& product) {
    if (davit::operators::read_matmul(n, product) || !product.is_plain() || product.addend == davit::no_id) return false;
    for (const davit::ValueId v : {n.output(), product.left, product.right, product.addend})
      if (n.g.dtype(v) != davit::ScalarType::float32) return false;
    const davit::StaticInput* const weight = n.g.constant(product.right);
    return n.g.rank(product.left) == 2 && n.g.numel(product.addend) == n.g.size(n.output(), 1) &&
           (weight == nullptr || weight->layout == davit::WeightLayout::contiguous);
  }
  /// Called by the compiler: writes a node's command, or says why the node is not for this backend.
  static constexpr const char* embed(const davit::EmbedNode& n, davit::StepWriter& steps) {
    const bool clamp = n.is("aten.relu.default");
    const davit::EmbedNode node{n.g, clamp ? n.g.producer(n.value("self")) : n.id};
    davit::operators::MatmulView product;
    if (node.id == davit::no_id || !takes(node, product)) return "no float32 product with a bias, nor the relu of one";
    if (clamp && n.g.users(node.output()) != 1) return "the product before the relu is needed elsewhere";
    const auto size = [&](davit::ValueId v, int d) { return static_cast<std::int32_t>(n.g.size(v, d)); };
    steps.step<linear>({size(product.left, 0), size(product.left, 1), size(n.output(), 1), product.transposed ? 1 : 0, clamp ? 1 : 0})
        .out(n.output())
        .in(product.left)
        .in(product.right)
        .in(product.addend);
    return nullptr;
  }
};
static_assert(davit::StaticBackend<npu>);
