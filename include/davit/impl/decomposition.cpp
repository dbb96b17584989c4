// SPDX-License-Identifier: MIT
#include "davit/lowering/impl/decompose.ipp"
#include "davit/lowering/impl/decomposition_helpers.ipp"
#include "davit/lowering/impl/decomposition_rules.ipp"
#include "davit/lowering/impl/graph_emitter.ipp"
#include "davit/lowering/impl/rule_evaluator.ipp"
#include "davit/lowering/impl/rule_functions.ipp"
#include "davit/lowering/impl/rule_language.ipp"
#include "davit/lowering/impl/rule_metas.ipp"
