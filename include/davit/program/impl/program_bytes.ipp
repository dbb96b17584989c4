// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "davit/program/graph_bytes.hpp"
#include "davit/program/guard_inputs.hpp"
#include "davit/program/program_bytes.hpp"

namespace davit {

namespace detail {

void write_user_argument(ByteWriter& out, const UserArgument& argument) {
  out.number(static_cast<std::uint8_t>(argument.index()));
  out.text(arg_name(argument));
  if (const auto* constant = std::get_if<ConstantArgument>(&argument)) write_constant(out, constant->value);
  if (const auto* object = std::get_if<CustomObjArgument>(&argument)) out.text(object->class_fqn);
}
UserArgument read_user_argument(ByteReader& in) {
  const auto kind = in.number<std::uint8_t>();
  Name name = Name::own(in.text());
  switch (kind) {
    case 0: return TensorArgument{std::move(name)};
    case 1: return SymIntArgument{std::move(name)};
    case 2: return SymFloatArgument{std::move(name)};
    case 3: return SymBoolArgument{std::move(name)};
    case 4: return ConstantArgument{std::move(name), read_constant(in)};
    case 5: return CustomObjArgument{std::move(name), Name::own(in.text())};
    default: in.fail(); return TensorArgument{};
  }
}

void write_input(ByteWriter& out, const InputSpec& spec) {
  out.number(kind(spec));
  if (const auto* user = std::get_if<UserInputSpec>(&spec)) {
    write_user_argument(out, user->arg);
    return;
  }
  out.text(arg_name(spec));
  if (const Name* target_name = target(spec)) out.text(*target_name);
  if (kind(spec) == InputKind::buffer) out.number(static_cast<std::uint8_t>(*persistent(spec)));
  if (const auto* object = std::get_if<InputToCustomObjSpec>(&spec)) out.text(object->arg.class_fqn);
}
InputSpec read_input(ByteReader& in) {
  const auto input = in.number<InputKind>();
  if (input == InputKind::user_input) return UserInputSpec{read_user_argument(in)};
  Name name = Name::own(in.text());
  if (input == InputKind::token) return InputTokenSpec{TokenArgument{std::move(name)}};
  Name target_name = Name::own(in.text());
  switch (input) {
    case InputKind::parameter: return InputToParameterSpec{TensorArgument{std::move(name)}, std::move(target_name)};
    case InputKind::buffer:
      return InputToBufferSpec{TensorArgument{std::move(name)}, std::move(target_name), in.number<std::uint8_t>() != 0};
    case InputKind::constant_tensor:
      return InputToTensorConstantSpec{TensorArgument{std::move(name)}, std::move(target_name)};
    case InputKind::custom_obj:
      return InputToCustomObjSpec{CustomObjArgument{std::move(name), Name::own(in.text())}, std::move(target_name)};
    default: in.fail(); return InputTokenSpec{};
  }
}

void write_output(ByteWriter& out, const OutputSpec& spec) {
  out.number(kind(spec));
  if (const auto* user = std::get_if<UserOutputSpec>(&spec)) {
    write_user_argument(out, user->arg);
    return;
  }
  out.text(arg_name(spec));
  if (const Name* target_name = target(spec)) out.text(*target_name);
}
OutputSpec read_output(ByteReader& in) {
  const auto output = in.number<OutputKind>();
  if (output == OutputKind::user_output) return UserOutputSpec{read_user_argument(in)};
  Name name = Name::own(in.text());
  if (output == OutputKind::token) return OutputTokenSpec{TokenArgument{std::move(name)}};
  TensorArgument argument{std::move(name)};
  if (output == OutputKind::loss_output) return LossOutputSpec{std::move(argument)};
  Name target_name = Name::own(in.text());
  switch (output) {
    case OutputKind::buffer_mutation: return BufferMutationSpec{std::move(argument), std::move(target_name)};
    case OutputKind::parameter_mutation: return ParameterMutationSpec{std::move(argument), std::move(target_name)};
    case OutputKind::gradient_to_parameter: return GradientToParameterSpec{std::move(argument), std::move(target_name)};
    case OutputKind::gradient_to_user_input:
      return GradientToUserInputSpec{std::move(argument), std::move(target_name)};
    case OutputKind::user_input_mutation: return UserInputMutationSpec{std::move(argument), std::move(target_name)};
    default: in.fail(); return OutputTokenSpec{};
  }
}

void write_tensors(ByteWriter& out, std::span<const NamedTensor> tensors, SegmentWriter& segments) {
  out.number(static_cast<std::uint64_t>(tensors.size()));
  for (const NamedTensor& entry : tensors) {
    out.text(entry.name);
    write_tensor(out, entry.tensor, segments);
  }
}
Result<std::vector<NamedTensor>> read_tensors(ByteReader& in, const SegmentReader& segments) {
  std::vector<NamedTensor> tensors;
  const std::size_t count = in.count(16);
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    Name name = Name::own(in.text());
    Result<Tensor> tensor = read_tensor(in, segments);
    if (!tensor) return error_of(std::move(tensor));
    tensors.push_back({std::move(name), std::move(*tensor)});
  }
  return tensors;
}

}  // namespace detail

void write_constant(ByteWriter& out, const ConstantValue& constant) {
  out.number(static_cast<std::uint8_t>(constant.index()));
  if (const auto* i = std::get_if<std::int64_t>(&constant)) out.number(*i);
  if (const auto* d = std::get_if<double>(&constant)) out.number(*d);
  if (const auto* b = std::get_if<bool>(&constant)) out.number(static_cast<std::uint8_t>(*b));
  if (const auto* s = std::get_if<Name>(&constant)) out.text(*s);
}

ConstantValue read_constant(ByteReader& in) {
  switch (in.number<std::uint8_t>()) {
    case 0: return {};
    case 1: return in.number<std::int64_t>();
    case 2: return in.number<double>();
    case 3: return in.number<std::uint8_t>() != 0;
    case 4: return Name::own(in.text());
    default: in.fail(); return {};
  }
}

void write_guards(ByteWriter& out, const Guards& guards) {
  out.array(std::span<const GuardNode>(guards.nodes));
  out.array(std::span<const std::uint32_t>(guards.roots));
}
Guards read_guards(ByteReader& in) {
  Guards guards;
  guards.nodes = in.array<GuardNode>();
  guards.roots = in.array<std::uint32_t>();
  return guards;
}

void write_program(ByteWriter& out, const ExportedProgram& program, SegmentWriter& segments) {
  write_graph(out, program.view());
  out.number(static_cast<std::uint64_t>(program.signature.input_specs.size()));
  for (const InputSpec& spec : program.signature.input_specs) detail::write_input(out, spec);
  out.number(static_cast<std::uint64_t>(program.signature.output_specs.size()));
  for (const OutputSpec& spec : program.signature.output_specs) detail::write_output(out, spec);
  out.number(static_cast<std::uint64_t>(program.signature.unlisted_state.size()));
  for (const Name& name : program.signature.unlisted_state) out.text(name);
  detail::write_tensors(out, program.state_dict, segments);
  detail::write_tensors(out, program.constants, segments);
  out.number(static_cast<std::uint64_t>(program.custom_objects.size()));
  for (const NamedObject& object : program.custom_objects) {
    out.text(object.name);
    out.text(object.class_fqn);
    out.number(segments.add(object.state.bytes()));
  }
  out.number(static_cast<std::uint64_t>(program.range_constraints.size()));
  for (const RangeConstraint& range : program.range_constraints) {
    out.text(range.symbol);
    out.number(static_cast<std::uint8_t>((range.min ? 1 : 0) | (range.max ? 2 : 0)));
    out.number(range.min.value_or(0));
    out.number(range.max.value_or(0));
  }
  write_guards(out, program.guards);
  out.number(static_cast<std::uint64_t>(program.opset_version.size()));
  for (const OpsetVersion& opset : program.opset_version) {
    out.text(opset.ns);
    out.number(opset.version);
  }
  out.number(program.schema_major);
  out.number(program.schema_minor);
  out.number(program.dialect);
  out.text(program.torch_version);
}

Result<ExportedProgram> read_program(ByteReader& in, const SegmentReader& segments) {
  ExportedProgram program;
  Result<GraphModule> graph = read_graph(in);
  if (!graph) return error_of(std::move(graph));
  program.graph_module = std::move(*graph);
  for (std::size_t i = 0, n = in.count(2); i < n && in.ok(); ++i)
    program.signature.input_specs.push_back(detail::read_input(in));
  for (std::size_t i = 0, n = in.count(2); i < n && in.ok(); ++i)
    program.signature.output_specs.push_back(detail::read_output(in));
  for (std::size_t i = 0, n = in.count(8); i < n && in.ok(); ++i)
    program.signature.unlisted_state.push_back(Name::own(in.text()));
  for (auto* to : {&program.state_dict, &program.constants}) {
    Result<std::vector<NamedTensor>> tensors = detail::read_tensors(in, segments);
    if (!tensors) return error_of(std::move(tensors));
    *to = std::move(*tensors);
  }
  for (std::size_t i = 0, n = in.count(20); i < n && in.ok(); ++i) {
    NamedObject object{Name::own(in.text()), Name::own(in.text()), {}};
    const SharedBytes* state = segments.find(in.number<std::uint32_t>());
    if (state == nullptr) {
      in.fail();
    } else {
      object.state = *state;
    }
    program.custom_objects.push_back(std::move(object));
  }
  for (std::size_t i = 0, n = in.count(25); i < n && in.ok(); ++i) {
    RangeConstraint range{.symbol = Name::own(in.text()), .min = {}, .max = {}};
    const auto bounds = in.number<std::uint8_t>();
    const auto min = in.number<std::int64_t>();
    const auto max = in.number<std::int64_t>();
    if ((bounds & 1) != 0) range.min = min;
    if ((bounds & 2) != 0) range.max = max;
    program.range_constraints.push_back(std::move(range));
  }
  program.guards = read_guards(in);
  for (std::size_t i = 0, n = in.count(16); i < n && in.ok(); ++i) {
    Name space = Name::own(in.text());
    program.opset_version.push_back({std::move(space), in.number<std::int64_t>()});
  }
  program.schema_major = in.number<std::int64_t>();
  program.schema_minor = in.number<std::int64_t>();
  program.dialect = in.number<Dialect>();
  program.torch_version = Name::own(in.text());
  if (in.ok() && !guards_fit(program.guards, guard_inputs(program))) in.fail();
  if (!in.ok() || program.dialect > Dialect::other)
    return std::unexpected(Error{.code = ErrorCode::corrupt_data,
                                 .stage = Stage::load,
                                 .where = concat("program, byte ", in.position()),
                                 .what = "the bytes end early or a number is out of range",
                                 .fix = "save the program again"});
  return program;
}

}  // namespace davit
