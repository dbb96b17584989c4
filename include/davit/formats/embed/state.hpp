// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "davit/core/error.hpp"
#include "davit/embed/static_plan.hpp"
#include "davit/formats/embed/refusals.hpp"
#include "davit/lowering/lower_program.hpp"
#include "davit/lowering/shared_state.hpp"
#include "davit/program/exported_program.hpp"

namespace davit::formats {

/// The state of programs that are embedded together: parameters and buffers, by name, that at least one of them
/// changes. Each begins at an element of its type's state.
class EmbedState {
 public:
  /// Errors: methods that have a tensor of one name with different element types, sizes or initial values. O(sizes of
  /// the signatures and of the state).
  [[nodiscard]] static Result<EmbedState> make(std::span<const ProgramMethod> methods) {
    EmbedState state;
    for (const ProgramMethod& method : methods) {
      for (const OutputSpec& spec : method.program->signature.output_specs)
        if (kind(spec) == OutputKind::buffer_mutation || kind(spec) == OutputKind::parameter_mutation)
          state.first_.try_emplace(text(*target(spec)));
      for (const Name& name : method.program->signature.unlisted_state) state.first_.try_emplace(text(name));
    }
    std::vector<davit::detail::StateHolder> holders;
    std::vector<Name> names;
    for (const ProgramMethod& method : methods) holders.push_back({method.name.view(), method.program});
    for (const auto& [name, owner] : state.first_) names.push_back(Name::own(name));
    if (Result<void> same = davit::detail::check_same_state(holders, std::move(names)); !same) {
      same.error().stage = Stage::save;
      return error_of(std::move(same));
    }
    for (const ProgramMethod& method : methods)
      for (const InputSpec& spec : method.program->signature.input_specs)
        if (Result<void> added = state.add(method, spec); !added) return error_of(added);
    return state;
  }

  [[nodiscard]] bool has(const InputSpec& spec) const {
    const Name* name = target(spec);
    return name != nullptr && kind(spec) != InputKind::custom_obj && first_.contains(text(*name));
  }
  /// The state's first element.
  [[nodiscard]] std::uint32_t first(const InputSpec& spec) const { return first_.find(text(*target(spec)))->second.at; }
  [[nodiscard]] bool empty() const noexcept { return first_.empty(); }

 private:
  struct Owner {
    const Tensor* tensor = nullptr;
    std::uint32_t at = 0;
  };

  [[nodiscard]] static std::string text(const Name& name) { return std::string(name.view()); }
  [[nodiscard]] Result<void> add(const ProgramMethod& method, const InputSpec& spec) {
    if (!has(spec)) return {};
    const Tensor* tensor = method.program->tensor_named(*target(spec));
    if (tensor == nullptr) return {};  // its row reports the error
    Owner& owner = first_.find(text(*target(spec)))->second;
    return owner.tensor == nullptr ? place(owner, *tensor) : Result<void>();
  }
  [[nodiscard]] Result<void> place(Owner& owner, const Tensor& tensor) {
    const std::size_t pool = state_pool(tensor.dtype);
    owner.tensor = &tensor;
    if (pool >= counts_.size()) return {};  // its row reports the error
    const std::int64_t count = checked_numel(tensor.sizes, INT32_MAX / 16);
    if (count < 0 || counts_[pool] + count > INT32_MAX / 16)
      return refuse_embedding("the program", "its state is more than a static program can have", "");
    owner.at = static_cast<std::uint32_t>(counts_[pool]);
    counts_[pool] += count;
    return {};
  }

  std::map<std::string, Owner, std::less<>> first_;  ///< by name: the first method with it
  std::array<std::int64_t, 8> counts_{};             ///< elements, by state_pool
};

}  // namespace davit::formats
