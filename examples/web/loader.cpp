// SPDX-License-Identifier: MIT
// A WebAssembly module that loads a package (.davit) and runs it, on kernels for floats alone. davit.js beside it is
// its face: JavaScript writes bytes and numbers into the memory that it is given, and reads a text of JSON.
#include <davit/backends/portable/float_inference_implementation.hpp>
#include <davit/formats/package.hpp>
#include <davit/loader_implementation.hpp>
#include <davit/runtime/session.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Backends = davit::BackendList<davit::portable_of<davit::ops::float_inference>>;

davit::SharedBytes package;
std::optional<davit::Session> session;
std::vector<std::int64_t> sizes;     // of the next input
std::vector<davit::Tensor> tensors;  // of the next run
std::string json;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}
std::string list_of(const auto& range, const auto& print) {
  std::string out;
  for (const auto& each : range) out += (out.empty() ? "" : ",") + print(each);
  return "[" + out + "]";
}
bool fail(const davit::Error& error) { return json = quoted(to_string(error)), false; }
const davit::LoweredMethod& method() { return session->program().methods()[0]; }
}  // namespace

/// Where `bytes` bytes of a package are written; null if there is no memory.
extern "C" [[clang::export_name("room")]] void* room(std::uint32_t bytes) {
  session.reset();
  package = davit::SharedBytes::uninitialized(bytes);
  return package.size() == bytes ? package.writable() : nullptr;
}
/// Loads the package; json() is the list of its inputs, with names and sizes (null: any), or the text of an error.
extern "C" [[clang::export_name("load")]] bool load() {
  const davit::Result<davit::LoweredProgram> program = davit::formats::load_program<Backends>(package);
  if (!program) return fail(program.error());
  davit::Result<davit::Session> made = davit::Session::make(*program);
  if (!made) return fail(made.error());
  session = *std::move(made);
  std::vector<const davit::InputPort*> inputs;
  for (const davit::InputPort& port : method().interface.inputs)
    if (port.role == davit::InputRole::user) inputs.push_back(&port);
  json = list_of(inputs, [](const davit::InputPort* port) {
    return "{\"name\":" + quoted(port->name.view()) + ",\"sizes\":" +
           list_of(port->type.dims,
                   [](const davit::Dim& dim) {
                     return dim.is_static() ? std::to_string(dim.value) : std::string("null");
                   }) +
           "}";
  });
  return true;
}
/// One size more of the next input.
extern "C" [[clang::export_name("size")]] void add_size(double size) {
  sizes.push_back(static_cast<std::int64_t>(size));
}
/// Where the next input of a run, of the sizes that were said, is written; null if there is no memory.
extern "C" [[clang::export_name("input")]] float* add_input() {
  tensors.push_back(davit::Tensor::zeros(davit::ScalarType::float32, sizes));
  sizes.clear();
  float* const numbers = tensors.back().view().as<float>();
  if (numbers == nullptr) tensors.clear();
  return numbers;
}
/// Runs the package's first method on the inputs; json() is the list of the outputs, each with name, sizes and address,
/// or a text.
extern "C" [[clang::export_name("run")]] bool run() {
  const std::vector<davit::EValue> inputs(tensors.begin(), tensors.end());
  const davit::Result<davit::Outputs> outputs = session->run(method().name.view(), inputs);
  std::string found;
  if (!outputs) fail(outputs.error());
  for (std::size_t i = 0; outputs && i < outputs->size(); ++i) {
    const auto elements = (*outputs)[i].as<float>();
    if (!elements) return tensors.clear(), fail(elements.error());
    found += (i == 0 ? "" : ",") + ("{\"name\":" + quoted((*outputs)[i].name())) +
             ",\"sizes\":" + list_of((*outputs)[i]->tensor().sizes(), [](auto size) { return std::to_string(size); }) +
             ",\"at\":" + std::to_string(reinterpret_cast<std::uintptr_t>(elements->data())) + "}";
  }
  tensors.clear();
  if (outputs) json = "[" + found + "]";
  return outputs.has_value();
}
/// The text of the last load() or run(), which a byte 0 ends.
extern "C" [[clang::export_name("json")]] const char* text() { return json.c_str(); }
