// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/name.hpp"
#include "davit/formats/pt2/pytree_json.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/program/guard_inputs.hpp"

namespace davit::formats {

/// The user inputs by the paths that guards name them by: `L['z']['k']`, `L['args'][0]`, `L['args_0']`,
/// `L['flat_args'][2]`. Source: key_path_to_source of torch._export.non_strict_utils, and torch._dynamo's sources of
/// inputs.
class InputPaths {
 public:
  /// Views the program. O(n log n) for n inputs.
  explicit InputPaths(const ProgramTables& program) : names_(guard_names(program)) {
    for (const ModuleCallEntry& entry : program.module_call_graph) {
      if (!entry.fqn.empty() || !entry.has_signature) continue;
      const std::vector<Name> paths = pytree_names(entry.in_spec, true);
      if (paths.size() != names_.size()) break;
      forward_names_ = entry.forward_arg_names;
      for (std::uint32_t i = 0; i < paths.size(); ++i) {
        const auto [at, is_new] = paths_.try_emplace(std::string(paths[i].view()), i);
        if (!is_new) at->second = no_id;  // two paths that are written alike
      }
      break;
    }
  }

  /// The user input that `root` and the steps behind it lead to, if there is one: L['x'][0]['k'] is find("x", {"0",
  /// "k"}).
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view root, std::span<const std::string> steps) const {
    for (std::size_t i = 0; i < forward_names_.size(); ++i)
      if (forward_names_[i] == root)
        if (const auto leaf = argument(i, steps)) return leaf;
    if (const auto leaf = at("1." + std::string(root), steps)) return leaf;
    if (root == "kwargs")
      if (const auto leaf = at("1", steps)) return leaf;
    if (root == "args")
      if (const auto leaf = of_args(steps)) return leaf;
    if (root == "flat_args" && steps.size() == 1)
      if (const auto leaf = number_of(steps[0]); leaf && *leaf < names_.size())
        return static_cast<std::uint32_t>(*leaf);
    if (root.starts_with("args_"))
      if (const auto leaf = at("0." + std::string(root.substr(5)), steps)) return leaf;
    if (!steps.empty()) return std::nullopt;
    for (std::uint32_t i = 0; i < names_.size(); ++i)
      if (names_[i] == root) return i;
    return std::nullopt;
  }

 private:
  [[nodiscard]] static std::optional<std::size_t> number_of(std::string_view text) {
    std::size_t number = 0;
    if (text.empty() || text.size() > 9) return std::nullopt;
    for (const char c : text) {
      if (c < '0' || c > '9') return std::nullopt;
      number = number * 10 + static_cast<std::size_t>(c - '0');
    }
    return number;
  }
  [[nodiscard]] std::optional<std::uint32_t> at(std::string path, std::span<const std::string> steps) const {
    for (const std::string& each : steps) (path += '.') += each;
    const auto found = paths_.find(path);
    if (found == paths_.end() || found->second == no_id) return std::nullopt;
    return found->second;
  }
  /// Of the i-th argument that forward() was called with: the positional ones come first.
  [[nodiscard]] std::optional<std::uint32_t> argument(std::size_t i, std::span<const std::string> steps) const {
    if (const auto leaf = at("0." + std::to_string(i), steps)) return leaf;
    return at("1." + std::string(forward_names_[i].view()), steps);
  }
  /// `args` are the variable ones, or the positional ones, or both kinds: (args, kwargs).
  [[nodiscard]] std::optional<std::uint32_t> of_args(std::span<const std::string> steps) const {
    if (steps.empty()) return std::nullopt;
    const std::string variable = "args_" + steps[0];
    for (std::size_t i = 0; i < forward_names_.size(); ++i)
      if (forward_names_[i] == variable)
        if (const auto leaf = argument(i, steps.subspan(1))) return leaf;
    if (const auto leaf = at("0", steps)) return leaf;
    return at(steps[0], steps.subspan(1));
  }

  std::vector<Name> names_;
  std::vector<Name> forward_names_{};
  std::map<std::string, std::uint32_t, std::less<>> paths_{};
};

}  // namespace davit::formats
