// SPDX-License-Identifier: MIT
#pragma once

#include <xnnpack.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "davit/backend/program_body.hpp"
#include "davit/backends/kit/default_threads.hpp"
#include "davit/backends/kit/non_finite_fallback.hpp"
#include "davit/backends/kit/offload_cost.hpp"
#include "davit/backends/xnnpack.hpp"
#include "davit/backends/xnnpack/code.hpp"
#include "davit/backends/xnnpack/op_table.hpp"

namespace davit {

void xnnpack::set_threads(std::uint32_t threads) noexcept { set_default_threads<xnnpack>(threads); }

void xnnpack::set_fast_math(bool may) noexcept { default_fast_math<xnnpack> = may; }

bool xnnpack::is_available() noexcept {
  static const bool available = xnn_initialize(nullptr) == xnn_status_success;
  return available;
}

bool xnnpack::is_profitable(GraphModuleView graph, std::span<const NodeId> nodes) {
  constexpr LibraryRates rates{.convolution = 320,
                               .convolution_of_few = -60,
                               .convolution_to_few = -6,
                               .depthwise_convolution = 40,
                               .product = -300,
                               .copies_all = true};
  return std::ranges::any_of(nodes, [&](NodeId n) { return is_worth_a_library(graph, n); }) &&
         pays_its_border(graph, nodes, rates);
}
double xnnpack::offload_cost(GraphModuleView graph, std::span<const NodeId> nodes) {
  constexpr LibrarySpeed speed{.node_ns = 150,
                               .multiplications = 58,
                               .depthwise = 17,
                               .transposed = 58,
                               .filter_block = 16,
                               .idle_rows = 4.5,
                               .pooled = 17,
                               .averaged = 3,
                               .element_ns = 0.15,
                               .fused_ns = 0.1,
                               .moved_ns = 0.1,
                               .border_ns = 0.3};
  return estimated_ns(graph, nodes, speed);
}
const char* xnnpack::refuses(GraphModuleView graph, NodeId node) { return xnnpack_parts::refuses(graph, node); }

Result<xnnpack::Processed> xnnpack::preprocess(const Method& method, const CompileSpec&,
                                               DebugHandleRecorder& debug_handles) {
  Result<std::shared_ptr<const ProgramBody>> body = make_program_body(method, name, debug_handles);
  if (!body) return error_of(std::move(body));
  if (Result<xnnpack_parts::Plan> plan = xnnpack_parts::make_plan(**body); !plan) return error_of(std::move(plan));
  return Processed{*std::move(body)};
}

Result<xnnpack::Handle> xnnpack::compile(const Processed& processed, const CompileSpec& spec) {
  if (!is_available())
    return std::unexpected(Error{.code = ErrorCode::not_available,
                                 .stage = Stage::compile,
                                 .backend = name,
                                 .what = "XNNPACK does not run on this machine",
                                 .fix = "name another backend"});
  Result<xnnpack_parts::Plan> plan =
      xnnpack_parts::make_plan(*processed.body, spec.int8_kernels, !spec.fast_math && !default_fast_math<xnnpack>);
  if (!plan) return error_of(std::move(plan));
  const auto code = std::make_shared<xnnpack_parts::Code>(processed.body, *std::move(plan),
                                                          xnnpack_parts::thread_pool(threads_of<xnnpack>(spec)),
                                                          std::max(spec.concurrent_runs, 1u));
  Result<std::unique_ptr<xnnpack_parts::Engine>> engine =
      xnnpack_parts::Engine::make(code->plan, code->body->handles, code->pool);
  if (!engine) return error_of(std::move(engine));
  code->turns.put(*std::move(engine));
  return Handle{code};
}

std::vector<std::byte> xnnpack::save(const Processed& processed, SegmentWriter& segments) {
  return save_program_body(*processed.body, segments);
}
Result<xnnpack::Processed> xnnpack::load(std::span<const std::byte> bytes, const SegmentReader& segments) {
  Result<std::shared_ptr<const ProgramBody>> body = load_program_body(bytes, segments, name);
  if (!body) return error_of(std::move(body));
  return Processed{*std::move(body)};
}

std::vector<std::byte> xnnpack::save_spec(const CompileSpec& spec) {
  ByteWriter out;
  out.number(spec.threads);
  out.number(spec.concurrent_runs);
  out.number(static_cast<std::uint32_t>(spec.int8_kernels ? 1 : 0));
  out.number(static_cast<std::uint32_t>(spec.fast_math ? 1 : 0));
  return std::move(out).take();
}

Result<xnnpack::CompileSpec> xnnpack::load_spec(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  CompileSpec spec;
  spec.threads = in.number<std::uint32_t>();
  spec.concurrent_runs = in.number<std::uint32_t>();
  const auto int8 = in.number<std::uint32_t>();
  spec.int8_kernels = int8 != 0;
  const auto fast = in.number<std::uint32_t>();
  spec.fast_math = fast != 0;
  if (in.ok() && spec.threads <= 1024 && spec.concurrent_runs <= 1024 && int8 <= 1 && fast <= 1) return spec;
  return std::unexpected(Error{.code = ErrorCode::corrupt_data,
                               .backend = name,
                               .where = "compile spec",
                               .what = "its numbers are out of range",
                               .fix = "save the module again"});
}

}  // namespace davit
