// SPDX-License-Identifier: MIT
#pragma once

#include <variant>

namespace davit {

/// Stochastic gradient descent, with momentum if that is not 0. The learning rate is an input of the training program.
/// Source: torch.optim.SGD; names and defaults are its own.
struct sgd {
  double momentum = 0;
  double dampening = 0;     ///< of the gradient in the momentum, from the second step on
  double weight_decay = 0;  ///< L2 penalty: added to the gradient
  bool nesterov = false;
  bool maximize = false;
};

/// Adam: steps by the first and second moments of the gradients. Source: torch.optim.Adam.
struct adam {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;  ///< L2 penalty: added to the gradient
  bool amsgrad = false;     ///< divides by the largest second moment so far
  bool maximize = false;
};

/// Adam whose weight decay does not go through the moments: parameters shrink by lr * weight_decay of themselves.
/// Source: torch.optim.AdamW.
struct adamw {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 1e-2;
  bool amsgrad = false;
  bool maximize = false;
};

/// How parameters follow their gradients.
using Optimizer = std::variant<sgd, adam, adamw>;

}  // namespace davit
