// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/contract.hpp"
#include "davit/backends/onednn/compile.hpp"
#include "davit/backends/onednn/refusals.hpp"
#include "davit/backends/onednn/workspace.hpp"
#include "davit/core/copy_tensor.hpp"

namespace davit {

/// Runs float32 programs of static shapes on x86-64 and AArch64 CPUs through oneDNN 2.6 or later (link with -ldnnl).
///
/// A convolution or matrix product takes batch norm, bias, activation and residual sum into one primitive. Weights are
/// laid out once, when compiling, and shared by sessions; activations stay in the library's layouts between nodes.
/// Execute takes no heap memory of its own. Sessions may run from several threads at once.
///
/// Debian's oneDNN runs its threads with libgomp, whose threads spin for some 15 ms for their next work, and every
/// primitive waits for all of them. Where something else wants one of the CPUs, a run with several threads can take a
/// hundred times as long; GOMP_SPINCOUNT=1000 in the environment (50 us) avoids the worst of that. On a machine that is
/// otherwise idle OMP_PROC_BIND=true keeps two threads from sharing a CPU.
///
/// Where oneDNN differs from torch: relu, clamp, maximum and minimum do not hand on a NaN but answer their bound or the
/// other operand; gelu of numbers near the end of float's range stays finite. Sums are taken in another order. Left to
/// other backends: log and log_softmax, for oneDNN's are off by 1e-6 where the exact result is near 0, and exp, for its
/// exp of a NaN is infinite.
struct onednn {
  static constexpr std::string_view name = "onednn";

  struct CompileSpec {
    std::uint32_t threads = 0;  ///< of one run; 0: what set_threads said when the program is compiled
    friend constexpr bool operator==(const CompileSpec&, const CompileSpec&) = default;
  };
  struct Processed {
    std::shared_ptr<const ProgramBody> body;
  };
  struct Handle {
    std::shared_ptr<const onednn_ops::Code> code;
  };
  using Workspace = onednn_ops::Workspace;

  /// Threads of one run of programs compiled from now on, unless their spec says another number; 1 if never called.
  static void set_threads(std::uint32_t threads) noexcept {
    onednn_ops::default_threads() = static_cast<int>(threads < 1024 ? threads : 1024);
  }

  /// True if the library that was loaded fits the headers and has a CPU engine.
  [[nodiscard]] static bool is_available() noexcept {
    static const bool works = onednn_ops::library_works();
    return works;
  }

  /// nullptr if oneDNN takes the node, else why not.
  [[nodiscard]] static const char* refuses(GraphModuleView graph, NodeId node) {
    return is_available() ? onednn_ops::refuses(graph, node) : "oneDNN does not work on this machine";
  }

  /// Errors: unsupported_operator for the first node that refuses() refuses; not_found for a constant.
  [[nodiscard]] static Result<Processed> preprocess(const Method& method, const CompileSpec&,
                                                    DebugHandleRecorder& debug_handles) {
    Result<std::shared_ptr<const ProgramBody>> body = make_program_body(method, name, debug_handles);
    if (!body) return std::unexpected(std::move(body.error()));
    const GraphModuleView graph = method.view();
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

  /// Errors: not_available; unsupported_operator, invalid_program, failed for what a damaged file declares.
  [[nodiscard]] static Result<Handle> compile(const Processed& processed, const CompileSpec& spec) {
    if (!is_available())
      return std::unexpected(Error{.code = ErrorCode::not_available,
                                   .stage = Stage::compile,
                                   .backend = name,
                                   .what = "oneDNN does not work on this machine",
                                   .fix = "install libdnnl 2.6 or later"});
    const int threads = spec.threads != 0 ? static_cast<int>(spec.threads) : onednn_ops::default_threads().load();
    Result<std::shared_ptr<const onednn_ops::Code>> code = onednn_ops::Compiler(processed.body).run(threads);
    if (!code) {
      code.error().backend = name;
      return std::unexpected(std::move(code.error()));
    }
    return Handle{*std::move(code)};
  }

  [[nodiscard]] static Result<std::size_t> prepare(const Handle& handle, std::span<const EValue> inputs,
                                                   std::span<const EValue> outputs, Workspace& ws) {
    const onednn_ops::Code& code = *handle.code;
    if (!inputs_fit(code, inputs) || outputs.size() != code.outputs.size())
      return std::unexpected(Error{.code = ErrorCode::invalid_shape,
                                   .stage = Stage::execute,
                                   .backend = name,
                                   .what = "the inputs or outputs are not what the partition was compiled for",
                                   .fix = "save the program again"});
    try {
      return ws.prepare(code, outputs);
    } catch (const dnnl::error& e) {
      return std::unexpected(Error{.code = ErrorCode::failed,
                                   .stage = Stage::execute,
                                   .backend = name,
                                   .what = concat("oneDNN: ", std::string_view(e.what()))});
    }
  }

  template <class Context>
  [[nodiscard]] static Status execute(const Handle& handle, std::span<const EValue> inputs, std::span<EValue> outputs,
                                      Context& context) {
    const onednn_ops::Code& code = *handle.code;
    Workspace& ws = context.workspace();
    ws.move_scratch(code, context.scratch().data());
    for (std::size_t i = 0; i < code.inputs.size(); ++i) bind_input(code, ws, code.inputs[i], inputs[i]);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (code.outputs[i].kind != onednn_ops::Output::Kind::made || !ws.is_given(i)) continue;
      if (!outputs[i].is_tensor() || !outputs[i].tensor().is_contiguous())
        return context.fail(ErrorCode::invalid_argument, no_debug_handle, "output ", i, " has lost its destination");
      ws.set_address(code, code.outputs[i].index, static_cast<std::byte*>(outputs[i].tensor().data));
    }
    onednn_ops::ThreadScope threads(code.threads);
    for (const onednn_ops::Step& step : code.steps) {
      threads.use(step.threads);
      context.begin_op(step.handle, step.name);
      const dnnl_status_t status = run_step(code, ws, step);
      context.end_op(step.handle, step.name);
      if (status != dnnl_success) [[unlikely]]
        return context.fail(ErrorCode::failed, step.handle, "oneDNN answered status ", static_cast<int>(status),
                            " for ", step.name);
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const EValue made = result(code, ws, code.outputs[i], inputs);
      const TensorView* const to = outputs[i].tensor_if();
      if (to != nullptr && made.is_tensor() && made.tensor().data != to->data) {
        copy_tensor(made.tensor(), *to);
      } else {
        outputs[i] = made;
      }
    }
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
    return load_with(bytes, [](ByteReader& in) { return read_tensor(in); });
  }
  [[nodiscard]] static Result<Processed> load(std::span<const std::byte> bytes, const SegmentReader& segments) {
    return load_with(bytes, [&](ByteReader& in) { return read_tensor(in, segments); });
  }
  [[nodiscard]] static std::vector<std::byte> save_spec(const CompileSpec& spec) {
    ByteWriter out;
    out.number(spec.threads);
    return std::move(out).take();
  }
  /// Errors: corrupt_data.
  [[nodiscard]] static Result<CompileSpec> load_spec(std::span<const std::byte> bytes) {
    ByteReader in(bytes);
    const CompileSpec spec{in.number<std::uint32_t>()};
    if (!in.ok() || spec.threads > 1024)
      return std::unexpected(Error{.code = ErrorCode::corrupt_data,
                                   .backend = name,
                                   .where = "compile spec",
                                   .what = "it holds no number of threads",
                                   .fix = "save the program again"});
    return spec;
  }

 private:
  template <class ReadTensor>
  [[nodiscard]] static Result<Processed> load_with(std::span<const std::byte> bytes, ReadTensor&& read) {
    Result<std::shared_ptr<const ProgramBody>> body = load_program_body(bytes, name, read);
    if (body) return Processed{*std::move(body)};
    body.error().backend = name;
    return std::unexpected(std::move(body.error()));
  }
  [[nodiscard]] static bool inputs_fit(const onednn_ops::Code& code, std::span<const EValue> inputs) noexcept {
    if (inputs.size() != code.inputs.size()) return false;
    const GraphModuleView graph = code.body->graph.view();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (code.inputs[i].storage == no_id) continue;
      const TensorView* tensor = inputs[i].tensor_if();
      const std::span<const Dim> dims = graph.dims_of(graph.values[code.inputs[i].value].sizes);
      if (tensor == nullptr || tensor->dtype != ScalarType::float32 || tensor->rank != dims.size()) return false;
      for (std::size_t d = 0; d < dims.size(); ++d)
        if (tensor->size(d) != dims[d].value) return false;
    }
    return true;
  }
  static void bind_input(const onednn_ops::Code& code, Workspace& ws, const onednn_ops::InputPort& port,
                         const EValue& value) noexcept {
    if (port.storage == no_id || port.staging == no_id) return;
    const TensorView& tensor = value.tensor();
    if (tensor.is_contiguous()) return ws.set_address(code, port.storage, static_cast<std::byte*>(tensor.data));
    std::byte* const copy = ws.address(port.staging);
    std::int64_t strides[max_rank];
    contiguous_strides(tensor.sizes(), std::span(strides, tensor.rank));
    copy_tensor(tensor, TensorView{copy, tensor.sizes_data, strides, tensor.rank, tensor.dtype});
    ws.set_address(code, port.storage, copy);
  }
  [[nodiscard]] static dnnl_status_t run_step(const onednn_ops::Code& code, const Workspace& ws,
                                              const onednn_ops::Step& step) noexcept {
    const std::span<const dnnl_exec_arg_t> arguments = ws.arguments(step);
    if (step.primitive)
      return dnnl_primitive_execute(step.primitive.get(), ws.stream(), static_cast<int>(arguments.size()),
                                    arguments.data());
    const std::uint32_t storage = code.roots[code.arguments[step.arguments.first].place];
    const auto [root, offset] = code.root_of(code.places[code.arguments[step.arguments.first].place]);
    std::memset(ws.address(storage) + offset, 0, code.places[code.arguments[step.arguments.first].place].md.get_size());
    return dnnl_success;
  }
  [[nodiscard]] static EValue result(const onednn_ops::Code& code, const Workspace& ws,
                                     const onednn_ops::Output& output, std::span<const EValue> inputs) noexcept {
    const Argument& a = output.literal;
    switch (output.kind) {
      case onednn_ops::Output::Kind::made: {
        const std::int64_t* const sizes = code.dims.data() + output.dims.first;
        return TensorView{ws.address(output.index), sizes, sizes + output.dims.count,
                          static_cast<std::uint8_t>(output.dims.count), ScalarType::float32};
      }
      case onednn_ops::Output::Kind::input: return inputs[output.index];
      case onednn_ops::Output::Kind::constant: return code.body->constants[output.index].view();
      case onednn_ops::Output::Kind::literal: break;
    }
    switch (a.kind) {
      case ArgumentKind::int_: return a.payload;
      case ArgumentKind::float_: return a.float_value();
      case ArgumentKind::bool_: return a.payload != 0;
      case ArgumentKind::string: return code.body->graph.view().string(a);
      default: return {};
    }
  }
};

static_assert(Backend<onednn> && SelectsNodes<onednn> && FillsDestinations<onednn> && SavesSegments<onednn>);

}  // namespace davit
