// SPDX-License-Identifier: MIT
#include "inspect_package.hpp"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "davit/formats/mapped_file.hpp"
#include "davit/formats/package_layout.hpp"
#include "davit/lowered/text_table.hpp"
#include "davit/program/printer.hpp"
#include "print_value.hpp"
#include "runner.hpp"

namespace tool {

using namespace davit;

namespace {

void print_method(const LoweredProgram& program, const LoweredMethod& method) {
  print("method '%s': %s, %s\n", std::string(method.name.view()).c_str(),
        count_of(method.delegates.size(), "partition").c_str(),
        count_of(method.parent.view().graphs.size(), "graph").c_str());
  print_interface(method.interface);
  TextTable table{{"partition", "backend", "inputs", "outputs"}, {false, false, true, true}, {}};
  for (const LoweredDelegate& delegate : method.delegates)
    table.rows.push_back({std::string(delegate.tag.view()), std::string(program.backends().name(delegate.backend)),
                          std::to_string(delegate.interface.inputs.size()),
                          std::to_string(delegate.interface.outputs.size())});
  print("%s", table.print().c_str());
}

/// Prints a package as JSON: methods with inputs, outputs and partitions, and the state.
[[nodiscard]] std::string json_of(const LoweredProgram& program, std::size_t bytes) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> out(buffer);
  const auto text = [&](const char* key, std::string_view value) {
    out.Key(key);
    out.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  };
  const auto number = [&](const char* key, std::uint64_t value) {
    out.Key(key);
    out.Uint64(value);
  };
  const auto list = [&](const char* key, const auto& rows, const auto& write) {
    out.Key(key);
    out.StartArray();
    for (const auto& row : rows) {
      out.StartObject();
      write(row);
      out.EndObject();
    }
    out.EndArray();
  };
  out.StartObject();
  number("davit_package", 1);
  number("bytes", bytes);
  list("methods", program.methods(), [&](const LoweredMethod& method) {
    text("method", method.name.view());
    list("inputs", method.interface.inputs, [&](const InputPort& port) {
      text("name", port.name.view());
      text("type", type_text(method.interface, port.type));
      text("role", port.role == InputRole::state ? "state" : port.constant ? "fixed" : "user");
    });
    list("outputs", method.interface.outputs, [&](const OutputPort& port) {
      text("name", port.user_name().view());
      text("type", type_text(method.interface, port.type));
      text("role", port.is_returned() ? "returned" : port.kind == OutputKind::token ? "token" : "mutation");
      if (!port.is_returned()) text("target", port.target.view());
    });
    out.Key("guards");
    out.StartArray();
    for (const std::string& guard : guards_of(method.interface.guards, guard_names(method.interface)))
      out.String(guard.data(), static_cast<rapidjson::SizeType>(guard.size()));
    out.EndArray();
    list("partitions", method.delegates, [&](const LoweredDelegate& delegate) {
      text("tag", delegate.tag.view());
      text("backend", program.backends().name(delegate.backend));
      number("inputs", delegate.interface.inputs.size());
      number("outputs", delegate.interface.outputs.size());
    });
  });
  list("state", program.state(), [&](const NamedTensor& buffer_of) {
    text("name", buffer_of.name.view());
    text("dtype", name_of(buffer_of.tensor.dtype));
    number("bytes", buffer_of.tensor.view().nbytes());
  });
  out.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

}  // namespace

/// Maximum number of printed bytes of a guard.
constexpr std::size_t longest_guard = 4000;

std::vector<std::string> guards_of(const Guards& guards, std::span<const Name> names) {
  std::vector<std::string> all;
  for (std::size_t guard = 0; guard < guards.size(); ++guard)
    all.push_back(print_guard(guards, guard, names, longest_guard));
  return all;
}

void print_interface(const MethodInterface& interface) {
  const auto text = [](const Name& name) { return std::string(name.view()); };
  for (const InputPort& port : interface.inputs) {
    const bool is_state = port.role == InputRole::state;
    print("  %s '%s': %s\n", is_state ? "state" : "takes", text(is_state ? port.target : port.name).c_str(),
          port.constant ? "fixed by the export" : text(type_text(interface, port.type)).c_str());
  }
  for (const OutputPort& port : interface.outputs)
    if (port.is_returned())
      print("  gives '%s': %s\n", text(port.user_name()).c_str(), text(type_text(interface, port.type)).c_str());
  for (const Name& range : range_texts(interface)) print("  only if %s\n", text(range).c_str());
  for (const std::string& guard : guards_of(interface.guards, guard_names(interface)))
    print("  only if %s\n", guard.c_str());
}

Result<void> inspect_package(const InspectOptions& options) {
  if (!options.ir.empty() || !options.name.empty())
    return std::unexpected(Error{.code = ErrorCode::invalid_argument,
                                 .stage = Stage::load,
                                 .where = Name(options.model),
                                 .what = "a lowered program has one model in one form",
                                 .fix = "leave out --ir and --model, or name a .pt2 file"});
  const Result<Runner> runner = Runner::load(options.model, {});
  if (!runner) return std::unexpected(runner.error());
  const LoweredProgram& program = runner->program();
  if (options.graph) {
    for (const LoweredMethod& method : program.methods())
      print("%s", print_graph(method.parent.view(), PrintTypes::yes).c_str());
    return {};
  }
  const Result<SharedBytes> bytes = formats::map_file(options.model);
  if (!bytes) return std::unexpected(bytes.error());
  if (options.json) {
    print("%s\n", json_of(program, bytes->size()).c_str());
    return {};
  }
  const Result<formats::Package> package = formats::read_package(*bytes);
  if (!package) return std::unexpected(package.error());
  std::size_t state = 0;
  for (const NamedTensor& buffer : program.state()) state += buffer.tensor.view().nbytes();
  print("%s: a lowered program of %zu bytes\n", options.model.c_str(), bytes->size());
  print("program table: %zu bytes; weights and backends' data: %zu bytes in %s; debug map: %s\n", package->table.size(),
        segment_bytes(*package), count_of(package->segments.size(), "segment").c_str(),
        package->debug_map.empty() ? "stripped" : (std::to_string(package->debug_map.size()) + " bytes").c_str());
  print("state: %s, %zu bytes\n", count_of(program.state().size(), "buffer").c_str(), state);
  for (const LoweredMethod& method : program.methods()) print_method(program, method);
  return {};
}

std::string json_list(const std::vector<std::string>& texts) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> out(buffer);
  out.StartArray();
  for (const std::string& text : texts) out.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  out.EndArray();
  return {buffer.GetString(), buffer.GetSize()};
}

std::size_t segment_bytes(const formats::Package& package) {
  std::size_t bytes = 0;
  for (std::uint32_t i = 0; i < package.segments.size(); ++i) bytes += package.segments.find(i)->size();
  return bytes;
}

}  // namespace tool
