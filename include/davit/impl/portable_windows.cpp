// SPDX-License-Identifier: MIT
#include "davit/backends/portable/impl/window_group.ipp"
