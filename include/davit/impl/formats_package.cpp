// SPDX-License-Identifier: MIT
#include "davit/formats/impl/package.ipp"
