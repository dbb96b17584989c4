// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "davit/autotune/synthetic_inputs.hpp"
#include "davit/runtime/call_frame.hpp"

namespace davit {

namespace detail {

/// Numbers from 0.25 to 1, equal on every machine: no overflow, no subnormals, inside the domain of all functions.
class SyntheticNumbers {
 public:
  explicit SyntheticNumbers(std::uint64_t seed) noexcept : state_(seed) {}
  [[nodiscard]] float next() noexcept {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return 0.25f + static_cast<float>(state_ >> 40) * 0x3p-26f;
  }
  template <class T>
  void fill(std::span<std::byte> bytes) noexcept {
    for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
      const T value(next());
      std::memcpy(bytes.data() + at, &value, sizeof value);
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace detail

Result<SyntheticInputs> synthetic_inputs(const ExportedProgram& program, std::uint64_t seed, std::size_t max_bytes) {
  const GraphModuleView graph = program.view();
  const std::span<const Argument> arguments = graph.args(graph.root().inputs);
  SyntheticInputs inputs;
  inputs.tensors.reserve(arguments.size());
  detail::SyntheticNumbers numbers(seed);
  for (std::size_t i = 0; i < arguments.size() && i < program.signature.input_specs.size(); ++i) {
    if (kind(program.signature.input_specs[i]) != InputKind::user_input || !arguments[i].is_value()) continue;
    const Value& value = graph.values[arguments[i].value()];
    const auto fail = [&](ErrorCode code, Name what) {
      return std::unexpected(Error{.code = code,
                                   .stage = Stage::execute,
                                   .where = concat("input '", graph.str(value.name), "'"),
                                   .what = std::move(what)});
    };
    if (value.kind == ValueKind::tensor) {
      std::vector<std::int64_t> sizes;
      std::int64_t bytes = static_cast<std::int64_t>(size_of(value.dtype));
      if (bytes == 0) return fail(ErrorCode::unsupported_argument, "its dtype is not known");
      for (const Dim& dim : graph.dims_of(value.sizes)) {
        if (dim.value < 0) return fail(ErrorCode::invalid_shape, "a size is negative");
        if (__builtin_mul_overflow(bytes, dim.value, &bytes)) return fail(ErrorCode::out_of_memory, "it is too large");
        sizes.push_back(dim.value);
      }
      if (static_cast<std::size_t>(bytes) > max_bytes) return fail(ErrorCode::out_of_memory, "it is too large");
      max_bytes -= static_cast<std::size_t>(bytes);
      Tensor& tensor = inputs.tensors.emplace_back();
      if (!reuse_tensor(tensor, value.dtype, sizes)) return fail(ErrorCode::out_of_memory, "there is no memory for it");
      const std::span<std::byte> storage(tensor.storage.writable(), tensor.storage.size());
      if (value.dtype == ScalarType::float32) numbers.fill<float>(storage);
      if (value.dtype == ScalarType::float64) numbers.fill<double>(storage);
      if (value.dtype == ScalarType::float16) numbers.fill<Half>(storage);
      if (value.dtype == ScalarType::bfloat16) numbers.fill<BFloat16>(storage);
      inputs.values.emplace_back(tensor.view());
    } else if (value.kind == ValueKind::sym_int) {
      inputs.values.emplace_back(value.constant);
    } else if (value.kind == ValueKind::sym_float) {
      inputs.values.emplace_back(std::bit_cast<double>(value.constant));
    } else if (value.kind == ValueKind::sym_bool) {
      inputs.values.emplace_back(value.constant != 0);
    } else {
      return fail(ErrorCode::unsupported_argument, "no such value can be made up");
    }
  }
  return inputs;
}

}  // namespace davit
