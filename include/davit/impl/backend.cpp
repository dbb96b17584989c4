// SPDX-License-Identifier: MIT
// backend/ of the compiled library.
#include "davit/backend.hpp"
