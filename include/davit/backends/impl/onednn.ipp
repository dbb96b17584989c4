// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/program_body.hpp"
#include "davit/backends/default_threads.hpp"
#include "davit/backends/onednn.hpp"
#include "davit/backends/onednn/compile.hpp"
#include "davit/backends/onednn/refusals.hpp"
#include "davit/backends/onednn/session.hpp"
#include "davit/backends/value_checks.hpp"
#include "davit/backends/region_worth.hpp"
#include "davit/core/copy_tensor.hpp"

namespace davit {

namespace onednn_ops {

DAVIT_INLINE void bind_input(const Code& code, Workspace& ws, const InputPort& port, const EValue& value) noexcept {
  if (port.storage == no_id || port.copy == no_id) return;
  const TensorView& tensor = value.tensor();
  if (tensor.is_contiguous()) return ws.set_address(code, port.storage, static_cast<std::byte*>(tensor.data));
  std::byte* const copy = ws.address(port.copy);
  std::int64_t strides[max_rank];
  contiguous_strides(tensor.sizes(), std::span(strides, tensor.rank));
  copy_tensor(tensor, TensorView{copy, tensor.sizes_data, strides, tensor.rank, tensor.dtype});
  ws.set_address(code, port.storage, copy);
}

/// What is no primitive. `met`: something that is not ordinary was met, or a kernel refuses: portable says what is wrong.
[[nodiscard]] DAVIT_INLINE dnnl_status_t run_own_step(const Code& code, Workspace& ws, const Step& step, bool& met) noexcept {
  if (step.kind == StepKind::kernel) {
    kernels::ThreadTeam team(OpenMp::loaded().parallel == nullptr ? 1 : static_cast<std::size_t>(std::max(step.threads, 1)), run_on_openmp);
    const kernels::TeamScope scope(team.size() > 1 ? &team : nullptr);
    met = !ws.kernel(step).run(code.kernels[static_cast<std::size_t>(step.length)], [&](std::size_t i) -> void* {
      const auto [root, offset] = code.root_of(code.places[code.arguments[step.arguments.first + i].place]);
      return ws.address(root) + offset;
    });
    return dnnl_success;
  }
  const Place& place = code.places[code.arguments[step.arguments.first].place];
  const auto [root, offset] = code.root_of(place);
  std::byte* const at = ws.address(root) + offset;
  if (step.kind == StepKind::broadcast) {
    const auto [to_root, to_offset] = code.root_of(code.places[code.arguments[step.arguments.first + 1].place]);
    const std::int64_t* const sizes = code.dims.data() + step.length;
    const auto rank = static_cast<std::uint8_t>(step.inner);
    const ScalarType dtype = type_of(place.md) == DataType::bf16 ? ScalarType::bfloat16 : ScalarType::float32;
    copy_tensor(TensorView{at, sizes, sizes + rank, rank, dtype},
                TensorView{ws.address(to_root) + to_offset, sizes, sizes + 2 * rank, rank, dtype});
    return dnnl_success;
  }
  const std::size_t bytes = place.md.get_size();
  if (step.kind == StepKind::zeros) {
    std::memset(at, 0, bytes);
    return dnnl_success;
  }
  const auto look = [&](const auto* x) {
    const auto count = static_cast<std::int64_t>(bytes / sizeof *x);
    return step.kind == StepKind::check_values ? all_ordinary(x, count) : softmax_is_ordinary(x, count / (step.length * step.inner), step.length, step.inner);
  };
  met = !(type_of(place.md) == DataType::bf16 ? look(reinterpret_cast<const BFloat16*>(at)) : look(reinterpret_cast<const float*>(at)));
  return dnnl_success;
}

[[nodiscard]] DAVIT_INLINE dnnl_status_t run_step(const Code& code, Workspace& ws, const Step& step, bool& met) noexcept {
  const std::span<const dnnl_exec_arg_t> arguments = ws.arguments(step);
  if (step.kind != StepKind::primitive) return run_own_step(code, ws, step, met);
  return dnnl_primitive_execute(step.primitive.get(), ws.stream(), static_cast<int>(arguments.size()), arguments.data());
}

[[nodiscard]] DAVIT_INLINE EValue result_of(const Code& code, const Workspace& ws, const Output& output,
                                            std::span<const EValue> inputs) noexcept {
  const Argument& a = output.literal;
  switch (output.kind) {
    case Output::Kind::made: {
      const std::int64_t* const sizes = code.dims.data() + output.dims.first;
      return TensorView{ws.address(output.index), sizes, sizes + output.dims.count,
                        static_cast<std::uint8_t>(output.dims.count), output.dtype};
    }
    case Output::Kind::input: return inputs[output.index];
    case Output::Kind::constant: return code.body->constants[output.index].view();
    case Output::Kind::literal: break;
  }
  switch (a.kind) {
    case ArgumentKind::int_: return a.payload;
    case ArgumentKind::float_: return a.float_value();
    case ArgumentKind::bool_: return a.payload != 0;
    case ArgumentKind::string: return code.body->graph.view().string(a);
    default: return {};
  }
}

}  // namespace onednn_ops

DAVIT_INLINE void onednn::set_threads(std::uint32_t threads) noexcept {
  set_default_threads<onednn>(threads);
}

DAVIT_INLINE void onednn::set_fast_math(bool may) noexcept {
  default_fast_math<onednn> = may;
}

DAVIT_INLINE bool onednn::is_available() noexcept {
  static const bool works = onednn_ops::library_works();
  return works;
}

DAVIT_INLINE bool onednn::is_worthwhile(GraphModuleView graph, std::span<const NodeId> nodes) noexcept {
  return std::ranges::any_of(nodes, [&](const NodeId& n) {
    const onednn_ops::OpRow* const row = onednn_ops::find_op(graph.target(graph.nodes[n]));
    const bool is_kernel = row != nullptr && (row->describe == onednn_ops::describe_kernel || row->describe == onednn_ops::describe_cast || row->describe == onednn_ops::describe_quantization);
    return !is_kernel && computes_more_than_moves(graph, {&n, 1});
  });
}
DAVIT_INLINE const char* onednn::refuses(GraphModuleView graph, NodeId node) {
  return is_available() ? onednn_ops::refuses(graph, node) : "oneDNN does not work on this machine";
}

DAVIT_INLINE Result<onednn::Processed> onednn::preprocess(const Method& method, const CompileSpec&,
                                                          DebugHandleRecorder& debug_handles) {
  Result<std::shared_ptr<const ProgramBody>> body = make_program_body(method, name, debug_handles);
  if (!body) return std::unexpected(std::move(body.error()));
  GraphModuleView graph = method.view();
  const std::vector<std::uint8_t> used = used_values(graph);
  graph.used = used.data();
  for (NodeId id = 0; id < graph.nodes.size(); ++id)
    if (const char* reason = refuses(graph, id))
      return std::unexpected(Error{.code = ErrorCode::unsupported_operator,
                                   .stage = Stage::preprocess,
                                   .debug_handle = (*body)->handles[id],
                                   .backend = name,
                                   .what = concat(graph.target(graph.nodes[id]), ": ", reason),
                                   .fix = "name a backend after onednn that takes it"});
  return Processed{*std::move(body)};
}

DAVIT_INLINE Result<onednn::Handle> onednn::compile(const Processed& processed, const CompileSpec& spec) {
  if (!is_available())
    return std::unexpected(Error{.code = ErrorCode::not_available,
                                 .stage = Stage::compile,
                                 .backend = name,
                                 .what = "oneDNN does not work on this machine",
                                 .fix = "install libdnnl 2.6 or later"});
  const onednn_ops::CodeOptions options{.threads = static_cast<int>(threads_of<onednn>(spec)), .exact = !spec.fast_math && !default_fast_math<onednn>, .int8_kernels = spec.int8_kernels};
  if (onednn_ops::has_symbols(processed.body->graph.view()))
    return Handle{.code = nullptr, .shapes = std::make_shared<onednn_ops::Shapes>(processed.body, options)};
  Result<std::shared_ptr<const onednn_ops::Code>> code = onednn_ops::Compiler(processed.body).run(options);
  if (!code) {
    code.error().backend = name;
    return std::unexpected(std::move(code.error()));
  }
  return Handle{*std::move(code)};
}

DAVIT_INLINE Result<std::size_t> onednn::prepare(const Handle& handle, std::span<const EValue> inputs,
                                                 std::span<const EValue> outputs, Workspace& ws) {
  const bool fits = handle.shapes != nullptr || (onednn_ops::inputs_fit(*handle.code, inputs) && outputs.size() == handle.code->outputs.size());
  if (!fits)
    return std::unexpected(Error{.code = ErrorCode::invalid_shape,
                                 .stage = Stage::execute,
                                 .backend = name,
                                 .what = "the inputs or outputs are not what the partition was compiled for",
                                 .fix = "save the program again"});
  try {
    using State = onednn_ops::PartitionSession;
    if (ws.state == nullptr) ws.state = {new State, [](State* state) { delete state; }};
    return handle.shapes != nullptr ? ws.state->prepare(*handle.shapes, inputs, outputs) : ws.state->prepare(handle.code, outputs);
  } catch (const dnnl::error& e) {
    return std::unexpected(Error{.code = ErrorCode::failed,
                                 .stage = Stage::execute,
                                 .backend = name,
                                 .what = concat("oneDNN: ", std::string_view(e.what()))});
  }
}

DAVIT_INLINE Status onednn::run(const Handle& handle, std::span<const EValue> inputs, std::span<EValue> outputs,
                                Workspace& workspace, std::byte* scratch, std::uint64_t max_memory, RunEvents events) {
  onednn_ops::PartitionSession& session = *workspace.state;
  const std::shared_ptr<const ProgramBody>& body = handle.shapes != nullptr ? handle.shapes->body() : handle.code->body;
  const auto run_exactly = [&] { return session.exact().run(body, inputs, outputs, max_memory, events, workspace.why); };
  // sizes that the library has no primitives for, or others than were prepared for
  if (handle.shapes != nullptr && (session.code() == nullptr || !session.fits(inputs))) [[unlikely]] return run_exactly();
  const onednn_ops::Code& code = *session.code();
  onednn_ops::Workspace& ws = session.workspace();
  const auto fail = [&](ErrorCode error, DebugHandle at, const auto&... parts) {
    workspace.why = concat(parts...);
    return std::unexpected(Fault(error, at));
  };
  if (code.always_exact) [[unlikely]] return run_exactly();
  ws.move_scratch(code, scratch);
  for (std::size_t i = 0; i < code.inputs.size(); ++i) onednn_ops::bind_input(code, ws, code.inputs[i], inputs[i]);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (code.outputs[i].kind != onednn_ops::Output::Kind::made || !ws.is_given(i)) continue;
    if (!outputs[i].is_tensor() || !outputs[i].tensor().is_contiguous())
      return fail(ErrorCode::invalid_argument, no_debug_handle, "output ", i, " has lost its destination");
    ws.set_address(code, code.outputs[i].index, static_cast<std::byte*>(outputs[i].tensor().data));
  }
  onednn_ops::ThreadScope threads(code.threads);
  for (const onednn_ops::Step& step : code.steps) {
    threads.use(step.threads);
    events.begin_op(step.handle, step.name);
    bool met = false;
    const dnnl_status_t status = onednn_ops::run_step(code, ws, step, met);
    events.end_op(step.handle, step.name);
    if (status != dnnl_success) [[unlikely]]
      return fail(ErrorCode::failed, step.handle, "oneDNN answered status ", static_cast<int>(status), " for ",
                  step.name);
    if (met) [[unlikely]] return run_exactly();
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const EValue made = onednn_ops::result_of(code, ws, code.outputs[i], inputs);
    const TensorView* const to = outputs[i].tensor_if();
    if (to != nullptr && made.is_tensor() && made.tensor().data != to->data) {
      if (!copy_if_same(made.tensor(), *to))
        return fail(ErrorCode::invalid_shape, no_debug_handle, "output ", i, " does not have the sizes or the dtype that the program declares");
    } else {
      outputs[i] = made;
    }
  }
  return {};
}

DAVIT_INLINE std::vector<std::byte> onednn::save(const Processed& processed, SegmentWriter& segments) {
  return save_program_body(*processed.body, segments);
}
DAVIT_INLINE Result<onednn::Processed> onednn::load(std::span<const std::byte> bytes, const SegmentReader& segments) {
  Result<std::shared_ptr<const ProgramBody>> body = load_program_body(bytes, segments, name);
  if (!body) return std::unexpected(std::move(body.error()));
  return Processed{*std::move(body)};
}

DAVIT_INLINE std::vector<std::byte> onednn::save_spec(const CompileSpec& spec) {
  ByteWriter out;
  out.number(spec.threads);
  out.number(static_cast<std::uint8_t>((spec.fast_math ? 1 : 0) | (spec.int8_kernels ? 0 : 2)));
  return std::move(out).take();
}

DAVIT_INLINE Result<onednn::CompileSpec> onednn::load_spec(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  CompileSpec spec{.threads = in.number<std::uint32_t>()};
  const auto flags = in.number<std::uint8_t>();
  spec.fast_math = (flags & 1) != 0;
  spec.int8_kernels = (flags & 2) == 0;
  if (!in.ok() || spec.threads > 1024 || flags > 3)
    return std::unexpected(Error{.code = ErrorCode::corrupt_data,
                                 .backend = name,
                                 .where = "compile spec",
                                 .what = "it holds no number of threads, or not what arithmetic may be used",
                                 .fix = "save the program again"});
  return spec;
}

#if defined(DAVIT_COMPILED)
constinit const BackendTable detail::TableOf<onednn>::table = detail::BackendCalls<onednn>::table();
#endif

}  // namespace davit
