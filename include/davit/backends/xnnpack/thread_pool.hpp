// SPDX-License-Identifier: MIT
#pragma once

#include <pthreadpool.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>

#include "davit/kernels/function_ref.hpp"
#include "davit/kernels/thread_team.hpp"

namespace davit::xnnpack_parts {

/// A pool of threads that operators share; null for one thread.
using ThreadPool = std::shared_ptr<pthreadpool>;

/// The process's pool of that many threads, or as many as the machine has: the same one for all who ask while it lives.
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

/// Calls f(first, count) for stretches of 0..n, on the pool's threads where there is enough to do.
template <class F>
void parallel_for(pthreadpool* pool, std::size_t n, std::size_t least, F&& f) {
  if (pool == nullptr || n < 2 * least) return f(std::size_t{0}, n);
  const std::size_t threads = pthreadpool_get_threads_count(pool);
  const std::size_t tile = std::max(least, (n + threads - 1) / threads);
  const auto call = [](void* context, std::size_t first, std::size_t count) {
    (*static_cast<std::remove_reference_t<F>*>(context))(first, count);
  };
  pthreadpool_parallelize_1d_tile_1d(pool, call, &f, n, tile, 0);
}

/// Source: kernels::ThreadTeam::Runner.
inline void run_on_pool(void* pool, std::size_t count, kernels::FunctionRef<void(std::size_t)> work) {
  const auto call = [](void* context, std::size_t part) { (*static_cast<kernels::FunctionRef<void(std::size_t)>*>(context))(part); };
  pthreadpool_parallelize_1d(static_cast<pthreadpool*>(pool), call, &work, count, 0);
}
/// While it lives, portable's kernels share their work among the pool's threads; nullptr is this thread alone.
class KernelThreads {
 public:
  explicit KernelThreads(pthreadpool* pool) : team_(pool == nullptr ? 1 : pthreadpool_get_threads_count(pool), run_on_pool, pool), scope_(team_.size() > 1 ? &team_ : nullptr) {}

 private:
  kernels::ThreadTeam team_;
  kernels::TeamScope scope_;
};

}  // namespace davit::xnnpack_parts
