// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "davit/backends/onednn/compile.hpp"

namespace davit::onednn_ops {

namespace detail {

/// All properties that a primitive depends on: operations with one key have one answer.
[[nodiscard]] inline std::vector<std::int64_t> key_of(GraphModuleView graph, const Operation& op) {
  std::vector<std::int64_t> key{static_cast<std::int64_t>(op.kind),
                                static_cast<std::int64_t>(op.algorithm),
                                op.groups,
                                op.step,
                                op.axis,
                                op.transposed ? 1 : 0};
  const auto add = [&](const auto& numbers) {
    key.push_back(static_cast<std::int64_t>(numbers.size()));
    for (const auto n : numbers) key.push_back(static_cast<std::int64_t>(n));
  };
  for (const Dims* dims : {&op.kernel, &op.strides, &op.dilates, &op.pad_left, &op.pad_right, &op.first}) add(*dims);
  add(op.permutation);
  for (const Function& f : op.functions) key.push_back(static_cast<std::int64_t>(f.algorithm));
  for (const std::vector<ValueId>* values : {&op.inputs, &op.outputs}) {
    key.push_back(-1);
    for (const ValueId v : *values) {
      if (v == no_id) {
        key.push_back(-2);
      } else {
        key.push_back(graph.values[v].sizes.count);
        key.push_back(static_cast<std::int64_t>(graph.values[v].dtype));
        add(sizes_of(graph, v));
      }
    }
  }
  return key;
}

}  // namespace detail

/// True for arithmetic on sizes: it is computed when code is compiled for the sizes of a call.
[[nodiscard]] inline bool takes_numbers(GraphModuleView graph, NodeId node) noexcept {
  const Node& n = graph.nodes[node];
  const std::string_view target = graph.target(n);
  if (!target.starts_with("_operator.") && target != "aten.sym_size.int") return false;
  for (const Argument& a : graph.outputs(n))
    if (!a.is_value() || graph.values[a.value()].expr == no_id) return false;
  return makes_numbers(graph, n);
}

/// Returns nullptr if the backend takes the node, else the reason. Asks the library once for each kind of operation and
/// sizes. Safe from several threads.
[[nodiscard]] inline const char* refuses(GraphModuleView graph, NodeId node) {
  if (takes_numbers(graph, node)) return nullptr;
  Operation op;
  if (const char* wrong = describe_node(graph, node, op)) return wrong;
  const ExampleNode example(graph, node);
  const auto try_it = [&] {
    op.node = example.node();
    return try_operation(example.view(), op);
  };
  if (op.kind == OpKind::kernel) return try_it();  // the key lacks its other arguments
  static std::mutex mutex;
  static std::map<std::vector<std::int64_t>, const char*> answers;
  std::vector<std::int64_t> key = detail::key_of(graph, op);
  {
    const std::scoped_lock lock(mutex);
    if (const auto known = answers.find(key); known != answers.end()) return known->second;
  }
  const char* answer = try_it();
  const std::scoped_lock lock(mutex);
  answers.emplace(std::move(key), answer);
  return answer;
}

}  // namespace davit::onednn_ops
