// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/session.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

using namespace davit;
using onednn_ops::Code;
using onednn_ops::Output;
using onednn_ops::StorageKind;
using onednn_ops::Workspace;

namespace {

/// Three blocks of scratch, each alive together with its neighbours only; the last is output 0. Then one part of the
/// second, one input and one constant.
[[nodiscard]] Code chain_of_blocks() {
  Code code;
  code.storages = {{.bytes = 4096, .first = 0, .last = 1},
                   {.bytes = 4096, .first = 1, .last = 2},
                   {.output = 0, .bytes = 4096, .first = 2, .last = 3},
                   {.parent = 1, .parent_offset = 64, .bytes = 64, .first = 1, .last = 1},
                   {.kind = StorageKind::input, .bytes = 4096, .first = 0, .last = 0},
                   {.kind = StorageKind::constant, .bytes = 8, .first = 0, .last = 3}};
  code.constants.push_back(SharedBytes::allocate(8));
  code.places_of.resize(code.storages.size());
  code.dims = {1024, 1};  // sizes and strides of the output
  code.outputs.push_back({.kind = Output::Kind::made, .index = 2, .dims = {0, 1}});
  return code;
}

/// The offset of a storage in the scratch; huge if it is before it.
[[nodiscard]] std::size_t distance(const Workspace& ws, std::uint32_t storage, const std::byte* scratch) {
  return reinterpret_cast<std::uintptr_t>(ws.address(storage)) - reinterpret_cast<std::uintptr_t>(scratch);
}

}  // namespace

TEST_CASE("blocks of scratch share memory if their lifetimes allow it; an output with a destination takes none") {
  const Code code = chain_of_blocks();
  Workspace ws;
  const EValue nothing[1] = {};
  const std::size_t whole = ws.prepare(code, nothing);
  CHECK_FALSE(ws.is_given(0));
  CHECK(whole >= 2 * 4096);
  CHECK(whole < 3 * 4096);
  std::vector<std::byte> scratch(whole);
  ws.move_scratch(code, scratch.data());
  CHECK(ws.address(0) == ws.address(2));
  CHECK(ws.address(0) != ws.address(1));
  for (const std::uint32_t s : {0u, 1u, 2u}) CHECK(distance(ws, s, scratch.data()) <= whole - 4096);
  CHECK(ws.address(3) == nullptr);  // a part's address is its whole's
  CHECK(ws.address(4) == nullptr);
  CHECK(ws.address(5) == code.constants[0].data());

  Tensor destination = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{1024});
  const EValue given[] = {destination};
  CHECK(ws.prepare(code, given) <= whole);
  CHECK(ws.is_given(0));
  ws.set_address(code, 2, static_cast<std::byte*>(destination.view().data));
  ws.move_scratch(code, scratch.data());
  CHECK(ws.address(2) == static_cast<std::byte*>(destination.view().data));
}

TEST_CASE("a destination of other sizes is not given") {
  const Code code = chain_of_blocks();
  Workspace ws;
  const Tensor small = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{1023});
  const EValue given[] = {small};
  CHECK(ws.prepare(code, given) >= 2 * 4096);
  CHECK_FALSE(ws.is_given(0));
}

TEST_CASE("a destination that is not contiguous is not given") {
  const Code code = chain_of_blocks();
  Workspace ws;
  Tensor destination = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{2, 4});
  const std::int64_t sizes[] = {2, 2};
  const std::int64_t strides[] = {4, 2};
  const EValue outputs[] = {TensorView{destination.view().data, sizes, strides, 2, ScalarType::float32}};
  (void)ws.prepare(code, outputs);
  CHECK_FALSE(ws.is_given(0));
}

TEST_CASE("memory objects follow their storage, at their own offset; a place of zeros has none") {
  Code code;
  const onednn_ops::MemoryDesc md = onednn_ops::plain({16}, onednn_ops::DataType::f32);
  code.storages = {{.bytes = 256, .first = 0, .last = 2}, {.parent = 0, .parent_offset = 128, .bytes = 128}};
  code.places = {{md, 0, 0}, {md, 1, 64}, {md, 0, 64}};
  code.arguments = {{DNNL_ARG_FROM, 0}, {DNNL_ARG_TO, 1}, {0, 2}};
  const dnnl::reorder::primitive_desc pd(onednn_ops::cpu(), md, onednn_ops::cpu(), md);
  code.steps.push_back({.primitive = dnnl::reorder(pd), .arguments = {0, 2}, .name = "reorder"});
  code.steps.push_back({.arguments = {2, 1}, .name = "zeros"});
  code.roots = {0, 0, 0};
  code.places_of = {{0, 1, 2}, {}};
  Workspace ws;
  std::vector<std::byte> first(ws.prepare(code, {}));
  std::vector<std::byte> second(first.size());
  for (std::byte* scratch : {first.data(), second.data()}) {
    ws.move_scratch(code, scratch);
    const auto arguments = ws.arguments(code.steps[0]);
    REQUIRE(arguments.size() == 2);
    CHECK(arguments[1].arg == DNNL_ARG_TO);
    const auto handle = [](const dnnl_exec_arg_t& a) {
      void* at = nullptr;
      (void)dnnl_memory_get_data_handle(a.memory, &at);
      return static_cast<std::byte*>(at);
    };
    CHECK(handle(arguments[0]) == ws.address(0));
    CHECK(handle(arguments[1]) == ws.address(0) + 128 + 64);
    CHECK(distance(ws, 0, scratch) <= first.size() - 256);
  }
  CHECK(ws.arguments(code.steps[1])[0].memory == nullptr);
}
