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
     "each other. What computes nothing, or is not worth a backend's while, goes to the next. Where "
     "several backends estimate what a region costs, as onednn and xnnpack do, the one with the least gets it. The "
     "default."},
    {"choose",
     "Each region on the backend that is fastest for it, conversions at borders included. It goes by measured costs: "
     "--costs FILE uses a "
     "table and measures nothing; --save-costs FILE measures what the table lacks, and keeps it; without either, what "
     "was measured is "
     "forgotten."},
    {"alternate", "Every other node on the next backend of --backends: many small partitions, to try out borders."},
    {"all", "Every node on the first backend of --backends."},
    {"config:FILE",
     "By a file of lines PATTERN = BACKEND. A pattern fits names of nodes and operators, * stands for anything "
     "(linear_3, aten.conv*); the "
     "first line that fits a node decides, and # begins a comment."},
    {"module:PATH=BACKEND,...",
     "By the module that a node came from, or one around it: PATH is its name in the model, such as encoder.layers.0. "
     "The longest path decides."},
    {"pattern:OP+OP=BACKEND,...",
     "Chains of operators, each the only user of the one before, such as aten.convolution.default+aten.relu.default. A "
     "chain goes to its "
     "backend as a whole or, if that refuses a node of it, not at all."},
};

/// Returns the forms, separated by ", ".
[[nodiscard]] inline std::string partitioner_names() {
  std::string names;
  for (const PartitionerHelp& each : partitioner_help) names.append(names.empty() ? "" : ", ").append(each.form);
  return names;
}

}  // namespace tool
