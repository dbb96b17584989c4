// SPDX-License-Identifier: MIT
// core/ of the compiled library.
#include "davit/core.hpp"
