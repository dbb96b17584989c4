// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "davit/lowered/method_interface.hpp"
#include "davit/program/guard_inputs.hpp"
#include "davit/program/in_place_writes.hpp"
#include "davit/program/program_bytes.hpp"
#include "davit/program/size_text.hpp"

namespace davit {

namespace detail {

PortType port_type(GraphModuleView graph, const Argument& a) {
  switch (a.kind) {
    case ArgumentKind::int_: return {.tag = EValue::Tag::int_};
    case ArgumentKind::float_: return {.tag = EValue::Tag::float_};
    case ArgumentKind::bool_: return {.tag = EValue::Tag::bool_};
    case ArgumentKind::string: return {.tag = EValue::Tag::string};
    case ArgumentKind::value: break;
    default: return {};
  }
  const Value& v = graph.values[a.value()];
  switch (v.kind) {
    case ValueKind::sym_int: return {.tag = EValue::Tag::int_, .dims = {}, .expr = v.expr};
    case ValueKind::sym_float: return {.tag = EValue::Tag::float_};
    case ValueKind::sym_bool: return {.tag = EValue::Tag::bool_};
    case ValueKind::tensor: break;
    default: return {};
  }
  const std::span<const Dim> dims = graph.dims_of(v.sizes);
  return {.tag = EValue::Tag::tensor, .dtype = v.dtype, .dims = {dims.begin(), dims.end()}};
}

std::vector<GuardInput> guard_inputs(std::span<const InputPort> ports) {
  std::vector<GuardInput> all;
  for (const InputPort& port : ports) {
    if (port.role != InputRole::user) continue;
    const EValue::Tag tag = port.type.tag;
    const bool is_number = tag == EValue::Tag::int_ || tag == EValue::Tag::float_ || tag == EValue::Tag::bool_;
    all.push_back({.is_tensor = tag == EValue::Tag::tensor && !port.constant,
                   .is_number = port.constant ? is_guard_number(*port.constant) : is_number,
                   .rank = static_cast<std::uint32_t>(port.type.dims.size())});
  }
  return all;
}

/// Names the values that forward() returns by the keys in the root module's signature, if their numbers agree.
void name_by_keys(std::span<OutputPort> outputs, std::span<const ModuleCallEntry> modules) {
  const auto root = std::ranges::find_if(modules, [](const ModuleCallEntry& module) { return module.fqn.empty(); });
  if (root == modules.end()) return;
  if (static_cast<std::size_t>(std::ranges::count_if(outputs, &OutputPort::is_returned)) != root->output_names.size())
    return;
  std::size_t next = 0;
  for (OutputPort& port : outputs)
    if (port.is_returned()) port.keys = root->output_names[next++];
}

}  // namespace detail

MethodInterface method_interface(const ExportedProgram& program) {
  MethodInterface out;
  const GraphModuleView graph = program.view();
  const ExportGraphSignature& signature = program.signature;
  const std::vector<std::uint8_t> written = inputs_written_in_place(graph);
  out.exprs.assign(graph.exprs.begin(), graph.exprs.end());
  const std::vector<InputRole> roles = input_roles(signature);
  for (std::size_t i = 0; i < signature.input_specs.size(); ++i) {
    const InputSpec& spec = signature.input_specs[i];
    const InputRole role = roles[i];
    if (role != InputRole::user && role != InputRole::state) continue;
    InputPort port{
        .name = arg_name(spec), .role = role, .type = detail::port_type(graph, graph.args(graph.root().inputs)[i])};
    if (const Name* name = target(spec)) port.target = *name;
    const ArgumentSpec argument = arg(spec);
    if (const auto* constant = std::get_if<ConstantArgument>(&argument)) port.constant = constant->value;
    port.written = role == InputRole::user && written[i] != 0;
    out.inputs.push_back(std::move(port));
  }
  for (std::size_t i = 0; i < signature.output_specs.size(); ++i) {
    const OutputSpec& spec = signature.output_specs[i];
    OutputPort port{.name = arg_name(spec),
                    .kind = kind(spec),
                    .type = detail::port_type(graph, graph.args(graph.root().outputs)[i])};
    if (const Name* name = target(spec)) port.target = *name;
    out.outputs.push_back(std::move(port));
  }
  detail::name_by_keys(out.outputs, program.module_call_graph);
  const NameIndex symbols(
      graph.exprs, [&](const Expr& e) { return e.op == ExprOp::symbol ? graph.str(e.name) : std::string_view(); });
  for (const RangeConstraint& range : program.range_constraints)
    if (const std::size_t id = symbols.first(range.symbol); id != NameIndex::not_found && !range.symbol.empty())
      out.ranges.push_back({static_cast<ExprId>(id), range.min.value_or(INT64_MIN), range.max.value_or(INT64_MAX)});
  for (Expr& e : out.exprs) {
    out.symbols.push_back(e.op == ExprOp::symbol ? Name::own(graph.str(e.name)) : Name());
    e.name = {};
  }
  out.guards = program.guards;
  return out;
}

Name size_text(const MethodInterface& interface, const Dim& dim) {
  return size_text(interface.exprs, dim, [&](ExprId id) {
    const bool is_named = id < interface.symbols.size() && !interface.symbols[id].empty();
    return is_named ? interface.symbols[id] : concat("s", id);
  });
}
Name type_text(const MethodInterface& interface, const PortType& type) {
  if (type.tag != EValue::Tag::tensor) return Name(name_of(type.tag));
  Name sizes;
  for (const Dim& dim : type.dims) sizes = concat(sizes, sizes.empty() ? "" : ", ", size_text(interface, dim));
  return concat(name_of(type.dtype), "[", sizes, "]");
}
std::vector<Name> range_texts(const MethodInterface& interface) {
  std::vector<Name> all;
  for (const MethodInterface::SymbolRange& range : interface.ranges) {
    const Name symbol = size_text(interface, {.expr = range.symbol});
    if (Name text = range_text(symbol, range.min, range.max); !text.empty()) all.push_back(std::move(text));
  }
  return all;
}
Name symbol_sizes_text(const MethodInterface& interface, std::span<const EValue> inputs) {
  Name out;
  std::vector<ExprId> told;
  std::size_t user = 0;
  for (const InputPort& port : interface.inputs) {
    if (port.role != InputRole::user) continue;
    const TensorView* tensor = user < inputs.size() ? inputs[user].tensor_if() : nullptr;
    ++user;
    for (std::size_t d = 0; d < port.type.dims.size(); ++d) {
      const Dim& dim = port.type.dims[d];
      const bool is_symbol = dim.expr < interface.exprs.size() && interface.exprs[dim.expr].op == ExprOp::symbol;
      if (!is_symbol || std::ranges::find(told, dim.expr) != told.end()) continue;
      if (!inputs.empty() && (tensor == nullptr || d >= tensor->sizes().size())) continue;
      told.push_back(dim.expr);
      out = concat(out, out.empty() ? "" : ", ", size_text(interface, dim), "=",
                   inputs.empty() ? dim.value : tensor->sizes()[d]);
    }
  }
  return out;
}
Name signature_text(std::string_view method, const MethodInterface& interface) {
  Name out;
  for (const InputPort& port : interface.inputs)
    if (port.role == InputRole::user)
      out = concat(out, out.empty() ? "" : ", ", port.name, ": ", type_text(interface, port.type),
                   port.constant ? " = as exported" : "");
  out = concat(method, "(", out, ")");
  std::vector<Name> conditions = range_texts(interface);
  const std::vector<Name> names = interface.guards.empty() ? std::vector<Name>{} : guard_names(interface);
  constexpr std::size_t most = 4;
  for (std::size_t guard = 0; guard < interface.guards.size() && conditions.size() <= most; ++guard)
    conditions.push_back(Name(print_guard(interface.guards, guard, names, 100)));
  for (std::size_t i = 0; i < conditions.size() && i <= most; ++i)
    out = concat(out, i == 0 ? " with " : ", ", i == most ? Name("...") : conditions[i]);
  return out;
}
void name_symbols(MethodInterface& interface, const ExportedProgram& program) {
  const GraphModuleView graph = program.view();
  const std::span<const Argument> given = graph.args(graph.root().inputs);
  const std::vector<InputRole> roles = input_roles(program.signature);
  interface.symbols.assign(interface.exprs.size(), {});
  const auto name = [&](ExprId id, ExprId of) {
    if (id == no_id || of == no_id || interface.exprs[id].op != ExprOp::symbol || graph.exprs[of].op != ExprOp::symbol)
      return;
    interface.symbols[id] = Name::own(graph.str(graph.exprs[of].name));
  };
  std::size_t next = 0;
  for (const InputPort& port : interface.inputs) {
    if (port.role != InputRole::user) continue;
    while (next < given.size() && roles[next] != InputRole::user) ++next;
    if (next == given.size()) return;
    const Argument& a = given[next++];
    if (!a.is_value()) continue;
    const PortType type = detail::port_type(graph, a);
    name(port.type.expr, type.expr);
    for (std::size_t d = 0; d < std::min(type.dims.size(), port.type.dims.size()); ++d)
      name(port.type.dims[d].expr, type.dims[d].expr);
  }
}

std::vector<Name> guard_names(const MethodInterface& interface) {
  std::vector<Name> names;
  for (const InputPort& port : interface.inputs)
    if (port.role == InputRole::user) names.push_back(port.name);
  return names;
}

namespace detail {

void write_port_type(ByteWriter& out, const PortType& type) {
  out.number(type.tag);
  out.number(type.dtype);
  out.array(std::span<const Dim>(type.dims));
  out.number(type.expr);
}
[[nodiscard]] PortType read_port_type(ByteReader& in, std::size_t exprs) {
  PortType type;
  type.tag = in.number<EValue::Tag>();
  type.dtype = in.number<ScalarType>();
  type.dims = in.array<Dim>();
  type.expr = in.number<ExprId>();
  bool good = type.tag <= EValue::Tag::list && type.dims.size() <= max_rank;
  if (type.tag == EValue::Tag::tensor && size_of(type.dtype) == 0) good = false;
  for (const Dim& d : type.dims)
    if (d.expr != no_id && d.expr >= exprs) good = false;
  if (type.expr != no_id && type.expr >= exprs) good = false;
  if (!good) in.fail();
  return type;
}
void write_optional(ByteWriter& out, const std::optional<ConstantValue>& constant) {
  out.number(static_cast<std::uint8_t>(constant ? 1 : 0));
  if (constant) write_constant(out, *constant);
}
[[nodiscard]] std::optional<ConstantValue> read_optional(ByteReader& in) {
  if (in.number<std::uint8_t>() == 0) return std::nullopt;
  return read_constant(in);
}

}  // namespace detail

void write_interface(ByteWriter& out, const MethodInterface& interface) {
  out.array(std::span<const Expr>(interface.exprs));
  out.number(static_cast<std::uint64_t>(interface.ranges.size()));
  for (const auto& range : interface.ranges) {
    out.number(range.symbol);
    out.number(range.min);
    out.number(range.max);
  }
  out.number(static_cast<std::uint64_t>(interface.inputs.size()));
  for (const InputPort& port : interface.inputs) {
    out.text(port.name);
    out.number(port.role);
    out.text(port.target);
    detail::write_port_type(out, port.type);
    detail::write_optional(out, port.constant);
    out.number(static_cast<std::uint8_t>(port.written ? 1 : 0));
  }
  write_guards(out, interface.guards);
  out.number(interface.added_mutations);
  out.number(static_cast<std::uint64_t>(interface.outputs.size()));
  for (const OutputPort& port : interface.outputs) {
    out.text(port.name);
    out.number(port.kind);
    out.text(port.target);
    detail::write_port_type(out, port.type);
    out.text(port.keys);
  }
}

MethodInterface read_interface(ByteReader& in) {
  MethodInterface out;
  out.exprs = in.array<Expr>();
  for (std::size_t i = 0; i < out.exprs.size(); ++i) {
    const Expr& e = out.exprs[i];
    for (const ExprId operand : {e.a, e.b, e.op == ExprOp::rational ? no_id : e.c})
      if (operand != no_id && operand >= i) in.fail();
    if (e.op > ExprOp::real) in.fail();
  }
  const std::size_t ranges = in.count(20);
  for (std::size_t i = 0; i < ranges && in.ok(); ++i) {
    const auto symbol = in.number<ExprId>();
    const auto min = in.number<std::int64_t>();
    out.ranges.push_back({symbol, min, in.number<std::int64_t>()});
    if (symbol >= out.exprs.size()) in.fail();
  }
  const std::size_t inputs = in.count(8);
  for (std::size_t i = 0; i < inputs && in.ok(); ++i) {
    InputPort port;
    port.name = Name::own(in.text());
    port.role = in.number<InputRole>();
    port.target = Name::own(in.text());
    port.type = detail::read_port_type(in, out.exprs.size());
    port.constant = detail::read_optional(in);
    port.written = in.number<std::uint8_t>() != 0;
    if (port.role != InputRole::user && port.role != InputRole::state) in.fail();
    out.inputs.push_back(std::move(port));
  }
  out.guards = read_guards(in);
  if (in.ok() && !guards_fit(out.guards, detail::guard_inputs(out.inputs))) in.fail();
  out.added_mutations = in.number<std::uint32_t>();
  const std::size_t outputs = in.count(8);
  if (out.added_mutations > outputs) in.fail();
  for (std::size_t i = 0; i < outputs && in.ok(); ++i) {
    OutputPort port;
    port.name = Name::own(in.text());
    port.kind = in.number<OutputKind>();
    if (port.kind < OutputKind::user_output || port.kind > OutputKind::parameter_mutation) in.fail();
    port.target = Name::own(in.text());
    port.type = detail::read_port_type(in, out.exprs.size());
    port.keys = Name::own(in.text());
    out.outputs.push_back(std::move(port));
  }
  return out;
}

}  // namespace davit
