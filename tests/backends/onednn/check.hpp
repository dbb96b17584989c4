// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "davit/backends/onednn/builder.hpp"
#include "davit/backends/onednn/op_table.hpp"
#include "support/net.hpp"

/// Helpers of the tests of the backend's parts.
namespace onednn_check {

/// A node in oneDNN's terms, or the reason why it is refused ("" if it is not). The library is not asked.
struct Described {
  std::string why;
  davit::onednn_ops::Operation op;
};

/// Describes the last node of a program; `why` is the refusal of its operator's row, if there is a row.
[[nodiscard]] inline Described described(const davit::ExportedProgram& program) {
  Described made;
  const auto last = static_cast<davit::NodeId>(program.view().nodes.size() - 1);
  const davit::operators::NodeArguments in(program.view(), last);
  const davit::onednn_ops::OpRow* const row = davit::onednn_ops::find_op(in.call().target);
  davit::onednn_ops::Operation own;
  if (const char* why = davit::onednn_ops::describe_node(program.view(), last, made.op))
    made.why = why;
  else if (row != nullptr)
    if (const char* by_row = describe_by_row(*row, in, own)) made.why = by_row;
  return made;
}

/// The node that `draft(net)` adds last.
template <class MakeNode>
[[nodiscard]] Described drafted(MakeNode&& draft) {
  support::Net n;
  (void)draft(n);
  return described(n.finish({}));
}

/// All nodes of a program, none of them refused.
[[nodiscard]] inline std::vector<davit::onednn_ops::Operation> operations(davit::GraphModuleView graph) {
  std::vector<davit::onednn_ops::Operation> list(graph.nodes.size());
  for (davit::NodeId n = 0; n < graph.nodes.size(); ++n)
    if (davit::onednn_ops::describe_node(graph, n, list[n]) != nullptr) return {};
  return list;
}

/// Makes a value a constant with the given numbers in memory order.
inline void place_constant(davit::onednn_ops::Builder& b, davit::ValueId v, const davit::onednn_ops::MemoryDesc& md,
                           const std::vector<float>& numbers) {
  const davit::onednn_ops::Place place = b.add_constant(md);
  std::copy(numbers.begin(), numbers.end(), reinterpret_cast<float*>(b.constant_data(place)));
  b.place(v, place);
}
/// Makes a value a row-major constant.
inline void place_constant(davit::onednn_ops::Builder& b, davit::ValueId v, const std::vector<float>& numbers) {
  place_constant(b, v, davit::onednn_ops::plain_of(b.graph(), v), numbers);
}
/// Makes a value an input, in row-major order.
inline void place_input(davit::onednn_ops::Builder& b, davit::ValueId v) {
  const davit::onednn_ops::MemoryDesc md = davit::onednn_ops::plain_of(b.graph(), v);
  b.place(v, {md, b.add_storage(davit::onednn_ops::StorageKind::input, md.get_size())});
}
/// The numbers of a constant, in memory order.
[[nodiscard]] inline std::vector<float> numbers_at(davit::onednn_ops::Builder& b,
                                                   const davit::onednn_ops::Place& place) {
  const auto* first = reinterpret_cast<const float*>(b.constant_data(place));
  return {first, first + place.md.get_size() / sizeof(float)};
}

}  // namespace onednn_check
