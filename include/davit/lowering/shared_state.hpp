// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/delegate_io.hpp"
#include "davit/core/copy_tensor.hpp"
#include "davit/core/error.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/program/in_place_writes.hpp"

namespace davit::detail {

/// Returns the parameters, buffers and constants that a program changes, sorted. The program must be verified. O(n log
/// n).
[[nodiscard]] inline std::vector<Name> changed_attributes(const ExportedProgram& program) {
  std::vector<Name> changed = written_in_place(program);
  for (const OutputSpec& spec : program.signature.output_specs)
    if (kind(spec) == OutputKind::buffer_mutation || kind(spec) == OutputKind::parameter_mutation)
      changed.push_back(*target(spec));
  std::ranges::sort(changed);
  return changed;
}

/// Returns an error if a tensor that a program changes shares memory with another tensor that it reads: as state they
/// would be separate copies. The program must be verified. O(n log n).
[[nodiscard]] inline Result<void> check_shared_storage(const ExportedProgram& program) {
  struct Attribute {
    MemoryRange place;
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
    if (changes || used[inputs[i].value()] != 0) all.push_back({memory_range(tensor->view()), name, changes});
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
    if (one.changes && (furthest_changed == nullptr || furthest_changed->place.end < one.place.end))
      furthest_changed = &one;
  }
  return {};
}

/// A method that may share state with others.
struct StateHolder {
  std::string_view method;
  const ExportedProgram* program = nullptr;
};

/// True if two tensors of the same dtype and sizes have the same elements, bit by bit. O(their bytes).
[[nodiscard]] inline Result<bool> same_elements(const Tensor& a, const Tensor& b) {
  const TensorView x = a.view(), y = b.view();
  if (x.data == y.data && (std::ranges::equal(x.strides(), y.strides()) || x.numel() == 0)) return true;
  if (x.data == nullptr || y.data == nullptr) return x.numel() == 0;
  const auto dense = [](const TensorView& t) {
    return t.is_contiguous() ? Tensor{} : Tensor::zeros(t.dtype, t.sizes());
  };
  Tensor own[2] = {dense(x), dense(y)};
  const void* at[2] = {x.data, y.data};
  for (const std::size_t i : {0u, 1u}) {
    const TensorView& from = i == 0 ? x : y;
    if (from.is_contiguous()) continue;
    if (own[i].storage.size() < from.nbytes())
      return std::unexpected(Error{.code = ErrorCode::out_of_memory,
                                   .stage = Stage::preprocess,
                                   .what = "no memory to compare the initial values of state"});
    copy_tensor(from, own[i].view());
    at[i] = own[i].view().data;
  }
  return std::memcmp(at[0], at[1], x.nbytes()) == 0;
}

/// Checks state that is shared by name: a tensor that one method changes is one tensor, with one initial value, in all
/// methods that have it. `names`: the changed tensors, in any order. Errors: unsupported_argument if dtype, sizes or
/// initial value differ between two methods. O(names * methods + bytes of state).
[[nodiscard]] inline Result<void> check_same_state(std::span<const StateHolder> methods, std::vector<Name> names) {
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  struct Owner {
    const StateHolder* method = nullptr;
    const Tensor* tensor = nullptr;
  };
  std::vector<Owner> owners(names.size());
  const auto described = [](const Owner& owner) {
    Name sizes;
    for (const std::int64_t size : owner.tensor->sizes) sizes = concat(sizes, sizes.empty() ? "" : ", ", size);
    return concat("'", owner.method->method, "' has it as ", name_of(owner.tensor->dtype), " [", sizes, "]");
  };
  for (const StateHolder& method : methods) {
    if (names.empty()) break;
    const TensorIndex tensors(*method.program);
    for (const InputSpec& spec : method.program->signature.input_specs) {
      const Name* const name = kind(spec) == InputKind::custom_obj ? nullptr : target(spec);
      if (name == nullptr) continue;
      const auto at = std::ranges::lower_bound(names, *name);
      const Tensor* const tensor = at == names.end() || !(*at == *name) ? nullptr : tensors.find(*name);
      if (tensor == nullptr) continue;  // its use reports the error
      Owner& first = owners[static_cast<std::size_t>(at - names.begin())];
      const Owner own{&method, tensor};
      if (first.tensor == nullptr) first = own;
      if (first.method == &method) continue;
      Error error{.code = ErrorCode::unsupported_argument,
                  .stage = Stage::preprocess,
                  .where = concat("state ", *name),
                  .fix = "export the methods from one module, or give the buffers other names"};
      error.what = concat("methods share state by name: ", described(first), ", ", described(own));
      if (tensor->dtype != first.tensor->dtype || tensor->sizes != first.tensor->sizes)
        return std::unexpected(std::move(error));
      const Result<bool> same = same_elements(*first.tensor, *tensor);
      if (!same) return error_of(same);
      error.what = concat("methods '", first.method->method, "' and '", method.method,
                          "' share it by name, and have other initial values for it");
      if (!*same) return std::unexpected(std::move(error));
    }
  }
  return {};
}

/// The state of programs that are lowered together: a tensor that one of them changes is state of all that have it (see
/// check_same_state).
class SharedState {
 public:
  /// The programs must be verified. O(their sizes).
  explicit SharedState(std::span<const ExportedProgram* const> programs) {
    for (const ExportedProgram* program : programs) {
      const TensorIndex tensors(*program);
      for (const Name& name : changed_attributes(*program))
        if (tensors.find(name) != nullptr) changed_.push_back(name);
    }
    std::ranges::sort(changed_);
  }
  [[nodiscard]] const std::vector<Name>& names() const noexcept { return changed_; }
  /// Returns the program, or a copy in `own` whose signature also names state that only other programs change.
  [[nodiscard]] const ExportedProgram* mark(const ExportedProgram& program, ExportedProgram& own) const {
    if (changed_.empty()) return &program;
    std::vector<Name> unlisted;
    const TensorIndex tensors(program);
    const std::vector<InputRole> roles = input_roles(program.signature);
    for (std::size_t i = 0; i < roles.size(); ++i)
      if (const Name* attribute = target(program.signature.input_specs[i]);
          roles[i] == InputRole::constant && std::ranges::binary_search(changed_, *attribute) &&
          tensors.find(*attribute) != nullptr)
        unlisted.push_back(*attribute);
    if (unlisted.empty()) return &program;
    own = program;
    own.signature.unlisted_state = std::move(unlisted);
    return &own;
  }

 private:
  std::vector<Name> changed_;  ///< sorted
};

}  // namespace davit::detail
