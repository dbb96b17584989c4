// SPDX-License-Identifier: MIT
#pragma once

/// All of program/.

#include "davit/program/argument_spec.hpp"
#include "davit/program/check_tables.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/program/graph.hpp"
#include "davit/program/graph_builder.hpp"
#include "davit/program/graph_bytes.hpp"
#include "davit/program/graph_equal.hpp"
#include "davit/program/input_spec.hpp"
#include "davit/program/name_map.hpp"
#include "davit/program/operator_schema.hpp"
#include "davit/program/operators.hpp"
#include "davit/program/output_spec.hpp"
#include "davit/program/printer.hpp"
#include "davit/program/python_repr.hpp"
#include "davit/program/sig_to_specs.hpp"
#include "davit/program/signature.hpp"
#include "davit/program/signature_printer.hpp"
#include "davit/program/static_graph.hpp"
#include "davit/program/strip_metadata.hpp"
#include "davit/program/symbols.hpp"
#include "davit/program/verify.hpp"
