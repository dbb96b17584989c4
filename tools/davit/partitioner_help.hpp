// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace tool {

/// The values of --partitioner with explanations; `davit help partitioner` prints them.
struct PartitionerHelp {
  std::string_view form;
  std::string_view text;
};
inline constexpr PartitionerHelp partitioner_help[] = {
    {"capability",
     "Large groups: each node goes to the first backend of --backends that takes it, and neighbours are joined; no two "
     "partitions wait for "
     "each other. Regions that compute nothing, or too little for a backend, go to the next. If "
     "several backends estimate costs, as onednn and xnnpack do, the cheapest gets the region. The "
     "default."},
    {"choose",
     "Each region on its fastest backend, conversions at borders included. Uses measured costs: "
     "--costs FILE uses a "
     "table and measures nothing; --save-costs FILE measures the missing costs, and keeps them; without either, "
     "measurements are not kept."},
    {"alternate", "Nodes go to the backends of --backends in turn: many small partitions, to test borders."},
    {"all", "Every node on the first backend of --backends."},
    {"config:FILE",
     "By a file of lines PATTERN = BACKEND. A pattern matches names of nodes and operators, * matches anything "
     "(linear_3, aten.conv*); the "
     "first line that matches a node decides, and # begins a comment."},
    {"module:PATH=BACKEND,...",
     "By the module of a node, or an enclosing one: PATH is its name in the model, such as encoder.layers.0. "
     "The longest path decides."},
    {"pattern:OP+OP=BACKEND,...",
     "Chains of operators, each the only user of the one before, such as aten.convolution.default+aten.relu.default. A "
     "chain goes to its "
     "backend as a whole, or not at all if the backend refuses one of its nodes."},
};

/// Returns the forms, separated by ", ".
[[nodiscard]] inline std::string partitioner_names() {
  std::string names;
  for (const PartitionerHelp& each : partitioner_help) names.append(names.empty() ? "" : ", ").append(each.form);
  return names;
}

}  // namespace tool
