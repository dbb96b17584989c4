// SPDX-License-Identifier: MIT
#include "davit/runtime/impl/control_flow.ipp"
#include "davit/runtime/impl/method_state.ipp"
#include "davit/runtime/impl/plan_run.ipp"
#include "davit/runtime/impl/prepare_delegate.ipp"
#include "davit/runtime/impl/program_plan.ipp"
#include "davit/runtime/impl/run_graph.ipp"
#include "davit/runtime/impl/session.ipp"
#include "davit/runtime/impl/typed_method.ipp"
