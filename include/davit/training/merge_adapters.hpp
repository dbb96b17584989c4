// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// Merges low-rank adapters into a program's weights, W + scale * B A, and returns how many weights it changed.
///
/// For a linear layer MODULE with the weight W[out, in], `adapters` holds A[rank, in] as `prefix` + MODULE +
/// ".lora_A.weight" and B[out, rank] as ".lora_B.weight" (or ".lora_A", ".lora_A.default.weight", and the same of B).
/// Other entries are ignored, but for other parts of an adapter (MODULE.lora_magnitude_vector), which are an Error.
/// `prefix` is "base_model.model." for adapters that PEFT saved; `scale` is lora_alpha / rank. Tied weights are merged
/// under all of their names, with the adapters of all of them. Weights are float32, float64, float16 or bfloat16;
/// products are summed in float32.
///
/// Errors (stage load) leave the program as it was: not_found if no adapter's name fits, for an A without its B or the
/// reverse, and for an adapter without its weight; invalid_argument for two entries of one factor, a scale that is not
/// finite, and a tensor that is expanded or whose elements are not all there; unsupported_argument for parts of an
/// adapter that are not merged; out_of_range for a sum that is not finite; invalid_dtype; invalid_shape; out_of_memory.
/// O(rank * elements of the weights). Source: merge_and_unload of peft.tuners.lora.
[[nodiscard]] Result<std::size_t> merge_adapters(ExportedProgram& program, std::span<const NamedTensor> adapters,
                                                 double scale, std::string_view prefix = {});

}  // namespace davit
