// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "davit/core/error.hpp"
#include "davit/embed/static_module.hpp"
#include "davit/embed/static_program.hpp"

namespace davit {

/// A static module behind C functions, as `davit embed --c` writes them. Their status is an int: 0, or the bits of a
/// Fault, which `davit explain` decodes. `Module` has an external_arena, which init must set before a run.
template <class Module>
class c_model {
 public:
  constexpr c_model() noexcept = default;

  /// Sets the memory of the model's runs, and gives its state the initial value. Errors: out_of_memory,
  /// invalid_argument: the memory is less than arena_bytes, or not aligned to static_alignment.
  [[nodiscard]] int init(void* arena, std::size_t bytes) noexcept {
    arena_ = {static_cast<std::byte*>(arena), arena == nullptr ? 0 : bytes};
    module_.reset();
    return status(detail::given_arena(arena_).check(Module::arena_bytes));
  }
  /// Gives the state its initial value.
  void reset() noexcept { module_.reset(); }
  /// Runs method M, or the program's only one, with its dims, if it has any, and its tensors as spans. Errors: those of
  /// forward; invalid_argument: a null pointer.
  template <class M, class... Tensors>
  [[nodiscard]] int call(Tensors... tensors) noexcept {
    if ((is_null(tensors) || ...)) return status(ErrorCode::invalid_argument);
    const Status done = module_.template call<M>(arena_, tensors...);
    return done ? 0 : static_cast<int>(done.error().bits());
  }

 private:
  template <class T, std::size_t N>
  [[nodiscard]] static bool is_null(std::span<T, N> tensor) noexcept {
    return tensor.data() == nullptr && !tensor.empty();
  }
  template <std::size_t N>
  [[nodiscard]] static bool is_null(const StaticDims<N>&) noexcept {
    return false;
  }
  [[nodiscard]] static int status(ErrorCode code) noexcept {
    return code == ErrorCode::ok ? 0 : static_cast<int>(Fault(code).bits());
  }

  Module module_;
  std::span<std::byte> arena_;
};

}  // namespace davit
