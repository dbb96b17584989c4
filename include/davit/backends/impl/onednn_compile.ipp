// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "davit/backend/program_body.hpp"
#include "davit/backends/kit/default_threads.hpp"
#include "davit/backends/kit/non_finite_fallback.hpp"
#include "davit/backends/onednn.hpp"
#include "davit/backends/onednn/compile.hpp"
#include "davit/backends/onednn/int8.hpp"
#include "davit/backends/onednn/refusals.hpp"
#include "davit/backends/onednn/shapes.hpp"
#include "davit/backends/onednn/specialize.hpp"
#include "davit/backends/kit/offload_cost.hpp"
#include "davit/backends/kit/finite_guard.hpp"
#include "davit/kernels/byte_convolution.hpp"
#include "davit/program/operators/convolution.hpp"
#include "davit/program/operators/matmul.hpp"
#include "davit/program/operators/node_arguments.hpp"
#include "davit/program/operators/pooling.hpp"
#include "davit/program/operators/quantization.hpp"
#include "davit/program/views.hpp"

namespace davit {

namespace onednn_ops {

Shapes::Shapes(std::shared_ptr<const ProgramBody> body, const CodeOptions& options)
    : body_(std::move(body)), options_(options), partition_(PackedConstants::new_partition()) {
  if (options_.exact) checks_ = find_value_checks(*body_, false, onednn_ops::runs_as_kernel);
}

[[nodiscard]] std::shared_ptr<const Code> Shapes::code_for(const ShapeKey& key, std::span<const EValue> inputs) {
  const std::scoped_lock lock(mutex_);
  for (const auto& [known, code] : codes_)
    if (known == key) return code;
  std::shared_ptr<const Code> code;
  if (const std::shared_ptr<const ProgramBody> own = specialize(*body_, inputs)) {
    Result<std::shared_ptr<const Code>> made =
        Compiler(own, partition_).run(options_, options_.exact ? &checks_ : nullptr);
    if (made && inputs_fit(**made, inputs)) code = *std::move(made);
  }
  if (codes_.size() == most) codes_.pop_front();
  codes_.emplace_back(key, code);
  return code;
}

}  // namespace onednn_ops

void onednn::set_threads(std::uint32_t threads) noexcept { set_default_threads<onednn>(threads); }

void onednn::set_fast_math(bool may) noexcept { default_fast_math<onednn> = may; }

bool onednn::is_available() noexcept {
  static const bool works = onednn_ops::library_works();
  return works;
}

namespace onednn_ops {

/// The source whose bytes davit's own kernels multiply on this CPU, as portable does, or that portable pools; no_id for
/// other nodes.
[[nodiscard]] ValueId source_of_kernels(GraphModuleView graph, NodeId n) noexcept {
  const operators::NodeArguments call(graph, n);
  operators::ConvolutionView convolution;
  operators::MatmulView matmul;
  operators::PoolView pool;
  operators::AdaptivePoolView adaptive;
  if (!operators::read_convolution(call, convolution))
    return convolution.transposed || convolution.dims > 2 ? no_id : convolution.input;
  if (!operators::read_matmul(call, matmul)) return matmul.is_plain() ? matmul.left : no_id;
  if (!operators::read_pool(call, pool)) return pool.input;
  return operators::read_adaptive_pool(call, adaptive) ? no_id : adaptive.input;
}
/// True for a node of an int8 program that runs the same way on portable: the library has no primitives for products of
/// bytes on this CPU, davit's kernels compute them, and the other operators between them are cheap. O(arguments).
[[nodiscard]] bool is_portables_as_well(GraphModuleView graph, NodeId n) noexcept {
  static const bool by_kernels = !has_int8_primitives() && kernels::can_convolve_bytes();
  const ValueId source = by_kernels ? source_of_kernels(graph, n) : no_id;
  const NodeId producer = source == no_id ? no_id : graph.values[source].producer;
  operators::QuantizationView bytes;
  if (producer == no_id || operators::read_quantization(operators::NodeArguments(graph, producer), bytes) ||
      bytes.quantizes || bytes.scales != no_id)
    return false;
  const std::span<const Dim> dims =
      graph.dims_of(graph.values[source].sizes);  // portable needs all sizes except the batch
  return dims.size() > 1 && std::ranges::all_of(dims.subspan(1), [](const Dim& d) { return d.is_static(); });
}

}  // namespace onednn_ops

bool onednn::is_profitable(GraphModuleView graph, std::span<const NodeId> nodes) {
  constexpr LibraryRates rates{.convolution = 66,
                               .convolution_of_few = 66,
                               .convolution_to_few = 66,
                               .depthwise_convolution = 16,
                               .product = 200,
                               .pooling = 4};
  return std::ranges::any_of(nodes,
                             [&](NodeId n) {
                               return !onednn_ops::is_portables_as_well(graph, n) &&
                                      is_worth_a_library(
                                          graph, n,
                                          {"avg_pool1d", "avg_pool2d", "avg_pool3d", "layer_norm", "max_pool1d",
                                           "max_pool2d", "max_pool2d_with_indices", "max_pool3d_with_indices",
                                           "native_layer_norm", "upsample_nearest2d"});
                             }) &&
         pays_its_border(graph, nodes, rates);
}
double onednn::offload_cost(GraphModuleView graph, std::span<const NodeId> nodes) {
  constexpr LibrarySpeed speed{.node_ns = 400,
                               .multiplications = 58,
                               .winograd = 100,
                               .depthwise = 35,
                               .transposed = 40,
                               .few_filters = 31,
                               .channel_block = 16,
                               .filter_block = 16,
                               .idle_rows = 1.8,
                               .pooled = 33,
                               .averaged = 20,
                               .element_ns = 0.1,
                               .strided_ns = 0.15,
                               .split_ns = 0.4,
                               .fused_ns = 0.03,
                               .layout_ns = 0.02,
                               .batch_layout_ns = 0.11,
                               .border_ns = 0.16};
  return estimated_ns(graph, nodes, speed);
}
const char* onednn::refuses(GraphModuleView graph, NodeId node) {
  return is_available() ? onednn_ops::refuses(graph, node) : "oneDNN does not work on this machine";
}

Result<onednn::Processed> onednn::preprocess(const Method& method, const CompileSpec&,
                                             DebugHandleRecorder& debug_handles) {
  Result<std::shared_ptr<const ProgramBody>> body = make_program_body(method, name, debug_handles);
  if (!body) return error_of(std::move(body));
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

Result<onednn::Handle> onednn::compile(const Processed& processed, const CompileSpec& spec) {
  if (!is_available())
    return std::unexpected(Error{.code = ErrorCode::not_available,
                                 .stage = Stage::compile,
                                 .backend = name,
                                 .what = "oneDNN does not work on this machine",
                                 .fix = "install libdnnl 2.6 or later"});
  const onednn_ops::CodeOptions options{.threads = static_cast<int>(threads_of<onednn>(spec)),
                                        .exact = !spec.fast_math && !default_fast_math<onednn>,
                                        .int8_kernels = spec.int8_kernels};
  if (onednn_ops::has_symbols(processed.body->graph.view()))
    return Handle{.code = nullptr, .shapes = std::make_shared<onednn_ops::Shapes>(processed.body, options)};
  Result<std::shared_ptr<const onednn_ops::Code>> code = onednn_ops::Compiler(processed.body).run(options);
  if (!code) {
    code.error().backend = name;
    return error_of(std::move(code));
  }
  return Handle{*std::move(code)};
}

std::vector<std::byte> onednn::save(const Processed& processed, SegmentWriter& segments) {
  return save_program_body(*processed.body, segments);
}
Result<onednn::Processed> onednn::load(std::span<const std::byte> bytes, const SegmentReader& segments) {
  Result<std::shared_ptr<const ProgramBody>> body = load_program_body(bytes, segments, name);
  if (!body) return error_of(std::move(body));
  return Processed{*std::move(body)};
}

std::vector<std::byte> onednn::save_spec(const CompileSpec& spec) {
  ByteWriter out;
  out.number(spec.threads);
  out.number(static_cast<std::uint8_t>((spec.fast_math ? 1 : 0) | (spec.int8_kernels ? 0 : 2)));
  return std::move(out).take();
}

Result<onednn::CompileSpec> onednn::load_spec(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  CompileSpec spec{.threads = in.number<std::uint32_t>()};
  const auto flags = in.number<std::uint8_t>();
  spec.fast_math = (flags & 1) != 0;
  spec.int8_kernels = (flags & 2) == 0;
  if (!in.ok() || spec.threads > 1024 || flags > 3)
    return std::unexpected(Error{.code = ErrorCode::corrupt_data,
                                 .backend = name,
                                 .where = "compile spec",
                                 .what = "it lacks the number of threads, or the kinds of arithmetic",
                                 .fix = "save the program again"});
  return spec;
}

}  // namespace davit
