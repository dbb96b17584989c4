// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "davit/backend/static_constant.hpp"
#include "davit/program/static_graph.hpp"

namespace davit {

/// A program that is a type: its tables are constants of it. `davit embed` writes such types; small ones can be written
/// by hand on `static_program_of`. One row of `inputs` per graph input, one of `outputs` per graph output; sizes are
/// numbers. If an input's data lies in the blob there is also `static const std::byte* weights() noexcept`, aligned to
/// 16 bytes.
template <class P>
concept StaticProgram = requires {
  { P::name } -> std::convertible_to<std::string_view>;
  { P::tables.view() } -> std::same_as<GraphModuleView>;
  { P::inputs.size() } -> std::convertible_to<std::size_t>;
  { P::inputs[0] } -> std::convertible_to<StaticInput>;
  { P::outputs.size() } -> std::convertible_to<std::size_t>;
  { P::outputs[0] } -> std::convertible_to<StaticOutput>;
};

/// The characters of a literal: the text table of a program.
template <std::size_t N>
[[nodiscard]] consteval std::array<char, N - 1> static_text(const char (&literal)[N]) noexcept {
  std::array<char, N - 1> text{};
  for (std::size_t i = 0; i + 1 < N; ++i) text[i] = literal[i];
  return text;
}

/// The graph that `make`, a constexpr function, builds with a GraphBuilder, as a static program whose inputs and
/// outputs are all the caller's. Derive from it and hide `inputs` or `outputs` where that is not so:
///
///     struct scaled : davit::static_program_of<make_scaled> {
///       static constexpr std::string_view name = "scaled";
///       static constexpr std::array inputs{davit::constant_input(weight), davit::user_input()};
///     };
template <auto make>
struct static_program_of {
  static constexpr std::string_view name = "program";
  static constexpr auto tables = freeze_graph<make, false>();
  static constexpr std::array<StaticInput, tables.graphs[root_graph].inputs.count> inputs{};
  static constexpr std::array<StaticOutput, tables.graphs[root_graph].outputs.count> outputs{};
};

}  // namespace davit
