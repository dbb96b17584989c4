// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/impl/vision_group.ipp"
