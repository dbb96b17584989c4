// SPDX-License-Identifier: MIT
#pragma once

/// All of testing/.

#include "davit/testing/backend_laws.hpp"
#include "davit/testing/mock_backend.hpp"
