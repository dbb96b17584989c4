// SPDX-License-Identifier: MIT
// Reads, lowers and loads programs by the command's Runner: backends and partitioners have the names that the command
// gives them.
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends.hpp"
#include "core_ir.hpp"
#include "davit/formats/checkpoint.hpp"
#include "davit/formats/file_kind.hpp"
#include "davit/formats/package.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/lowered/print_report.hpp"
#include "davit/training/replace_weights.hpp"
#include "eager_values.hpp"
#include "model.hpp"
#include "runner.hpp"
#include "source.hpp"
#include "tensor.hpp"

namespace davit::python {

namespace {

/// A method and the file of its program.
using NamedSource = std::pair<std::string, Source>;

[[nodiscard]] bool is_package(const Source& source) {
  if (const auto* bytes = std::get_if<SharedBytes>(&source)) return formats::is_package(bytes->bytes());
  const std::string& path = std::get<std::string>(source);
  return formats::is_package(path) || path.ends_with(".davit");
}

/// Reads a program; in an archive of several models, the model with the method's name.
[[nodiscard]] Result<ExportedProgram> read(const NamedSource& from) {
  const auto read_model = [&](std::string_view model) {
    return std::visit([&](const auto& source) { return formats::read_pt2(source, {.model = model}); }, from.second);
  };
  Result<ExportedProgram> program = read_model(from.first);
  if (!program && !from.first.empty()) program = read_model({});
  return program;
}

/// Options of the backends are global: programs are lowered one after the other.
std::mutex lowering;

/// The names of the backends for users: without the second portable, which serves to test borders.
[[nodiscard]] Name backend_names() {
  Name all;
  tool::Backends::for_each([&]<class B, std::size_t>() {
    if (std::string_view(B::name) != tool::Second::name) all = concat(all, all.empty() ? "" : ", ", B::name);
  });
  return all;
}

[[nodiscard]] Result<tool::Runner> load_package(const Source& source, const tool::LoweringChoice& choice,
                                                const std::optional<std::vector<NamedTensor>>& weights) {
  tool::LoweringChoice of_package = choice;
  of_package.backends.clear();
  if (Result<void> none = tool::check_lowered(of_package, "the package"); !none) return error_of(std::move(none));
  formats::LoadOptions options;
  if (weights) options.weights = *weights;
  Result<tool::Runner> runner =
      std::visit([&](const auto& from) { return tool::Runner::load(from, of_package, options); }, source);
  if (!runner || choice.backends.empty()) return runner;
  const Result<std::vector<std::uint32_t>> allowed = tool::parse_backends(choice.backends);
  if (!allowed) return error_of(allowed);
  for (const LoweredMethod& method : runner->program().methods())
    for (const LoweredDelegate& delegate : method.delegates)
      if (std::ranges::find(*allowed, delegate.backend) == allowed->end())
        return std::unexpected(
            Error{.code = ErrorCode::not_available,
                  .stage = Stage::load,
                  .where = concat("method '", method.name, "', partition '", delegate.tag, "'"),
                  .what = concat("the package runs it on ", runner->program().backends().name(delegate.backend),
                                 ", which is not among the backends asked for"),
                  .fix = "name that backend too, leave backends out, or lower the .pt2 file again"});
  return runner;
}

/// A lowered program with the answers of lowering.
struct Lowered {
  LoweredProgram program;
  Diagnostics diagnostics{};
  std::vector<std::optional<std::vector<ExampleInput>>> examples{};
};

/// Loads a package, or reads and lowers programs. Touches no Python object: other threads of Python run.
[[nodiscard]] Lowered lower(const std::vector<NamedSource>& sources, const tool::LoweringChoice& choice,
                            const std::optional<Source>& weights) {
  const py::gil_scoped_release unlocked;
  const std::scoped_lock alone(lowering);
  std::optional<std::vector<NamedTensor>> given;
  if (weights) given = value_of(std::visit([](const auto& from) { return formats::read_state(from); }, *weights));
  if (sources.size() == 1 && is_package(sources[0].second))
    return {value_of(load_package(sources[0].second, choice, given)).program()};
  std::vector<ExportedProgram> programs;
  for (const NamedSource& source : sources) {
    programs.push_back(value_of(read(source)));
    if (given) value_of(replace_weights(programs.back(), *given));
  }
  std::vector<ProgramMethod> methods;
  for (std::size_t i = 0; i < programs.size(); ++i)
    methods.push_back({sources[i].first.empty() ? Name("forward") : Name::own(sources[i].first), &programs[i]});
  Diagnostics diagnostics;
  Lowered made{value_of(tool::Runner::lower(methods, choice, false, &diagnostics)).program()};
  made.diagnostics = std::move(diagnostics);
  for (ExportedProgram& program : programs) made.examples.push_back(std::move(program.example_inputs));
  return made;
}

[[nodiscard]] std::shared_ptr<Model> make_model(const std::vector<NamedSource>& sources,
                                                const tool::LoweringChoice& choice,
                                                const std::optional<Source>& weights) {
  Lowered made = lower(sources, choice, weights);
  auto model = std::make_shared<Model>(std::move(made.program));
  for (const PartitionReport& report : made.diagnostics.reports) model->report += print_report(report);
  for (const Name& warning : made.diagnostics.warnings) model->warnings.push_back(printable(warning));
  model->examples = std::move(made.examples);
  return model;
}

[[nodiscard]] std::shared_ptr<Model> open(const py::list& sources, const py::str& backends, const py::str& partitioner,
                                          std::uint32_t threads, bool fast_math, bool full_delegation,
                                          const py::str& ir, const py::object& weights) {
  std::vector<NamedSource> named;
  for (const py::handle each : sources) {
    const auto pair = py::reinterpret_borrow<py::tuple>(each);
    named.emplace_back(utf8_of(pair[0], "the name of a method"), source_of(pair[1]));
  }
  const auto option = [](const py::str& text, std::string_view where) {
    const std::string_view utf8 = utf8_of(text, where);
    if (utf8.contains('\0'))
      throw refusal(ErrorCode::invalid_argument, where, "it contains a NUL character", "pass another text");
    return std::string(utf8);
  };
  tool::LoweringChoice choice{.backends = option(backends, "backends"),
                              .partitioner = option(partitioner, "partitioner")};
  if (!choice.backends.empty())
    if (Result<std::vector<std::uint32_t>> order = tool::parse_backends(choice.backends); !order) {
      order.error().fix = concat("this package was built with: ", backend_names());
      throw Failure(std::move(order).error());
    }
  choice.threads = threads;
  choice.fast_math = fast_math;
  choice.full_delegation = full_delegation;
  choice.ir = option(ir, "ir");
  return make_model(named, choice, weights.is_none() ? std::nullopt : std::optional(source_of(weights)));
}

/// Runs a program node by node on portable's kernels; one with operators that have no kernel in its core form.
[[nodiscard]] py::list eager_values(const py::object& source, const py::tuple& args) {
  const ExportedProgram program = value_of(read({"", source_of(source)}));
  value_of(tool::verified(program));
  const MethodInterface interface = method_interface(program);
  std::vector<const InputPort*> ports;
  for (const InputPort& port : interface.inputs)
    if (port.role == InputRole::user) ports.push_back(&port);
  std::vector<std::unique_ptr<Argument>> arguments;
  std::vector<EValue> values;
  for (const py::handle arg : args) {
    const std::size_t input = arguments.size();
    arguments.push_back(std::make_unique<Argument>());
    arguments[input]->read(arg, input < ports.size() ? ports[input] : nullptr, false, "an argument");
    values.push_back(arguments[input]->value());
  }
  auto made = tool::eager_values(program, values);
  if (!made && made.error().code == ErrorCode::unsupported_operator)
    made = tool::eager_values(value_of(tool::functional_core_ir(program)), values);
  py::list out;  // of pairs: name, value
  for (const auto& [name, value] : value_of(std::move(made)))
    out.append(py::make_tuple(text_of(name), to_python(value.value())));
  return out;
}

}  // namespace

std::string path_of(const py::object& object) {
  const py::object path = py::module_::import("os").attr("fspath")(object);
  const bool is_bytes = py::isinstance<py::bytes>(path);
  const py::object bytes = is_bytes ? path : py::reinterpret_steal<py::object>(PyUnicode_EncodeFSDefault(path.ptr()));
  if (!bytes && PyErr_ExceptionMatches(PyExc_UnicodeError) == 0) throw py::error_already_set();
  PyErr_Clear();
  std::string text = bytes ? bytes.cast<std::string>() : std::string();
  if (!bytes || text.find('\0') != std::string::npos)
    throw refusal(ErrorCode::invalid_argument, "path",
                  bytes ? "it contains a NUL character" : "no name of a file has these characters",
                  "pass another path");
  return text;
}

Source source_of(const py::object& object) {
  if (PyObject_CheckBuffer(object.ptr()) == 0) return path_of(object);
  Py_buffer buffer;
  if (PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_SIMPLE) != 0) throw py::error_already_set();
  SharedBytes bytes =
      SharedBytes::copy_of({static_cast<const std::byte*>(buffer.buf), static_cast<std::size_t>(buffer.len)});
  PyBuffer_Release(&buffer);
  return bytes;
}

py::list partition_values(const LoweredProgram& program, const std::string& method, std::span<const EValue> inputs) {
  tool::LoweringChoice choice;
  choice.method = method;
  tool::Runner runner = value_of(tool::Runner::of(program, choice, true));
  runner.record_calls();
  if (Result<Outputs> outputs = runner.run(inputs); !outputs) throw Failure(std::move(outputs).error());
  py::list calls;
  for (const tool::DelegateCall& call : runner.take_calls()) {
    py::list values;
    for (std::size_t i = 0; i < call.outputs.size() && i < call.names.size(); ++i)
      values.append(py::make_tuple(text_of(call.names[i]), to_python(call.outputs[i].value)));
    calls.append(py::make_tuple(text_of(call.tag), text_of(call.backend), values));
  }
  return calls;
}

py::dict nodes_of(const DebugMap& map, std::string_view method) {
  py::dict nodes;
  DebugInfo info;
  for (DebugHandle handle = 0; map.find(handle, info); ++handle)
    if (info.method == method && !info.node.empty())
      nodes[text_of(info.node)] = py::make_tuple(text_of(info.target), text_of(source_with_caret(info.stack_trace)));
  return nodes;
}

void add_programs(py::module_& module) {
  module.def("open", open);
  module.def("eager_values", eager_values);
  module.def("backends", [] { return text_of(backend_names()); });
}

}  // namespace davit::python
