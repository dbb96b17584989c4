// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/core/name.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/training/optimizer.hpp"

namespace davit {

/// Options of a training program besides its optimizer.
struct TrainOptions {
  /// Patterns of parameters that do not change: "encoder.*", "head.bias"; `*` matches any characters, `?` one.
  std::vector<Name> frozen{};
  /// The number of calls per step. The step uses the mean of their gradients, as if the batch were that many times as
  /// large. Parameters and moments change in every `accumulate`-th call.
  std::uint32_t accumulate = 1;
  Name learning_rate = "lr";  ///< the name of the input behind the user inputs: a float32 tensor without dimensions
};

/// Returns a program that trains: the forward and the backward pass of a joint graph, then one step of the optimizer.
///
/// `joint` has a LOSS_OUTPUT and GRADIENT_TO_PARAMETER outputs, as torch.export's _export_forward_backward writes them.
/// In the result, parameters that get a gradient and are not frozen are state (PARAMETER_MUTATION). The moments of the
/// optimizer are state too: buffers named "optimizer.<moment>.<parameter>", zero at first. Buffers that the joint graph
/// changes (running statistics) still change. Tied parameters, which are one tensor under several names, follow the sum
/// of their gradients. The outputs are the loss before the step and the user outputs, without the gradients. The step
/// consists of ordinary ATen operators (mul, add, sqrt, where): every backend may take them, and `davit embed` accepts
/// them too. Moments have the dtype of their parameter; bias corrections are float32 scalars.
///
/// Errors (stage verify): invalid_program if verify() refuses `joint`, if it has no loss or no gradients, or if
/// gradients do not fit their parameters; not_found for a pattern that matches no parameter with a gradient;
/// invalid_argument for options that torch.optim refuses, if all parameters are frozen, or if an input already has the
/// name of the learning rate; out_of_memory. O(nodes + parameters). Source: torch.optim.SGD, Adam and AdamW (their
/// single-tensor forms).
[[nodiscard]] Result<ExportedProgram> training_program(const ExportedProgram& joint, const Optimizer& optimizer,
                                                       const TrainOptions& options = {});

}  // namespace davit
