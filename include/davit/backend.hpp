// SPDX-License-Identifier: MIT
#pragma once

/// All of backend/.

#include "davit/backend/archetype.hpp"
#include "davit/backend/backend_table.hpp"
#include "davit/backend/check_backend.hpp"
#include "davit/backend/constant_of.hpp"
#include "davit/backend/contract.hpp"
#include "davit/backend/debug_handles.hpp"
#include "davit/backend/delegate_io.hpp"
#include "davit/backend/embed_contract.hpp"
#include "davit/backend/embed_delegate.hpp"
#include "davit/backend/embed_graph.hpp"
#include "davit/backend/execute_context.hpp"
#include "davit/backend/memory_plan.hpp"
#include "davit/backend/program_body.hpp"
#include "davit/backend/run_events.hpp"
#include "davit/backend/static_constant.hpp"
#include "davit/backend/static_control_sources.hpp"
#include "davit/backend/static_rows.hpp"
#include "davit/backend/step_writer.hpp"
#include "davit/backend/stop_condition.hpp"
#include "davit/backend/undo_log.hpp"
