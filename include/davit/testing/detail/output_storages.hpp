// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "davit/core/shared_bytes.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/testing/detail/eager_value.hpp"

namespace davit::testing {

/// The storages that outputs of a run may use: those of torch's outputs. A mutation's output is, in torch, its buffer
/// or input, never the memory of another value from which it takes its elements.
class OutputStorages {
 public:
  OutputStorages() = default;
  /// Takes the user inputs, the state and the outputs of an eager run before write-backs. Keeps their storages alive.
  /// O(outputs * (outputs + inputs)).
  OutputStorages(const ExportedProgram& program, std::span<const EagerValue> users, std::span<const NamedTensor> state,
                 std::span<const EagerValue> made)
      : held_(made.begin(), made.end()) {
    held_.insert(held_.end(), users.begin(), users.end());
    for (const EagerValue& each : users) of_users_.push_back(storage_of(each));
    for (const NamedTensor& entry : state) {
      held_.push_back({.tensor = entry.tensor});
      of_state_.emplace_back(entry.name, storage_of(held_.back()));
    }
    const std::vector<Storage> targets = targets_of(program, made.size());
    const std::span<const Argument> outputs = program.view().args(program.view().root().outputs);
    for (std::size_t k = 0; k < made.size(); ++k) {
      const Storage own = storage_of(made[k]);
      std::vector<Storage>& all = of_outputs_.emplace_back();
      bool is_written = false;
      for (std::size_t j = 0; j < made.size(); ++j) {
        if (targets[j] == nullptr) continue;
        is_written = is_written || j == k ||
                     (outputs[j].is_value() && outputs[k].is_value() && outputs[j].value() == outputs[k].value());
        if (j == k || storage_of(made[j]) == own) all.push_back(targets[j]);
      }
      if (!is_written || !is_given(own)) all.push_back(own);
    }
  }

  [[nodiscard]] bool may_lie_in_input(std::size_t output, std::size_t user_input) const {
    return shows(output, of_users_[user_input]);
  }
  [[nodiscard]] bool may_lie_in_state(std::size_t output, std::string_view name) const {
    return std::ranges::any_of(of_state_,
                               [&](const auto& entry) { return entry.first == name && shows(output, entry.second); });
  }
  [[nodiscard]] bool may_share(std::size_t output, std::size_t other) const {
    return std::ranges::any_of(of_outputs_[output], [&](Storage storage) { return shows(other, storage); });
  }

 private:
  using Storage = const SharedBytes::Owner*;  ///< null for a value without elements
  [[nodiscard]] static Storage storage_of(const EagerValue& value) {
    return value.tensor && value.tensor->numel() != 0 ? value.tensor->storage.owner() : nullptr;
  }
  [[nodiscard]] bool shows(std::size_t output, Storage storage) const {
    return storage != nullptr && std::ranges::find(of_outputs_[output], storage) != of_outputs_[output].end();
  }
  [[nodiscard]] bool is_given(Storage storage) const {
    return std::ranges::find(of_users_, storage) != of_users_.end() ||
           std::ranges::find(of_state_, storage, &std::pair<Name, Storage>::second) != of_state_.end();
  }
  /// Per output: the storage of the buffer or input that a mutation changes; null for others.
  [[nodiscard]] std::vector<Storage> targets_of(const ExportedProgram& program, std::size_t outputs) const {
    std::vector<Storage> targets(outputs, nullptr);
    std::vector<std::string_view> names, given;  // of the user inputs, and of those without an exported value
    for (const InputSpec& spec : program.signature.input_specs)
      if (const auto* user = std::get_if<UserInputSpec>(&spec); user != nullptr) {
        names.push_back(arg_name(spec).view());
        if (!std::holds_alternative<ConstantArgument>(user->arg)) given.push_back(names.back());
      }
    if (of_users_.size() < names.size()) names = std::move(given);
    for (std::size_t k = 0; k < outputs && k < program.signature.output_specs.size(); ++k) {
      const OutputSpec& spec = program.signature.output_specs[k];
      if (target(spec) == nullptr) continue;
      if (kind(spec) == OutputKind::user_input_mutation) {
        for (std::size_t i = 0; i < names.size() && i < of_users_.size(); ++i)
          if (*target(spec) == names[i]) targets[k] = of_users_[i];
      } else {
        for (const auto& [name, storage] : of_state_)
          if (*target(spec) == name) targets[k] = storage;
      }
    }
    return targets;
  }

  std::vector<EagerValue> held_;
  std::vector<Storage> of_users_;
  std::vector<std::pair<Name, Storage>> of_state_;
  std::vector<std::vector<Storage>> of_outputs_;
};

}  // namespace davit::testing
