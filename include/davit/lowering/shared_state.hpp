// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <utility>
#include <vector>

#include "davit/backend/delegate_io.hpp"
#include "davit/core/copy_tensor.hpp"
#include "davit/core/error.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/program/in_place_writes.hpp"

namespace davit::detail {

/// The parameters, buffers and constants that a program changes, sorted. The program must be verified. O(n log n).
[[nodiscard]] inline std::vector<Name> changed_attributes(const ExportedProgram& program) {
  std::vector<Name> changed = written_in_place(program);
  for (const OutputSpec& spec : program.signature.output_specs)
    if (kind(spec) == OutputKind::buffer_mutation || kind(spec) == OutputKind::parameter_mutation) changed.push_back(*target(spec));
  std::ranges::sort(changed);
  return changed;
}

/// An error if a tensor that a program changes shares memory with one of another name that it reads: as state each would be a copy of its own.
/// The program must be verified. O(n log n).
[[nodiscard]] inline Result<void> check_shared_storage(const ExportedProgram& program) {
  struct Attribute {
    Footprint place;
    const Name* name;
    bool changes;
  };
  const std::vector<Name> changed = changed_attributes(program);
  if (changed.empty()) return {};
  const TensorIndex tensors(program);
  const std::vector<std::uint8_t> used = used_values(program.view());
  const std::span<const Argument> inputs = program.view().args(program.view().root().inputs);
  std::vector<Attribute> all;
  for (std::size_t i = 0; i < inputs.size() && i < program.signature.input_specs.size(); ++i) {
    const Name* const name = target(program.signature.input_specs[i]);
    const Tensor* const tensor = name == nullptr ? nullptr : tensors.find(*name);
    if (tensor == nullptr || !inputs[i].is_value() || tensor->numel() == 0) continue;
    const bool changes = std::ranges::binary_search(changed, *name);
    if (changes || used[inputs[i].value()] != 0) all.push_back({footprint(tensor->view()), name, changes});
  }
  std::ranges::sort(all, {}, [](const Attribute& a) { return a.place.begin; });
  const Attribute* furthest = nullptr;
  const Attribute* furthest_changed = nullptr;
  for (const Attribute& one : all) {
    for (const Attribute* const before : {furthest_changed, one.changes ? furthest : nullptr}) {
      if (before == nullptr || before->place.end <= one.place.begin || *before->name == *one.name) continue;
      return std::unexpected(Error{.code = ErrorCode::unsupported_operator,
                                   .stage = Stage::preprocess,
                                   .where = concat("'", *before->name, "' and '", *one.name, "'"),
                                   .what = "they share memory, and the program changes it",
                                   .fix = "keep one of them in the model, and take views of it in forward()"});
    }
    if (furthest == nullptr || furthest->place.end < one.place.end) furthest = &one;
    if (one.changes && (furthest_changed == nullptr || furthest_changed->place.end < one.place.end)) furthest_changed = &one;
  }
  return {};
}

/// The state of programs that are lowered together: what one of them changes is state for all that hold it.
class SharedState {
 public:
  /// The programs must be verified. O(their sizes).
  explicit SharedState(std::span<const ExportedProgram* const> programs) {
    for (const ExportedProgram* program : programs) {
      const TensorIndex tensors(*program);
      for (const Name& name : changed_attributes(*program)) add(tensors, name);
    }
    std::ranges::sort(changed_, {}, &Changed::name);
  }
  /// The program itself, or a copy of it in `own` whose signature names the state that its outputs do not.
  [[nodiscard]] const ExportedProgram* mark(const ExportedProgram& program, ExportedProgram& own) const {
    if (changed_.empty()) return &program;
    std::vector<Name> unlisted;
    const TensorIndex tensors(program);
    const std::vector<InputRole> roles = input_roles(program.signature);
    for (std::size_t i = 0; i < roles.size(); ++i)
      if (const Name* attribute = target(program.signature.input_specs[i]); roles[i] == InputRole::constant && changes(*attribute, tensors))
        unlisted.push_back(*attribute);
    if (unlisted.empty()) return &program;
    own = program;
    own.signature.unlisted_state = std::move(unlisted);
    return &own;
  }

 private:
  void add(const TensorIndex& tensors, const Name& name) {
    if (const Tensor* tensor = tensors.find(name); tensor != nullptr) changed_.push_back({name, tensor});
  }
  /// A tensor of the same name but of another dtype or of other sizes is another one.
  [[nodiscard]] bool changes(const Name& name, const TensorIndex& tensors) const {
    const Tensor* own = nullptr;
    for (auto at = std::ranges::lower_bound(changed_, name, {}, &Changed::name); at != changed_.end() && at->name == name; ++at) {
      if (own == nullptr) own = tensors.find(name);
      if (own != nullptr && own->dtype == at->tensor->dtype && own->sizes == at->tensor->sizes) return true;
    }
    return false;
  }
  struct Changed {
    Name name;
    const Tensor* tensor;
  };
  std::vector<Changed> changed_;  ///< by name
};

}  // namespace davit::detail
