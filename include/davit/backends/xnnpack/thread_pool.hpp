// SPDX-License-Identifier: MIT
#pragma once

#include <pthreadpool.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "davit/kernels/function_ref.hpp"

namespace davit::xnnpack_parts {

/// A thread pool that operators share; null for one thread.
using ThreadPool = std::shared_ptr<pthreadpool>;

/// Returns the process's pool of that many threads, at most the machine's: one pool for all callers while it lives.
[[nodiscard]] inline ThreadPool thread_pool(std::size_t threads) {
  threads = std::min<std::size_t>(threads, std::max(std::thread::hardware_concurrency(), 1u));
  if (threads <= 1) return nullptr;
  static std::mutex mutex;
  static std::map<std::size_t, std::weak_ptr<pthreadpool>> pools;
  const std::lock_guard lock(mutex);
  std::weak_ptr<pthreadpool>& known = pools[threads];
  if (ThreadPool pool = known.lock()) return pool;
  ThreadPool pool(pthreadpool_create(threads), pthreadpool_destroy);
  known = pool;
  return pool;
}

/// Source: kernels::ThreadTeam::Runner.
inline void run_on_pool(void* pool, std::size_t count, kernels::FunctionRef<void(std::size_t)> work) {
  const auto call = [](void* context, std::size_t part) {
    (*static_cast<kernels::FunctionRef<void(std::size_t)>*>(context))(part);
  };
  pthreadpool_parallelize_1d(static_cast<pthreadpool*>(pool), call, &work, count, 0);
}

}  // namespace davit::xnnpack_parts
