// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "davit/backend/embed_contract.hpp"
#include "davit/backend/embed_delegate.hpp"
#include "davit/program/operators/matmul.hpp"
#include "device.hpp"

/// A backend for the accelerator: float32 linear and addmm, with a following relu in the same command; and blobs of
/// nodes that npu_compiler.hpp compiled when the program was embedded.
struct npu {
  static constexpr std::string_view name = "npu";
  static constexpr std::int32_t blob_version = 1;

  /// One command, written by the CPU.
  struct linear {
    struct Params {
      std::int32_t rows, in, out, layout, clamp;
    };
    static void start(const Params& p, float* y, const float* x, const float* weight, const float* bias) noexcept {
      command = {p.rows, p.in, p.out, p.layout, p.clamp, {0, 0}, {1, 0}, {2, 0}, {3, 0}};
      npu_device.base = {y, x, weight, bias};
      npu_device.commands = &command;
      npu_device.count = 1;
      npu_device.start();
    }
    static bool done() noexcept { return !npu_device.busy.load(std::memory_order_acquire); }
    static inline NpuCommand command;
  };
  /// The commands of a blob, which the accelerator reads in place.
  struct stream {
    struct Params {
      davit::BlobKey key;
    };
    template <class... Ts>
    static davit::ErrorCode start(const Params& p, const std::uint8_t* blob, Ts*... tensors) noexcept {
      const std::byte* const payload = davit::blob_payload(blob, p.key);
      if (payload == nullptr) return davit::ErrorCode::version_mismatch;
      NpuProgram program;
      std::memcpy(&program, payload, sizeof program);
      npu_device.base = {payload, tensors...};
      npu_device.commands = reinterpret_cast<const NpuCommand*>(payload + sizeof program);
      npu_device.count = program.commands;
      npu_device.start();
      return davit::ErrorCode::ok;
    }
    static bool done() noexcept { return linear::done(); }
  };
  using Kernels = davit::kernel_list<linear, stream>;
  static void wait() noexcept { npu_sleep(); }

  /// Reads a product within the accelerator's limits: row-major float32 matrices, one bias per column, no factors.
  static constexpr bool takes(const davit::EmbedNode& n, davit::operators::MatmulView& product) {
    if (davit::operators::read_matmul(n, product) || !product.is_plain() || product.addend == davit::no_id)
      return false;
    for (const davit::ValueId v : {n.output(), product.left, product.right, product.addend})
      if (n.g.dtype(v) != davit::ScalarType::float32) return false;
    const davit::StaticInput* const weight = n.g.constant(product.right);
    return n.g.rank(product.left) == 2 && n.g.numel(product.addend) == n.g.size(n.output(), 1) &&
           (weight == nullptr || weight->layout == davit::WeightLayout::contiguous);
  }
  /// Called at compile time. Writes a node's command, or returns the reason why this backend refuses the node.
  static constexpr const char* embed(const davit::EmbedNode& n, davit::StepWriter& steps) {
    if (n.is(davit::call_delegate_target.data())) return embed_stream(n, steps);
    const bool clamp = n.is("aten.relu.default");
    const davit::EmbedNode node{n.g, clamp ? n.g.producer(n.value("self")) : n.id};
    davit::operators::MatmulView product;
    if (node.id == davit::no_id || !takes(node, product)) return "no float32 product with a bias, nor the relu of one";
    if (clamp && n.g.users(node.output()) != 1) return "the product before the relu is needed elsewhere";
    const auto size = [&](davit::ValueId v, int d) { return static_cast<std::int32_t>(n.g.size(v, d)); };
    steps
        .step<linear>({size(product.left, 0), size(product.left, 1), size(n.output(), 1),
                       product.transposed ? NpuCommand::out_in : NpuCommand::in_out, clamp ? 1 : 0})
        .out(n.output())
        .in(product.left)
        .in(product.right)
        .in(product.addend);
    return nullptr;
  }

 private:
  /// Operands in the order of the base registers: payload, scratch, outputs, inputs.
  static constexpr const char* embed_stream(const davit::EmbedNode& n, davit::StepWriter& steps) {
    davit::EmbeddedDelegate call;
    if (const char* const why = davit::read_delegate<npu>(n, call)) return why;
    if (2 + n.node().outputs + call.inputs.size() > NpuDevice().base.size())
      return "more tensors than the accelerator has base registers";
    davit::StepOperands step = steps.step<stream>({call.key});
    step.in(call.blob);
    if (call.scratch_bytes == 0)
      step.none(davit::ScalarType::float32);
    else
      step.scratch(steps.temporary(davit::ScalarType::uint8, call.scratch_bytes));
    for (std::uint32_t i = 0; i < n.node().outputs; ++i) step.out(n.output(i));
    for (std::size_t i = 0; i < call.inputs.size(); ++i) step.in(call.input(i));
    return nullptr;
  }
};
static_assert(davit::StaticBackend<npu>);
