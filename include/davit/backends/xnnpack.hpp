// SPDX-License-Identifier: MIT
#pragma once

#include <xnnpack.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/contract.hpp"
#include "davit/backends/xnnpack/engine_pool.hpp"
#include "davit/backends/xnnpack/op_table.hpp"

namespace davit {

/// Convolutional and dense networks through Google's XNNPACK: float32, and int8 where the program quantizes.
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
/// bounds, and a maximum may pass over it. An int8 result may be one step off: where torch adds a float bias to
/// dequantized products and rounds once, XNNPACK rounds the bias to the products' unit first; later layers may carry
/// such steps on.
struct xnnpack {
  static constexpr std::string_view name = "xnnpack";

  struct CompileSpec {
    std::uint32_t threads = 0;          ///< that work on one operator; 0: what set_threads said, or 1
    std::uint32_t concurrent_runs = 4;  ///< at most; each needs a copy of the packed weights
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
    Result<xnnpack_parts::Plan> plan = xnnpack_parts::make_plan(*processed.body);
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
                                                   std::span<const EValue> outputs, Workspace& ws);

  template <class Context>
  [[nodiscard]] static Status execute(const Handle& handle, std::span<const EValue> inputs, std::span<EValue> outputs,
                                      Context& context) {
    const Handle::Shared& s = *handle.shared_;
    const xnnpack_parts::Plan& plan = s.plan;
    Workspace& ws = context.workspace();
    if (outputs.size() != plan.output_slots.size() || inputs.size() != plan.input_values.size())
      return context.fail(ErrorCode::invalid_argument, no_debug_handle, "the method takes ", plan.input_values.size(),
                          " inputs and returns ", plan.output_slots.size(), " values");
    place(plan, ws, inputs, outputs, context.scratch().data());
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
    return save_program_body(*processed.body,
                                     [](ByteWriter& out, const Tensor& tensor) { write_tensor(out, tensor); });
  }
  [[nodiscard]] static std::vector<std::byte> save(const Processed& processed, SegmentWriter& segments) {
    return save_program_body(
        *processed.body, [&](ByteWriter& out, const Tensor& tensor) { write_tensor(out, tensor, segments); });
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
    return std::move(out).take();
  }
  [[nodiscard]] static Result<CompileSpec> load_spec(std::span<const std::byte> bytes) {
    ByteReader in(bytes);
    CompileSpec spec;
    spec.threads = in.number<std::uint32_t>();
    spec.concurrent_runs = in.number<std::uint32_t>();
    if (in.ok() && spec.threads <= 1024 && spec.concurrent_runs <= 1024) return spec;
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
  static void place(const xnnpack_parts::Plan& plan, Workspace& ws, std::span<const EValue> inputs,
                    std::span<const EValue> outputs, std::byte* scratch) noexcept;
  static void return_outputs(GraphModuleView graph, const xnnpack_parts::Plan& plan, Workspace& ws,
                             std::span<EValue> outputs) noexcept;
};

inline Result<std::size_t> xnnpack::prepare(const Handle& handle, std::span<const EValue> inputs,
                                            std::span<const EValue> outputs, Workspace& ws) {
  using namespace xnnpack_parts;
  const Handle::Shared& s = *handle.shared_;
  const Plan& plan = s.plan;
  const GraphModuleView graph = s.body->graph.view();
  const auto fail = [&](ErrorCode code, NodeId node, Name what) {
    return std::unexpected(
        Error{.code = code,
              .stage = Stage::execute,
              .debug_handle = node < s.body->handles.size() ? s.body->handles[node] : no_debug_handle,
              .backend = name,
              .what = std::move(what),
              .fix = "run with inputs of the sizes that the program declares"});
  };
  if (inputs.size() != plan.input_values.size())
    return fail(ErrorCode::invalid_argument, no_id, "another number of inputs");
  static std::atomic<std::uint64_t> generations{0};
  ws.generation = ++generations;
  ws.symbols = SymbolSizes(graph.exprs, graph.text);
  for (const bool first : {true, false}) {  // plain symbols first, then expressions that can be solved
    const auto bind = [&](ExprId expr, std::int64_t value) { ws.symbols.bind(expr, value, first); };
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (plan.input_values[i] == no_id) continue;
      const Value& v = graph.values[plan.input_values[i]];
      if (inputs[i].is_int() && v.expr != no_id) bind(v.expr, inputs[i].as_int());
      if (!inputs[i].is_tensor()) continue;
      for (std::uint32_t d = 0; d < v.sizes.count && d < inputs[i].tensor().rank; ++d)
        if (const Dim& dim = graph.dims_of(v.sizes)[d]; !dim.is_static()) bind(dim.expr, inputs[i].tensor().size(d));
    }
    ws.symbols.settle();
  }
  ws.sizes.assign(plan.dims.size(), 0);
  ws.strides.assign(plan.dims.size(), 0);
  for (std::size_t d = 0; d < plan.dims.size(); ++d) {
    const std::optional<std::int64_t> size = ws.symbols.value(plan.dims[d]);
    if (!size || *size < 0 || *size > INT32_MAX)
      return fail(ErrorCode::invalid_shape, no_id, "a symbolic size that the inputs do not tell");
    ws.sizes[d] = *size;
  }
  for (const Slot& slot : plan.slots) {
    std::int64_t count = 1;
    for (std::uint32_t d = 0; d < slot.dims.count; ++d)
      if (__builtin_mul_overflow(count, ws.sizes[slot.dims.first + d], &count) || count > (std::int64_t{1} << 40))
        return fail(ErrorCode::out_of_memory, no_id, "a tensor of the program is too large");
    contiguous_strides(std::span(ws.sizes).subspan(slot.dims.first, slot.dims.count),
                       std::span(ws.strides).subspan(slot.dims.first, slot.dims.count));
  }
  for (const Buffer& b : plan.buffers) {  // what an input must have
    if (b.place != Place::input || !inputs[b.number].is_tensor()) continue;
    const TensorView& t = inputs[b.number].tensor();
    const Slot& slot = plan.slots[b.slot];
    if (t.dtype != slot.dtype || !std::ranges::equal(t.sizes(), std::span<const std::int64_t>(ws.sizes).subspan(
                                                                    slot.dims.first, slot.dims.count)))
      return fail(ErrorCode::invalid_shape, no_id, concat("input ", b.number, " has another dtype or other sizes"));
  }
  for (const Step& step : plan.steps)
    if (const char* reason = misfit(plan, ws, step))
      return fail(ErrorCode::invalid_shape, step.node, Name(std::string_view(reason)));
  ws.given.assign(plan.output_slots.size(), 0);
  for (std::size_t i = 0; i < outputs.size() && i < ws.given.size(); ++i) {
    if (!outputs[i].is_tensor() || plan.output_slots[i] == no_id) continue;
    const TensorView& t = outputs[i].tensor();
    const Range dims = plan.slots[plan.output_slots[i]].dims;
    ws.given[i] = t.is_contiguous() && std::ranges::equal(t.sizes(), std::span<const std::int64_t>(ws.sizes).subspan(
                                                                         dims.first, dims.count));
  }
  std::vector<Lifetime> lifetimes;
  std::vector<std::uint32_t> owners;
  ws.scratched.assign(plan.buffers.size(), 0);
  ws.base.assign(plan.buffers.size(), nullptr);
  ws.offsets.assign(plan.buffers.size(), 0);
  for (std::uint32_t b = 0; b < plan.buffers.size(); ++b) {
    const Buffer& buffer = plan.buffers[b];
    if (buffer.place == Place::constant) ws.base[b] = plan.constants[buffer.number].storage.writable();
    if (buffer.place == Place::constant || buffer.place == Place::input || buffer.first == no_id) continue;
    if (buffer.place == Place::output && ws.given[buffer.number] != 0) continue;
    ws.scratched[b] = 1;
    const auto bytes =
        static_cast<std::size_t>(extent_of(plan, ws, buffer.slot).count) * size_of(plan.slots[buffer.slot].dtype) +
        slack;
    lifetimes.push_back({buffer.first,
                         buffer.place == Place::output ? static_cast<std::uint32_t>(plan.steps.size()) : buffer.last,
                         bytes});
    owners.push_back(b);
  }
  const MemoryPlan memory = plan_memory_by_size(lifetimes);
  for (std::size_t i = 0; i < owners.size(); ++i) ws.offsets[owners[i]] = memory.offsets[i];
  ws.input_strides.assign(inputs.size(), {});
  return memory.arena_bytes;
}

inline void xnnpack::place(const xnnpack_parts::Plan& plan, Workspace& ws, std::span<const EValue> inputs,
                           std::span<const EValue> outputs, std::byte* scratch) noexcept {
  using namespace xnnpack_parts;
  for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
    const Buffer& buffer = plan.buffers[b];
    if (ws.scratched[b] != 0) {
      ws.base[b] = scratch + ws.offsets[b];
    } else if (buffer.place == Place::output) {
      ws.base[b] =
          outputs[buffer.number].is_tensor() ? static_cast<std::byte*>(outputs[buffer.number].tensor().data) : nullptr;
    } else if (buffer.place == Place::input && inputs[buffer.number].is_tensor()) {
      const TensorView& t = inputs[buffer.number].tensor();
      ws.base[b] = static_cast<std::byte*>(t.data);
      for (std::size_t d = 0; d < t.rank && d < max_dims; ++d) ws.input_strides[buffer.number][d] = t.stride(d);
    }
  }
}

inline void xnnpack::return_outputs(GraphModuleView graph, const xnnpack_parts::Plan& plan, Workspace& ws,
                                    std::span<EValue> outputs) noexcept {
  using namespace xnnpack_parts;
  const std::span<const Argument> results = graph.args(graph.root().outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Argument& a = results[i];
    const std::uint32_t s = plan.output_slots[i];
    if (s != no_id) {
      if (ws.given[i] != 0) continue;
      const Slot& slot = plan.slots[s];
      const TensorView made{ws.base[slot.buffer], ws.sizes.data() + slot.dims.first,
                            ws.strides.data() + slot.dims.first, static_cast<std::uint8_t>(slot.dims.count),
                            slot.dtype};
      if (outputs[i].is_tensor() && std::ranges::equal(outputs[i].tensor().sizes(), made.sizes()))
        copy_tensor(made, outputs[i].tensor());
      else
        outputs[i] = EValue(made);
    } else if (a.kind == ArgumentKind::value) {
      const Value& v = graph.values[a.value()];
      const std::optional<std::int64_t> number = v.expr == no_id ? std::optional(v.constant) : ws.symbols.value(v.expr);
      outputs[i] = number ? EValue(*number) : EValue();
    } else if (a.kind == ArgumentKind::int_) {
      outputs[i] = EValue(a.payload);
    } else if (a.kind == ArgumentKind::float_) {
      outputs[i] = EValue(a.float_value());
    } else if (a.kind == ArgumentKind::bool_) {
      outputs[i] = EValue(a.payload != 0);
    } else if (a.kind == ArgumentKind::string) {
      outputs[i] = EValue(graph.string(a));
    } else {
      outputs[i] = EValue();
    }
  }
}

static_assert(Backend<xnnpack> && SelectsNodes<xnnpack> && FillsDestinations<xnnpack> && SavesSegments<xnnpack>);

}  // namespace davit
