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

/// Index of user inputs by their paths in guards: `L['z']['k']`, `L['args'][0]`, `L['args_0']`, `L['flat_args'][2]`.
/// Source: key_path_to_source of torch._export.non_strict_utils, and torch._dynamo's sources of inputs.
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
        if (!is_new) at->second = no_id;  // ambiguous: two inputs have the same path
      }
      break;
    }
  }

  /// Finds the user input at `root` and the steps after it: L['x'][0]['k'] is find("x", {"0", "k"}).
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view root, std::span<const std::string> steps) const {
    if (const auto leaf = of_name(root, steps)) return leaf;
    if (const auto leaf = at("1." + std::string(root), steps)) return leaf;
    if (root == "kwargs")
      if (const auto leaf = at("1", steps)) return leaf;
    if (const auto leaf = of_variable(root, steps)) return leaf;
    if (root == "args")
      if (const auto leaf = of_args(steps)) return leaf;
    if (root == "flat_args" && steps.size() == 1)
      if (const auto leaf = number_of(steps[0]); leaf && *leaf < names_.size())
        return static_cast<std::uint32_t>(*leaf);
    if (root.starts_with("args_") && !has_variable("args"))
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
  /// Finds an input in the i-th argument of forward(); positional arguments come first. A namedtuple has numbers in the
  /// call signature, but field names in placeholders: L['p'].a is "p_a".
  [[nodiscard]] std::optional<std::uint32_t> argument(std::size_t i, std::span<const std::string> steps) const {
    const std::string positional = "0." + std::to_string(i), keyword = "1." + std::string(forward_names_[i].view());
    if (const auto leaf = at(positional, steps)) return leaf;
    if (const auto leaf = at(keyword, steps)) return leaf;
    std::optional<std::uint32_t> found;
    const std::string name = placeholder(forward_names_[i].view(), steps);
    for (const auto& [path, leaf] : paths_)
      if ((path.starts_with(positional + ".") || path.starts_with(keyword + ".")) && leaf != no_id &&
          names_[leaf] == name)
        found = leaf;
    return found;
  }
  [[nodiscard]] std::optional<std::uint32_t> of_name(std::string_view root, std::span<const std::string> steps) const {
    for (std::size_t i = 0; i < forward_names_.size(); ++i)
      if (forward_names_[i] == root)
        if (const auto leaf = argument(i, steps)) return leaf;
    return std::nullopt;
  }
  /// Returns torch's placeholder name for a path, before it is made unique.
  /// Source: placeholder_naming_pass of torch._export.utils.
  [[nodiscard]] static std::string placeholder(std::string_view root, std::span<const std::string> steps) {
    std::string name(root);
    for (const std::string& each : steps) (name += '_') += each;
    for (char& c : name) {
      if (c >= 'A' && c <= 'Z')
        c = static_cast<char>(c - 'A' + 'a');
      else if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z')))
        c = '_';
    }
    return name;
  }
  /// True for forward(*NAME): its arguments are NAME_0, NAME_1, ..., behind the other names.
  [[nodiscard]] bool has_variable(std::string_view root) const {
    const std::string first = std::string(root) + "_0";
    for (const Name& name : forward_names_)
      if (name == first) return true;
    return false;
  }
  /// Finds L['xs'][1] of forward(*xs), or L['opts']['q'] of forward(**opts).
  [[nodiscard]] std::optional<std::uint32_t> of_variable(std::string_view root,
                                                         std::span<const std::string> steps) const {
    if (steps.empty()) return std::nullopt;
    const std::string positional = std::string(root) + "_" + steps[0];
    for (std::size_t i = forward_names_.size(); i-- > 0;)
      if (number_of(steps[0]) && forward_names_[i] == positional)
        if (const auto leaf = argument(i, steps.subspan(1))) return leaf;
    const auto leaf = at("1." + steps[0], steps.subspan(1));
    return leaf && names_[*leaf].view().starts_with(placeholder(root, steps.first(1))) ? leaf : std::nullopt;
  }
  /// Resolves `args`: the positional arguments (unless forward has *args), or both kinds as (args, kwargs).
  [[nodiscard]] std::optional<std::uint32_t> of_args(std::span<const std::string> steps) const {
    if (steps.empty()) return std::nullopt;
    if (!has_variable("args"))
      if (const auto leaf = at("0", steps)) return leaf;
    return at(steps[0], steps.subspan(1));
  }

  std::vector<Name> names_;
  std::vector<Name> forward_names_{};
  std::map<std::string, std::uint32_t, std::less<>> paths_{};
};

}  // namespace davit::formats
