// SPDX-License-Identifier: MIT
#pragma once

#include <xnnpack.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/contract.hpp"
#include "davit/backends/xnnpack/engine_pool.hpp"
#include "davit/backends/xnnpack/op_table.hpp"
#include "davit/backends/xnnpack/prepare.hpp"
#include "davit/backends/xnnpack/run_io.hpp"

namespace davit {

/// Convolutional and dense networks through Google's XNNPACK: float32, and int8 programs.
///
/// Between its nodes images lie in NHWC order; they are reordered where a partition begins and ends. Batch norms,
/// biases, zero padding and clamps (relu, hardtanh, clamp) go into the operator before or after them; parts of a
/// concatenation of channels are computed in place. Sizes may be symbolic, numbers of channels not.
///
/// It uses the operator interface, not XNNPACK's subgraphs: only operators take memory from outside (so that a
/// session's scratch is planned with everything else), write with a stride (which makes concatenations free) and work
/// on sizes that change from run to run.
///
/// Operators keep weights and pointers in one object. compile() makes one set of them, which the sessions of a process
/// share; runs that overlap in time get a set of their own when `concurrent_runs` allows it, and wait their turn beyond
/// that. Execute takes no heap memory of davit's in steady state; XNNPACK itself does when sizes change, and where a
/// matrix or a kernel is no constant: it is packed at every call.
///
/// Numbers: sums are in another order than torch's and with fused multiply-adds; exp, sigmoid and the like are within
/// some units in the last place. NaN stays NaN, but where a clamp is taken into another operator it becomes one of the
/// bounds, and a maximum may pass over it.
///
/// Int8 programs (PT2E: dequantize, compute, quantize) stay int8 where numbers only move or are compared; what
/// computes with them does so in float, which gives torch's int8 results. With `int8_kernels` it is done in XNNPACK's
/// int8 arithmetic: weights take a quarter of the memory, and large matrices a fraction of the time. A result may then
/// be one step off, and later layers may carry that on: torch adds a float bias to dequantized products and rounds
/// once, XNNPACK rounds the bias to the products' unit first.
struct xnnpack {
  static constexpr std::string_view name = "xnnpack";

  struct CompileSpec {
    std::uint32_t threads = 0;          ///< that work on one operator; 0: what set_threads said, or 1
    std::uint32_t concurrent_runs = 4;  ///< at most; each needs a copy of the packed weights
    bool int8_kernels = false;          ///< int8 programs in int8 arithmetic: see above
    friend constexpr bool operator==(const CompileSpec&, const CompileSpec&) = default;
  };
  struct Processed {
    std::shared_ptr<const ProgramBody> body;
  };
  using Workspace = xnnpack_parts::Workspace;

  class Handle {
   public:
    Handle(std::shared_ptr<const ProgramBody> body, xnnpack_parts::Plan plan, xnnpack_parts::ThreadPool pool,
           std::uint32_t most)
        : shared_(std::make_shared<Shared>(std::move(body), std::move(plan), std::move(pool), std::max(most, 1u))) {}

   private:
    friend struct xnnpack;
    struct Shared {
      Shared(std::shared_ptr<const ProgramBody> b, xnnpack_parts::Plan p, xnnpack_parts::ThreadPool t,
             std::uint32_t most)
          : body(std::move(b)), plan(std::move(p)), pool(std::move(t)), turns(most) {}
      std::shared_ptr<const ProgramBody> body;
      xnnpack_parts::Plan plan;
      xnnpack_parts::ThreadPool pool;
      xnnpack_parts::EnginePool turns;
    };
    std::shared_ptr<Shared> shared_;
  };

  /// How many threads methods that are compiled from now on may use, where their spec does not say.
  static void set_threads(std::uint32_t threads) noexcept { default_threads().store(std::max(threads, 1u)); }

  /// True if XNNPACK runs on this machine.
  [[nodiscard]] static bool is_available() noexcept {
    static const bool available = xnn_initialize(nullptr) == xnn_status_success;
    return available;
  }

  /// nullptr if the backend takes the node, else why not.
  [[nodiscard]] static constexpr const char* refuses(GraphModuleView graph, NodeId node) noexcept {
    return xnnpack_parts::refuses(graph, node);
  }

  /// Errors: unsupported_operator for nodes that `refuses` refuses, not_found for constants that the program does not
  /// hold.
  [[nodiscard]] static Result<Processed> preprocess(const Method& method, const CompileSpec&,
                                                    DebugHandleRecorder& debug_handles) {
    Result<std::shared_ptr<const ProgramBody>> body = make_program_body(method, name, debug_handles);
    if (!body) return std::unexpected(std::move(body.error()));
    if (Result<xnnpack_parts::Plan> plan = xnnpack_parts::make_plan(**body); !plan)
      return std::unexpected(std::move(plan.error()));
    return Processed{*std::move(body)};
  }

  /// Packs the weights. Errors: not_available; unsupported_argument for what XNNPACK refuses; corrupt_data.
  [[nodiscard]] static Result<Handle> compile(const Processed& processed, const CompileSpec& spec) {
    if (!is_available())
      return std::unexpected(Error{.code = ErrorCode::not_available,
                                   .stage = Stage::compile,
                                   .backend = name,
                                   .what = "XNNPACK does not run on this machine",
                                   .fix = "name another backend"});
    Result<xnnpack_parts::Plan> plan = xnnpack_parts::make_plan(*processed.body, spec.int8_kernels);
    if (!plan) return std::unexpected(std::move(plan.error()));
    Handle handle(processed.body, *std::move(plan),
                  xnnpack_parts::thread_pool(spec.threads != 0 ? spec.threads : default_threads().load()),
                  spec.concurrent_runs);
    Handle::Shared& s = *handle.shared_;
    Result<std::unique_ptr<xnnpack_parts::Engine>> engine =
        xnnpack_parts::Engine::make(s.plan, s.body->handles, s.pool);
    if (!engine) return std::unexpected(std::move(engine.error()));
    s.turns.put(*std::move(engine));
    return handle;
  }

  [[nodiscard]] static Result<std::size_t> prepare(const Handle& handle, std::span<const EValue> inputs,
                                                   std::span<const EValue> outputs, Workspace& ws) {
    return xnnpack_parts::prepare_run(handle.shared_->plan, *handle.shared_->body, inputs, outputs, ws);
  }

  template <class Context>
  [[nodiscard]] static Status execute(const Handle& handle, std::span<const EValue> inputs, std::span<EValue> outputs,
                                      Context& context) {
    const Handle::Shared& s = *handle.shared_;
    const xnnpack_parts::Plan& plan = s.plan;
    Workspace& ws = context.workspace();
    if (outputs.size() != plan.output_slots.size() || inputs.size() != plan.input_values.size())
      return context.fail(ErrorCode::invalid_argument, no_debug_handle, "the method takes ", plan.input_values.size(),
                          " inputs and returns ", plan.output_slots.size(), " values");
    set_addresses(plan, ws, inputs, outputs, context.scratch().data());
    const xnnpack_parts::EnginePool::Turn turn = handle.shared_->turns.take([&] {
      Result<std::unique_ptr<xnnpack_parts::Engine>> made = xnnpack_parts::Engine::make(plan, s.body->handles, s.pool);
      return made ? *std::move(made) : nullptr;
    });
    const GraphModuleView graph = s.body->graph.view();
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      const NodeId node = plan.steps[i].node;
      const DebugHandle at = node < s.body->handles.size() ? s.body->handles[node] : no_debug_handle;
      const bool traced = at != no_debug_handle;
      if (traced) context.begin_op(at, graph.target(graph.nodes[node]));
      const bool done = turn.engine->run(plan, ws, i);
      if (traced) context.end_op(at, graph.target(graph.nodes[node]));
      if (!done) return context.fail(ErrorCode::failed, at, "XNNPACK does not run this operator on these sizes");
    }
    return_outputs(graph, plan, ws, outputs);
    return {};
  }

  [[nodiscard]] static std::vector<std::byte> save(const Processed& processed) {
    return save_program_body(*processed.body, [](ByteWriter& out, const Tensor& tensor) { write_tensor(out, tensor); });
  }
  [[nodiscard]] static std::vector<std::byte> save(const Processed& processed, SegmentWriter& segments) {
    return save_program_body(*processed.body,
                             [&](ByteWriter& out, const Tensor& tensor) { write_tensor(out, tensor, segments); });
  }
  [[nodiscard]] static Result<Processed> load(std::span<const std::byte> bytes) {
    return processed_of(load_program_body(bytes, name, [](ByteReader& in) { return read_tensor(in); }));
  }
  [[nodiscard]] static Result<Processed> load(std::span<const std::byte> bytes, const SegmentReader& segments) {
    return processed_of(load_program_body(bytes, name, [&](ByteReader& in) { return read_tensor(in, segments); }));
  }
  [[nodiscard]] static std::vector<std::byte> save_spec(const CompileSpec& spec) {
    ByteWriter out;
    out.number(spec.threads);
    out.number(spec.concurrent_runs);
    out.number(static_cast<std::uint32_t>(spec.int8_kernels ? 1 : 0));
    return std::move(out).take();
  }
  [[nodiscard]] static Result<CompileSpec> load_spec(std::span<const std::byte> bytes) {
    ByteReader in(bytes);
    CompileSpec spec;
    spec.threads = in.number<std::uint32_t>();
    spec.concurrent_runs = in.number<std::uint32_t>();
    const auto int8 = in.number<std::uint32_t>();
    spec.int8_kernels = int8 != 0;
    if (in.ok() && spec.threads <= 1024 && spec.concurrent_runs <= 1024 && int8 <= 1) return spec;
    return std::unexpected(Error{.code = ErrorCode::corrupt_data,
                                 .backend = name,
                                 .where = "compile spec",
                                 .what = "its numbers are out of range",
                                 .fix = "save the module again"});
  }

 private:
  [[nodiscard]] static std::atomic<std::uint32_t>& default_threads() noexcept {
    static std::atomic<std::uint32_t> threads{1};
    return threads;
  }
  [[nodiscard]] static Result<Processed> processed_of(Result<std::shared_ptr<const ProgramBody>> body) {
    if (!body) return std::unexpected(std::move(body.error()));
    return Processed{*std::move(body)};
  }
};

static_assert(Backend<xnnpack> && SelectsNodes<xnnpack> && FillsDestinations<xnnpack> && SavesSegments<xnnpack>);

}  // namespace davit
