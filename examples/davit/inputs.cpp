// SPDX-License-Identifier: MIT
#include "inputs.hpp"

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <random>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include "davit/formats/npy.hpp"
#include "davit/runtime/call_frame.hpp"

namespace tool {

using namespace davit;

namespace {

/// Reads all of `text` as a number; false if it is none, or out of range.
template <class T>
[[nodiscard]] bool parse_number(std::string_view text, T& to) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, to);
  return error == std::errc{} && at == end;
}

[[nodiscard]] Result<void> read_input(const std::string& file, Input& out) {
  Result<Tensor> tensor = formats::read_npy(file);
  if (!tensor) return std::unexpected(std::move(tensor.error()));
  out.tensor = *std::move(tensor);
  out.tensor.storage = SharedBytes::copy_of(out.tensor.storage.bytes());  // the program may change its inputs
  out.value = EValue(out.tensor.view());
  return {};
}

/// Random numbers that are the same everywhere.
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
    return std::unexpected(Error{.code = code, .stage = Stage::execute, .where = concat("input '", graph.str(value.name), "'"),
                                 .what = std::move(what), .fix = "give the inputs with --input"});
  };
  switch (value.kind) {
    case ValueKind::tensor: {
      std::vector<std::int64_t> sizes;
      for (const Dim& dim : graph.dims_of(value.sizes)) sizes.push_back(dim.value);
      if (size_of(value.dtype) == 0) return fail(ErrorCode::unsupported_argument, "its dtype is not known");
      for (const std::int64_t size : sizes)
        if (size < 0) return fail(ErrorCode::invalid_shape, "a size is negative");
      if (!reuse_tensor(out.tensor, value.dtype, sizes)) return fail(ErrorCode::out_of_memory, "there is no memory for it");
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

Result<void> parse_input(const std::string& text, Input& out) {
  out.text = text;
  std::int64_t integer = 0;
  double real = 0;
  if (text == "none") return {};
  if (text.empty())
    return std::unexpected(Error{.code = ErrorCode::invalid_argument,
                                 .what = "an input is empty",
                                 .fix = "pass FILE.npy, a number, true, false, none or str:TEXT"});
  if (text.starts_with("str:")) {
    out.value = EValue(std::string_view(out.text).substr(4));
  } else if (text == "true" || text == "false") {
    out.value = EValue(text == "true");
  } else if (parse_number(text, integer)) {
    out.value = EValue(integer);
  } else if (parse_number(text, real)) {
    out.value = EValue(real);
  } else {
    return read_input(text, out);
  }
  return {};
}

Result<std::vector<Input>> parse_inputs(const std::vector<std::string>& texts) {
  std::vector<Input> inputs(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (Result<void> parsed = parse_input(texts[i], inputs[i]); !parsed) return std::unexpected(std::move(parsed.error()));
  return inputs;
}

Result<std::vector<Input>> random_inputs(const ExportedProgram& program, std::uint64_t seed) {
  const GraphModuleView graph = program.view();
  const std::span<const Argument> arguments = graph.args(graph.root().inputs);
  std::vector<Input> inputs;
  Random random(seed);
  for (std::size_t i = 0; i < arguments.size() && i < program.signature.input_specs.size(); ++i) {
    if (kind(program.signature.input_specs[i]) != InputKind::user_input || !arguments[i].is_value()) continue;
    if (Result<void> made = random_input(graph, graph.values[arguments[i].value()], random, inputs.emplace_back()); !made)
      return std::unexpected(std::move(made.error()));
  }
  return inputs;
}

std::vector<Input> copy_inputs(const std::vector<Input>& inputs) {
  std::vector<Input> copies(inputs);
  for (Input& copy : copies) {
    if (copy.value.is_string()) copy.value = EValue(std::string_view(copy.text).substr(4));
    if (!copy.value.is_tensor()) continue;
    copy.tensor.storage = SharedBytes::copy_of(copy.tensor.storage.bytes());
    copy.value = EValue(copy.tensor.view());
  }
  return copies;
}

std::vector<EValue> values_of(const std::vector<Input>& inputs) {
  std::vector<EValue> values;
  for (const Input& input : inputs) values.push_back(input.value);
  return values;
}

}  // namespace tool
