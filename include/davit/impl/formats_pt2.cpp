// SPDX-License-Identifier: MIT
#include "davit/formats/impl/pt2.ipp"
