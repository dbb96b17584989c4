// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "davit/backend/delegate_io.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/program/in_place_writes.hpp"

namespace davit::detail {

/// The state of programs that are lowered together: what one of them changes is state for all that hold it.
class SharedState {
 public:
  /// The programs must be verified. O(their sizes).
  explicit SharedState(std::span<const ExportedProgram* const> programs) {
    for (const ExportedProgram* program : programs) {
      const TensorIndex tensors(*program);
      for (const Name& name : written_in_place(*program)) add(tensors, name);
      for (const OutputSpec& spec : program->signature.output_specs)
        if (kind(spec) == OutputKind::buffer_mutation || kind(spec) == OutputKind::parameter_mutation) add(tensors, *target(spec));
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
