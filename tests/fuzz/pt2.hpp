// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "davit/formats/pt2.hpp"
#include "davit/formats/pt2/exported_program_json.hpp"
#include "davit/formats/pt2/guard_code.hpp"
#include "davit/formats/pt2/pickle.hpp"
#include "davit/formats/pt2/sympy.hpp"
#include "davit/formats/pt2/torch_save.hpp"
#include "davit/formats/zip/zip.hpp"
#include "davit/program/check_tables.hpp"
#include "davit/program/guard_inputs.hpp"
#include "davit/program/guard_values.hpp"
#include "support/guard_program.hpp"
#include "target.hpp"

/// All readers of a `.pt2` file.
namespace fuzz {

/// Values that the optimizer must not remove.
inline volatile std::uint64_t sink = 0;

inline void touch(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  sink = sink + std::to_integer<unsigned>(bytes.front()) + std::to_integer<unsigned>(bytes.back());
}

/// Reads the first and the last element of a tensor, and its storage.
inline void touch(const Tensor& tensor) {
  touch(tensor.storage.bytes());
  const TensorView view = tensor.view();
  require(view.rank == tensor.sizes.size() && view.numel() >= 0 && size_of(view.dtype) > 0);
  if (view.numel() == 0) return;
  std::int64_t last = 0;
  for (std::size_t d = 0; d < view.rank; ++d) last += (view.size(d) - 1) * view.stride(d);
  const std::size_t element = size_of(view.dtype);
  const auto* first = static_cast<const std::byte*>(view.data);
  require(element == 1 || reinterpret_cast<std::uintptr_t>(first) % (element < 8 ? element : 8) == 0);
  touch({first, element});
  touch({first + static_cast<std::size_t>(last) * element, element});
}

inline void touch(GraphModuleView g) {
  require(check_tables(g).has_value());
  std::size_t characters = 0;
  for (const Value& v : g.values)
    characters += g.str(v.name).size() + g.dims_of(v.sizes).size() + g.str(v.device).size();
  for (const Argument& a : g.arguments) g.for_each_value(a, [&](ValueId id) { characters += g.name(id).size(); });
  for (const Node& n : g.nodes) {
    require(n.metadata < g.metadata.size());
    characters += g.target(n).size() + g.inputs(n).size() + g.outputs(n).size() +
                  g.str(g.metadata[n.metadata].stack_trace).size();
  }
  for (const Expr& e : g.exprs) characters += g.str(e.name).size();
  sink = sink + characters;
}

inline void touch(const ExportedProgram& program) {
  touch(program.view());
  for (const NamedTensor& entry : program.state_dict) touch(entry.tensor);
  for (const NamedTensor& entry : program.constants) touch(entry.tensor);
  for (const NamedObject& entry : program.custom_objects) touch(entry.state.bytes());
  require(program.signature.input_specs.size() == program.view().root().inputs.count);
  require(guards_fit(program.guards, guard_inputs(program)));
}

inline void check_load(const Error& error) {
  require(error.stage == Stage::load && !error.where.empty());
  check(error);
}

inline void zip(SharedBytes bytes) {
  const Result<ExportedProgram> program = read_pt2(bytes, {.verify_checksums = false});
  program ? touch(*program) : check_load(program.error());
  Result<TorchSave> saved = TorchSave::open(bytes, "fuzz", {.verify_checksums = false});
  if (!saved) return check_load(saved.error());
  const Result<TorchDict> dict = saved->dict();
  if (!dict) return check_load(dict.error());
  for (const NamedTensor& entry : dict->tensors) touch(entry.tensor);
  for (const NamedObject& entry : dict->objects) touch(entry.state.bytes());
}

inline void json(std::string_view text) {
  const Result<JsonDocument> document = parse_json(text);
  if (!document) return check_load(document.error());
  const Result<ExportedProgram> program = read_exported_program(document->root());
  program ? touch(program->view()) : check_load(program.error());
}

inline void pickle(SharedBytes bytes) {
  const Result<Pickle> values = read_pickle(bytes, "fuzz");
  if (!values) return check_load(values.error());
  for (PickleId id = 0; id < values->size(); ++id) {
    const PickleValue& value = (*values)[id];
    for (const PickleId item : value.items) require(item < values->size());
    if (value.state != no_pickle_id) touch(values->state_bytes(value).bytes());
    sink = sink + value.text.size();
  }
}

inline void expression(std::string_view text) {
  GraphBuilder builder;
  builder.begin_graph();
  SympyReader reader(builder);
  const Result<ExprId> id = reader.read(text);
  builder.end_graph(std::span<const Argument>());
  if (!id) return check_load(id.error());
  require(*id < builder.module().exprs.size());
  touch(builder.module().view());
}

/// Reads and evaluates a guard of the program of tests/support/guard_program.hpp, for sizes that follow from the text.
inline void guard(std::string_view text) {
  static const ProgramTables program = guard_program::make();
  Guards guards;
  GuardReader reader(program, guards);
  const Result<void> read = reader.read(text);
  require(guards_fit(guards, guard_inputs(program)) && guards.size() == (read ? 1u : 0u));
  if (!read) return check_load(read.error());
  constexpr double numbers[] = {0, 1, 2, 3, -1, 64, 0.5, 0x1p40, -0x1p62, 0x1p62};
  guard_program::Given given;
  for (std::size_t i = 0; i < given.numbers.size(); ++i)
    given.numbers[i] = numbers[(text.size() + 3 * i) % std::size(numbers)];
  const std::vector<PythonNumber> values = given.evaluated(guards);
  if (first_violation(guards, values) == 0)
    require(!describe_violation(guards, 0, guard_names(program), values).what.empty());
  const std::string printed = print_guard(guards, 0, guard_names(program), 100'000);
  sink = sink + printed.size();
}

/// The first byte selects the entry point, so that plain files are seeds: 'P' a ZIP archive (a whole .pt2, or a file of
/// torch.save), '{' a program's JSON, 0x80 a pickle, 'D' a deflate stream, '=' a guard, other bytes an expression.
/// Checksums are not compared, because a changed input would fail at them.
inline void pt2(const SharedBytes& bytes) {
  switch (std::to_integer<unsigned>(bytes.bytes().front())) {
    case 'P': zip(bytes); break;
    case '{': json(text_of(bytes)); break;
    case 0x80: pickle(bytes); break;
    case 'D':
      if (const auto content = inflate_bytes(bytes.bytes().subspan(1), 8 * bytes.size(), "fuzz"))
        touch(content->bytes());
      break;
    case '=': guard(text_of(bytes).substr(1)); break;
    default: expression(text_of(bytes));
  }
}

}  // namespace fuzz
