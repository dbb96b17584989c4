// SPDX-License-Identifier: MIT
// program/ of the compiled library.
#include "davit/program.hpp"
