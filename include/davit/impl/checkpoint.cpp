// SPDX-License-Identifier: MIT
#include "davit/formats/impl/checkpoint.ipp"
