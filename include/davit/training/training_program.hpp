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

/// What a training program is beside its optimizer.
struct TrainOptions {
  /// Patterns of parameters that stay as they are: "encoder.*", "head.bias"; `*` stands for any characters, `?` for
  /// one.
  std::vector<Name> frozen{};
  /// Calls whose gradients are summed, each divided by this number, until one step is made: batches that many times as
  /// large as the program's. Parameters and moments change in every `accumulate`-th call.
  std::uint32_t accumulate = 1;
  Name learning_rate = "lr";  ///< the name of the input behind the user inputs: a float32 tensor without dimensions
};

/// The program that trains: the forward and the backward pass of a joint graph, then one step of the optimizer.
///
/// `joint` has a LOSS_OUTPUT and GRADIENT_TO_PARAMETER outputs, as torch.export's _export_forward_backward writes them.
/// In the result the parameters that get a gradient and are not frozen are state (PARAMETER_MUTATION), and so are the
/// moments of the optimizer: buffers named "optimizer.<moment>.<parameter>", zero at first. Buffers that the joint
/// graph changes (running statistics) still change. Parameters that are one tensor under several names
/// follow the sum of their gradients. Gradients are no outputs; the loss, which is that of before the
/// step, and the user outputs are. The step is made of ordinary ATen operators (mul, add, sqrt, where): every backend
/// may take them, `davit embed` too. Moments have the dtype of their parameter; bias corrections are float32 scalars.
///
/// Errors (stage verify): invalid_program for what verify() says of `joint`, for a program without a loss or without
/// gradients, or whose gradients do not fit their parameters; not_found for a pattern that no parameter with a gradient
/// matches; invalid_argument for options that torch.optim refuses, all parameters frozen, and a name of the learning
/// rate that an input has; out_of_memory. O(nodes + parameters). Source: torch.optim.SGD, Adam and AdamW (their
/// single-tensor forms).
[[nodiscard]] Result<ExportedProgram> training_program(const ExportedProgram& joint, const Optimizer& optimizer,
                                                       const TrainOptions& options = {});

}  // namespace davit
