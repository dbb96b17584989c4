// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "davit/backend/program_body.hpp"
#include "davit/backends/xnnpack/engine.hpp"
#include "davit/backends/xnnpack/plan.hpp"
#include "davit/backends/xnnpack/thread_pool.hpp"

namespace davit::xnnpack_parts {

/// A compiled partition: its plan, and the engines that its sessions share.
struct Code {
  Code(std::shared_ptr<const ProgramBody> b, Plan p, ThreadPool t, std::uint32_t most)
      : body(std::move(b)), plan(std::move(p)), pool(std::move(t)), turns(most) {}
  std::shared_ptr<const ProgramBody> body;
  Plan plan;
  ThreadPool pool;
  EnginePool turns;
};

}  // namespace davit::xnnpack_parts
