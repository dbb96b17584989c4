// SPDX-License-Identifier: MIT
#pragma once

#include "davit/runtime/check_values.hpp"
#include "davit/runtime/guard_checks.hpp"
#include "davit/runtime/typed_method.hpp"

namespace davit::detail {

[[nodiscard]] Error not_typed(const LoweredMethod& method, std::string_view backend, const Name& where, Name what) {
  return Error{.code = ErrorCode::invalid_argument,
               .stage = Stage::execute,
               .backend = Name(backend),
               .where = where.empty() ? concat(method.name, "()") : concat("'", where, "' of ", method.name, "()"),
               .what = std::move(what),
               .fix = "run this method through a Session"};
}

/// Checks the interface of a method or of its partition against the types of a call.
[[nodiscard]] Result<void> check_typed(std::string_view method, std::string_view backend,
                                       const MethodInterface& interface, std::span<const EValue> inputs,
                                       std::span<const EValue> outputs) {
  SymbolValues symbols(interface.exprs);
  if (Result<void> r = check_input_values(method, backend, interface, inputs, symbols); !r) return r;
  if (Result<void> r = bind_symbols(method, backend, interface, inputs, symbols); !r) return r;
  if (Result<void> r = check_input_values(method, backend, interface, inputs, symbols); !r) return r;
  if (Result<void> r = GuardChecks(interface).check(method, backend, inputs, true); !r) return r;
  return check_output_values(method, backend, interface, outputs, symbols);
}

Result<const LoweredDelegate*> typed_delegate(const LoweredProgram& program, std::string_view name,
                                              const BackendTable& table, std::span<const EValue> inputs,
                                              std::span<const EValue> outputs) {
  const Result<std::size_t> index = program.find_method(name);
  if (!index) return error_of(index);
  const LoweredMethod& method = program.methods()[*index];
  for (const InputPort& port : method.interface.inputs)
    if (port.role != InputRole::user || port.constant)
      return std::unexpected(not_typed(method, table.name, port.name,
                                       "a typed method takes and returns tensors only, and keeps no state"));
  for (const OutputPort& port : method.interface.outputs)
    if (!port.is_returned())
      return std::unexpected(not_typed(method, table.name, port.name,
                                       "a typed method takes and returns tensors only, and keeps no state"));
  const Schedule& schedule = method.schedule;
  const auto same = [&](Range a, const std::vector<std::uint32_t>& b) {
    const std::span<const std::uint32_t> slots = schedule.at(a);
    if (slots.size() != b.size()) return false;
    for (std::size_t i = 0; i < b.size(); ++i)
      if (slots[i] != b[i]) return false;
    return true;
  };
  if (method.delegates.size() != 1 || schedule.steps.size() != 1 || schedule.steps[0].kind != StepKind::call_delegate ||
      !same(schedule.steps[0].inputs, schedule.input_slots) || !same(schedule.steps[0].outputs, schedule.output_slots))
    return std::unexpected(not_typed(method, table.name, {},
                                     "a typed method needs a single partition with the method's inputs and outputs"));
  const LoweredDelegate& delegate = method.delegates[0];
  if (program.backends()[delegate.backend].execute != table.execute)
    return std::unexpected(
        not_typed(method, table.name, {},
                  program.backends().name(delegate.backend) == table.name
                      ? concat("its partition runs on backend ", table.name,
                               " of another shared library, or of another type of this name")
                      : concat("its partition runs on backend ", program.backends().name(delegate.backend))));
  if (!table.is_available() || delegate.handle == nullptr)
    return std::unexpected(not_available(Stage::execute, table.name));
  if (Result<void> fits = check_typed(method.name, table.name, method.interface, inputs, outputs); !fits)
    return error_of(std::move(fits));
  return &delegate;
}

}  // namespace davit::detail
