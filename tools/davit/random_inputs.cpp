// SPDX-License-Identifier: MIT
#include <bit>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "davit/runtime/call_frame.hpp"
#include "inputs.hpp"

namespace tool {

using namespace davit;

namespace {

/// Random numbers, equal on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  [[nodiscard]] float real() { return static_cast<float>(engine_() >> 40) * 0x1p-23f - 1.0f; }
  [[nodiscard]] bool bit() { return (engine_() >> 63) != 0; }

 private:
  std::mt19937_64 engine_;
};

template <class T>
void put(std::byte*& at, T value) {
  std::memcpy(at, &value, sizeof value);
  at += sizeof value;
}

void fill(Tensor& tensor, Random& random) {
  std::byte* at = tensor.storage.writable();
  std::byte* const end = at + tensor.storage.size();
  while (at < end) switch (tensor.dtype) {
      case ScalarType::float32:
      case ScalarType::complex64: put(at, random.real()); break;
      case ScalarType::float64:
      case ScalarType::complex128: put(at, static_cast<double>(random.real())); break;
      case ScalarType::float16:
      case ScalarType::complex32: put(at, Half(random.real())); break;
      case ScalarType::bfloat16: put(at, BFloat16(random.real())); break;
      case ScalarType::int64:
      case ScalarType::uint64: put(at, std::int64_t{random.bit()}); break;
      case ScalarType::int32:
      case ScalarType::uint32: put(at, std::int32_t{random.bit()}); break;
      case ScalarType::int16:
      case ScalarType::uint16: put(at, static_cast<std::int16_t>(random.bit())); break;
      default: put(at, static_cast<std::uint8_t>(random.bit())); break;
    }
}

[[nodiscard]] Result<void> random_input(GraphModuleView graph, const Value& value, Random& random, Input& out) {
  const auto fail = [&](ErrorCode code, Name what) {
    return std::unexpected(Error{.code = code,
                                 .stage = Stage::execute,
                                 .where = concat("input '", graph.str(value.name), "'"),
                                 .what = std::move(what),
                                 .fix = "give the inputs with --input"});
  };
  switch (value.kind) {
    case ValueKind::tensor: {
      std::vector<std::int64_t> sizes;
      for (const Dim& dim : graph.dims_of(value.sizes)) sizes.push_back(dim.value);
      if (size_of(value.dtype) == 0) return fail(ErrorCode::unsupported_argument, "its dtype is not known");
      for (const std::int64_t size : sizes)
        if (size < 0) return fail(ErrorCode::invalid_shape, "a size is negative");
      if (!reuse_tensor(out.tensor, value.dtype, sizes))
        return fail(ErrorCode::out_of_memory, "there is no memory for it");
      fill(out.tensor, random);
      out.value = EValue(out.tensor.view());
      return {};
    }
    case ValueKind::sym_int: out.value = EValue(value.constant); return {};
    case ValueKind::sym_float: out.value = EValue(std::bit_cast<double>(value.constant)); return {};
    case ValueKind::sym_bool: out.value = EValue(value.constant != 0); return {};
    default: return fail(ErrorCode::unsupported_argument, "no such value can be made up");
  }
}

}  // namespace

Result<std::vector<Input>> random_inputs(const ExportedProgram& program, std::uint64_t seed) {
  const GraphModuleView graph = program.view();
  const std::span<const Argument> arguments = graph.args(graph.root().inputs);
  std::vector<Input> inputs;
  Random random(seed);
  for (std::size_t i = 0; i < arguments.size() && i < program.signature.input_specs.size(); ++i) {
    if (kind(program.signature.input_specs[i]) != InputKind::user_input || !arguments[i].is_value()) continue;
    if (Result<void> made = random_input(graph, graph.values[arguments[i].value()], random, inputs.emplace_back());
        !made)
      return std::unexpected(std::move(made.error()));
  }
  return inputs;
}

std::optional<std::vector<Input>> example_inputs(const ExportedProgram& program, SayInputs say) {
  if (!program.example_inputs) return std::nullopt;
  if (say == SayInputs::yes) std::fprintf(stderr, "davit: inputs: the file's example inputs\n");
  std::vector<Input> inputs(program.example_inputs->size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ExampleInput& example = (*program.example_inputs)[i];
    if (const auto* tensor = std::get_if<Tensor>(&example)) {
      inputs[i].tensor = *tensor;
      inputs[i].value = EValue(tensor->view());
    } else if (const auto* text = std::get_if<Name>(&example)) {
      inputs[i].text = "str:" + std::string(text->view());
      inputs[i].value = EValue(std::string_view());
    } else if (const auto* integer = std::get_if<std::int64_t>(&example)) {
      inputs[i].value = EValue(*integer);
    } else if (const auto* real = std::get_if<double>(&example)) {
      inputs[i].value = EValue(*real);
    } else if (const auto* flag = std::get_if<bool>(&example)) {
      inputs[i].value = EValue(*flag);
    }
  }
  return copy_inputs(inputs);  // the program may change its inputs
}

Result<std::vector<Input>> inputs_or_default(const std::vector<std::string>& texts, const ExportedProgram& program,
                                             std::span<const InputPort> ports, std::optional<std::uint64_t> seed,
                                             SayInputs say) {
  if (texts.empty()) {
    if (!seed)
      if (std::optional<std::vector<Input>> examples = example_inputs(program, say)) return *std::move(examples);
    const std::uint64_t own = seed.value_or(0);
    if (say == SayInputs::yes) std::fprintf(stderr, "davit: inputs: random, of seed %" PRIu64 "\n", own);
    return random_inputs(program, own);
  }
  Result<std::vector<Input>> inputs = parse_inputs(texts);
  if (inputs) reinterpret_as_bfloat16(*inputs, ports);
  return inputs;
}

}  // namespace tool
