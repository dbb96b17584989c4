// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "davit/formats/load_error.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/program/name_map.hpp"

namespace davit::formats {

namespace detail {

/// Checks a weight's dtype and sizes against the graph.
inline Result<void> check_weight(GraphModuleView graph, const Argument& input, const Tensor& tensor,
                                 const Name& where) {
  if (!input.is_value() || graph.values[input.value()].kind != ValueKind::tensor)
    return corrupt(where, "the graph's input is not a tensor");
  const Value& value = graph.values[input.value()];
  if (value.dtype != tensor.dtype)
    return corrupt(where, concat("the graph wants ", name_of(value.dtype), ", the file has ", name_of(tensor.dtype)));
  const std::span<const Dim> dims = graph.dims_of(value.sizes);
  bool same = dims.size() == tensor.sizes.size();
  for (std::size_t d = 0; same && d < dims.size(); ++d) same = !dims[d].is_static() || dims[d].value == tensor.sizes[d];
  if (!same) return corrupt(where, "the graph wants other sizes than the file has");
  return {};
}

}  // namespace detail

/// Checks that the file has every parameter, buffer, constant and custom object that the signature names, with the
/// graph's dtypes and sizes. O(inputs log entries). Errors: not_found, corrupt_data.
[[nodiscard]] inline Result<void> check_targets(const ExportedProgram& program) {
  const NameIndex weights(program.state_dict, [](const NamedTensor& t) { return t.name.view(); });
  const NameIndex constants(program.constants, [](const NamedTensor& t) { return t.name.view(); });
  const NameIndex objects(program.custom_objects, [](const NamedObject& o) { return o.name.view(); });
  const GraphModuleView graph = program.view();
  const std::span<const Argument> inputs = graph.args(graph.root().inputs);
  const std::vector<InputSpec>& specs = program.signature.input_specs;
  if (inputs.size() != specs.size())
    return corrupt("signature", concat("it lists ", specs.size(), " inputs, the graph has ", inputs.size()));
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const Name* target = davit::target(specs[i]);
    if (target == nullptr) continue;
    const Name where = concat("signature, input ", i);
    if (kind(specs[i]) == InputKind::custom_obj && objects.contains(*target)) continue;
    const std::size_t weight = weights.first(*target);
    const std::size_t constant = constants.first(*target);
    if (kind(specs[i]) == InputKind::custom_obj || (weight == NameIndex::not_found && constant == NameIndex::not_found))
      return load_error(ErrorCode::not_found, where,
                        concat(name_of(kind(specs[i])), " ", in_quotes(*target), " is not in the file"),
                        "the file is incomplete: export the program again");
    const Tensor& tensor =
        weight != NameIndex::not_found ? program.state_dict[weight].tensor : program.constants[constant].tensor;
    if (Result<void> fits = detail::check_weight(graph, inputs[i], tensor, concat(where, ", ", in_quotes(*target)));
        !fits)
      return fits;
  }
  return {};
}

}  // namespace davit::formats
