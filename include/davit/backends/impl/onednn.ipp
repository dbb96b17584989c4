// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/program_body.hpp"
#include "davit/backends/onednn.hpp"
#include "davit/backends/onednn/kernels.hpp"
#include "davit/backends/onednn/session.hpp"
#include "davit/backends/onednn/threads.hpp"
#include "davit/backends/portable/run_time/products/multiply.hpp"
#include "davit/backends/portable/run_time/result_type.hpp"
#include "davit/backends/kit/finite_guard.hpp"
#include "davit/core/copy_tensor.hpp"
#include "davit/kernels/blocks.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/thread_team.hpp"
#include "davit/kernels/winograd.hpp"

extern "C" const char davit_onednn_is_not_defined__include_davit_backends_onednn_implementation_hpp_in_one_source_file =
    0;

namespace davit {

namespace onednn_ops {

[[nodiscard]] ErrorCode row_kernel(portable_kernels::KernelCall& call) {
  const TensorView& x = call.tensor(0);
  const TensorView& weight = call.tensor(1);
  const std::array<std::int64_t, 2> sizes{1, weight.size(0)};
  if (const ErrorCode code = call.make(0, x.dtype, sizes); code != ErrorCode::ok) return code;
  float* const out = call.output(0).as<float>();
  const portable_kernels::detail::Dots<float> dots{
      1, sizes[1], x.size(1), x.as<float>(), x.size(1), weight.as<float>(), x.size(1), out, sizes[1]};
  kernels::run_widest_for<float, portable_kernels::detail::MultiplyRow>(&dots);
  for (std::int64_t i = 0; call.has(2) && i < sizes[1]; ++i) out[i] += call.tensor(2).as<float>()[i];
  return ErrorCode::ok;
}

namespace detail {
/// Calls f for each number of a convolution, in a fixed order.
template <class Convolution, class F>
void for_each_number(Convolution& c, F&& f) {
  for (auto* number :
       {&c.images, &c.channels, &c.height, &c.width, &c.out_channels, &c.out_height, &c.out_width, &c.top, &c.left})
    f(*number);
  for (auto* image : {&c.source, &c.made})
    for (auto* number : {&image->image, &image->block, &image->row, &image->pixel}) f(*number);
}
}  // namespace detail

[[nodiscard]] std::vector<EValue> winograd_numbers(const kernels::WinogradConvolution& c,
                                                   const WinogradEpilogue& epilogue) {
  std::vector<EValue> numbers;
  for (const bool has : {epilogue.bias, epilogue.sum, epilogue.relu}) numbers.emplace_back(std::int64_t{has});
  detail::for_each_number(c, [&](std::int64_t number) { numbers.emplace_back(number); });
  return numbers;
}

[[nodiscard]] ErrorCode winograd_kernel(portable_kernels::KernelCall& call) {
  std::size_t at = 4;
  const auto has = [&] { return call.integer(at++) != 0; };
  const bool biased = has(), added = has(), bounded = has();
  kernels::WinogradConvolution c;
  detail::for_each_number(c, [&](std::int64_t& number) { number = call.integer(at++); });
  const std::array sizes{c.images * c.made.image};
  if (const ErrorCode code = call.make(0, ScalarType::float32, sizes); code != ErrorCode::ok) return code;
  float* const space = call.temporary<float>(static_cast<std::size_t>(c.space() * kernels::team_size()));
  if (space == nullptr) return ErrorCode::out_of_memory;
  const float* const bias = biased ? call.tensor(2).as<float>() : nullptr;
  const float* const sum = added ? call.tensor(3).as<float>() : nullptr;
  kernels::convolve_winograd(c, call.tensor(0).as<float>(), call.tensor(1).as<float>(), bias, sum, bounded,
                             call.output(0).as<float>(), space);
  return ErrorCode::ok;
}

void convert(ScalarType from_type, const std::byte* from, ScalarType to_type, std::byte* to, std::int64_t count) {
  const std::array sizes{count}, strides{std::int64_t{1}};
  if (!kernels::convert_elements(sizes, from, from_type, strides, to, to_type, strides))
    throw dnnl::error(dnnl_invalid_arguments, "numbers of this dtype cannot be converted");
}

[[nodiscard]] ErrorCode convert_kernel(portable_kernels::KernelCall& call) {
  const TensorView& x = call.tensor(0);
  const auto dtype = static_cast<ScalarType>(call.integer(1));
  if (const ErrorCode code = call.make(0, dtype, x.sizes()); code != ErrorCode::ok) return code;
  return portable_kernels::convert_elements(x, dtype, call.output(0).data);
}

void bind_input(const Code& code, Workspace& ws, const InputPort& port, const EValue& value) noexcept {
  if (port.storage == no_id || port.copy == no_id) return;
  const TensorView& tensor = value.tensor();
  if (tensor.is_contiguous()) return ws.set_address(code, port.storage, static_cast<std::byte*>(tensor.data));
  std::byte* const copy = ws.address(port.copy);
  std::int64_t strides[max_rank];
  contiguous_strides(tensor.sizes(), std::span(strides, tensor.rank));
  copy_tensor(tensor, TensorView{copy, tensor.sizes_data, strides, tensor.rank, tensor.dtype});
  ws.set_address(code, port.storage, copy);
}

/// Runs a step that is not a primitive. `met` is set if a check finds a large or non-finite value, or a kernel refuses;
/// portable then reports the error.
[[nodiscard]] dnnl_status_t run_own_step(const Code& code, Workspace& ws, const Step& step, bool& met) noexcept {
  if (step.kind == StepKind::kernel) {
    kernels::ThreadTeam team(
        OpenMp::loaded().parallel == nullptr ? 1 : static_cast<std::size_t>(std::max(step.threads, 1)), run_on_openmp);
    const kernels::TeamScope scope(team.size() > 1 ? &team : nullptr);
    met = !ws.kernel(step).run(
        code.kernels[static_cast<std::size_t>(step.first)], ws.kernel_memory(), [&](std::size_t i) -> void* {
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
    const std::int64_t* const sizes = code.dims.data() + step.first;
    const auto rank = static_cast<std::uint8_t>(step.rank);
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
  const auto look = [&](const auto* x) { return all_pass_guard(x, static_cast<std::int64_t>(bytes / sizeof *x)); };
  met = !(type_of(place.md) == DataType::bf16 ? look(reinterpret_cast<const BFloat16*>(at))
                                              : look(reinterpret_cast<const float*>(at)));
  return dnnl_success;
}

[[nodiscard]] dnnl_status_t run_step(const Code& code, Workspace& ws, const Step& step, bool& met) noexcept {
  const std::span<const dnnl_exec_arg_t> arguments = ws.arguments(step);
  if (step.kind != StepKind::primitive) return run_own_step(code, ws, step, met);
  return dnnl_primitive_execute(step.primitive.get(), ws.stream(), static_cast<int>(arguments.size()),
                                arguments.data());
}

[[nodiscard]] EValue result_of(const Code& code, const Workspace& ws, const Output& output,
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

Result<std::size_t> onednn::prepare(const Handle& handle, std::span<const EValue> inputs,
                                    std::span<const EValue> outputs, Workspace& ws) {
  const bool fits = handle.shapes != nullptr ||
                    (onednn_ops::inputs_fit(*handle.code, inputs) && outputs.size() == handle.code->outputs.size());
  if (!fits)
    return std::unexpected(Error{.code = ErrorCode::invalid_shape,
                                 .stage = Stage::execute,
                                 .backend = name,
                                 .what = "the inputs or outputs are not what the partition was compiled for",
                                 .fix = "save the program again"});
  try {
    using State = onednn_ops::PartitionSession;
    if (ws.state == nullptr) ws.state = {new State, [](State* state) { delete state; }};
    return handle.shapes != nullptr ? ws.state->prepare(*handle.shapes, inputs, outputs)
                                    : ws.state->prepare(handle.code, outputs);
  } catch (const dnnl::error& e) {
    return std::unexpected(Error{.code = ErrorCode::failed,
                                 .stage = Stage::execute,
                                 .backend = name,
                                 .what = concat("oneDNN: ", std::string_view(e.what()))});
  }
}

Status onednn::run(const Handle& handle, std::span<const EValue> inputs, std::span<EValue> outputs,
                   Workspace& workspace, std::byte* scratch, std::uint64_t max_memory, RunEvents events) {
  onednn_ops::PartitionSession& session = *workspace.state;
  const std::shared_ptr<const ProgramBody>& body = handle.shapes != nullptr ? handle.shapes->body() : handle.code->body;
  const auto fall_back = [&] { return session.exact().run(body, inputs, outputs, max_memory, events, workspace.why); };
  // sizes that the library has no primitives for, or others than were prepared for
  if (handle.shapes != nullptr && (session.code() == nullptr || !session.fits(inputs))) [[unlikely]]
    return fall_back();
  const onednn_ops::Code& code = *session.code();
  onednn_ops::Workspace& ws = session.workspace();
  const auto fail = [&](ErrorCode error, DebugHandle at, const auto&... parts) {
    workspace.why = concat(parts...);
    return std::unexpected(Fault(error, at));
  };
  if (code.always_falls_back) [[unlikely]]
    return fall_back();
  ws.move_scratch(code, scratch);
  for (std::size_t i = 0; i < code.inputs.size(); ++i) onednn_ops::bind_input(code, ws, code.inputs[i], inputs[i]);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (code.outputs[i].kind != onednn_ops::Output::Kind::made || !ws.is_given(i)) continue;
    if (!outputs[i].is_tensor() || !outputs[i].tensor().is_contiguous())
      return fail(ErrorCode::invalid_argument, no_debug_handle, "output ", i, " has lost its destination");
    ws.set_address(code, code.outputs[i].index, static_cast<std::byte*>(outputs[i].tensor().data));
  }
  onednn_ops::ThreadScope threads(code.threads);
  if (code.threads > 1 && onednn_ops::OpenMp::loaded().parallel != nullptr)
    kernels::lend_team(static_cast<std::size_t>(code.threads), onednn_ops::run_on_openmp);
  for (const onednn_ops::Step& step : code.steps) {
    if (const char* const why = events.stop_reason()) [[unlikely]]
      return fail(ErrorCode::cancelled, step.handle, why);
    threads.use(step.threads);
    events.begin_op(step.handle, step.name);
    bool met = false;
    const dnnl_status_t status = onednn_ops::run_step(code, ws, step, met);
    events.end_op(step.handle, step.name);
    if (status != dnnl_success) [[unlikely]]
      return fail(ErrorCode::failed, step.handle, "oneDNN answered status ", static_cast<int>(status), " for ",
                  step.name);
    if (met) [[unlikely]]
      return fall_back();
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const EValue made = onednn_ops::result_of(code, ws, code.outputs[i], inputs);
    const TensorView* const to = outputs[i].tensor_if();
    if (to != nullptr && made.is_tensor() && made.tensor().data != to->data) {
      if (!copy_if_same(made.tensor(), *to))
        return fail(ErrorCode::invalid_shape, no_debug_handle, "output ", i,
                    " does not have the sizes or the dtype that the program declares");
    } else {
      outputs[i] = made;
    }
  }
  return {};
}

constinit const BackendTable detail::TableOf<onednn>::table = detail::BackendCalls<onednn>::table();

}  // namespace davit
