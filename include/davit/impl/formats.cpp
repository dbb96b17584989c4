// SPDX-License-Identifier: MIT
#include "davit/formats/impl/cost_table_json.ipp"
#include "davit/formats/impl/cpu_name.ipp"
#include "davit/formats/impl/definitions.ipp"
#include "davit/formats/impl/npy.ipp"
#include "davit/formats/impl/pt2.ipp"
