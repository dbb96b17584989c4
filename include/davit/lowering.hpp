// SPDX-License-Identifier: MIT
#pragma once

/// All of lowering/.

#include "davit/lowering/all_node_partitioner.hpp"
#include "davit/lowering/assign_nodes.hpp"
#include "davit/lowering/backend_list.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/check_partitioning.hpp"
#include "davit/lowering/config_partitioner.hpp"
#include "davit/lowering/cut_program.hpp"
#include "davit/lowering/diagnostics.hpp"
#include "davit/lowering/glob.hpp"
#include "davit/lowering/group_nodes.hpp"
#include "davit/lowering/lower_program.hpp"
#include "davit/lowering/lowered_module.hpp"
#include "davit/lowering/lowered_program.hpp"
#include "davit/lowering/method_interface.hpp"
#include "davit/lowering/module_partitioner.hpp"
#include "davit/lowering/partition_dot.hpp"
#include "davit/lowering/partition_report.hpp"
#include "davit/lowering/partitioned_graph.hpp"
#include "davit/lowering/partitioning.hpp"
#include "davit/lowering/pattern_partitioner.hpp"
#include "davit/lowering/quotient_graph.hpp"
#include "davit/lowering/schedule.hpp"
#include "davit/lowering/text_table.hpp"
#include "davit/lowering/to_backend.hpp"
