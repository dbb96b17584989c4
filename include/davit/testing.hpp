// SPDX-License-Identifier: MIT
#pragma once

/// All of testing/.

#include "davit/testing/alternating_partitioner.hpp"
#include "davit/testing/backend_laws.hpp"
#include "davit/testing/compare.hpp"
#include "davit/testing/eager.hpp"
#include "davit/testing/eager_value.hpp"
#include "davit/testing/execute_laws.hpp"
#include "davit/testing/judge.hpp"
#include "davit/testing/law_case.hpp"
#include "davit/testing/mock_backend.hpp"
#include "davit/testing/numeric_gap.hpp"
#include "davit/testing/one_node.hpp"
#include "davit/testing/program_recipe.hpp"
#include "davit/testing/random_layers.hpp"
#include "davit/testing/random_moves.hpp"
#include "davit/testing/random_program.hpp"
#include "davit/testing/random_rounding.hpp"
#include "davit/testing/random_steps.hpp"
#include "davit/testing/random_values.hpp"
#include "davit/testing/redirected_partitioner.hpp"
#include "davit/testing/renamed_backend.hpp"
#include "davit/testing/saving_laws.hpp"
#include "davit/testing/session_laws.hpp"
#include "davit/testing/snapshot.hpp"
#include "davit/testing/tracer_laws.hpp"
