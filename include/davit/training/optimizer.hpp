// SPDX-License-Identifier: MIT
#pragma once

#include <variant>

namespace davit {

/// Stochastic gradient descent, with momentum unless `momentum` is 0. The learning rate is an input of the training
/// program. Source: torch.optim.SGD, with its names and defaults.
struct sgd {
  double momentum = 0;
  double dampening = 0;     ///< damps the gradient in the momentum, from the second step on
  double weight_decay = 0;  ///< L2 penalty: added to the gradient
  bool nesterov = false;
  bool maximize = false;
};

/// Adam: divides the first moment of the gradients by the root of the second. Source: torch.optim.Adam.
struct adam {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;  ///< L2 penalty: added to the gradient
  bool amsgrad = false;     ///< divides by the largest second moment so far
  bool maximize = false;
};

/// Adam with decoupled weight decay: each step shrinks a parameter by lr * weight_decay * parameter, and the moments do
/// not see the decay. Source: torch.optim.AdamW.
struct adamw {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 1e-2;
  bool amsgrad = false;
  bool maximize = false;
};

/// The optimizers that training_program can write.
using Optimizer = std::variant<sgd, adam, adamw>;

}  // namespace davit
