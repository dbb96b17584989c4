// SPDX-License-Identifier: MIT
#pragma once

/// All of runtime/.

#include "davit/runtime/call_frame.hpp"
#include "davit/runtime/check_values.hpp"
#include "davit/runtime/guard_checks.hpp"
#include "davit/runtime/method_state.hpp"
#include "davit/runtime/named_value.hpp"
#include "davit/runtime/node_call.hpp"
#include "davit/runtime/outputs.hpp"
#include "davit/runtime/prepare_delegate.hpp"
#include "davit/runtime/program_plan.hpp"
#include "davit/runtime/results.hpp"
#include "davit/runtime/session.hpp"
#include "davit/runtime/size_memory.hpp"
#include "davit/runtime/typed_method.hpp"
#include "davit/runtime/value_sizes.hpp"
