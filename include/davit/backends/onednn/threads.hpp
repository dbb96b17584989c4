// SPDX-License-Identifier: MIT
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>

#include "davit/kernels/thread_team.hpp"

namespace davit::onednn_ops {

/// The OpenMP runtime that the library was linked with, found at run time: Debian's uses libgomp, others libomp or
/// libiomp5, which have the entry points that g++ compiles parallel regions to. Without OpenMP (oneDNN built for TBB or
/// without threads) the functions are null, and the library manages its threads itself.
struct OpenMp {
  int (*max_threads)() = nullptr;
  void (*set_threads)(int) = nullptr;
  void (*parallel)(void (*run)(void*), void* data, unsigned threads, unsigned flags) = nullptr;

  [[nodiscard]] static const OpenMp& loaded() noexcept {
    static const OpenMp functions{reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads")),
                                  reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads")),
                                  reinterpret_cast<decltype(parallel)>(dlsym(RTLD_DEFAULT, "GOMP_parallel"))};
    return functions;
  }
};

/// Sets the number of threads of primitives until the end of the scope, on the calling thread alone: at most the
/// machine's. 0: unchanged.
class ThreadScope {
 public:
  explicit ThreadScope(int threads) noexcept {
    const OpenMp& omp = OpenMp::loaded();
    if (omp.set_threads == nullptr || omp.max_threads == nullptr) return;
    before_ = now_ = omp.max_threads();
    use(threads);
  }
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;
  ~ThreadScope() { use(0); }

  /// Changes the number from here on; 0: the number before the scope.
  void use(int threads) noexcept {
    const int wanted = threads > 0 ? std::min(threads, most()) : before_;
    if (wanted == now_ || before_ == 0) return;
    OpenMp::loaded().set_threads(wanted);
    now_ = wanted;
  }

 private:
  [[nodiscard]] static int most() noexcept {
    static const int threads = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 1024u));
    return threads;
  }

  int before_ = 0;  ///< 0: it cannot be set
  int now_ = 0;
};

/// Runs the parts of a ThreadTeam's work on the primitives' threads: other threads would wait for these, which spin for
/// a while after each primitive. There must be an OpenMP runtime; it may provide fewer threads. Source:
/// kernels::ThreadTeam::Runner.
inline void run_on_openmp(void*, std::size_t count, kernels::FunctionRef<void(std::size_t part)> work) {
  struct Parts {
    kernels::FunctionRef<void(std::size_t part)> work;
    std::size_t count;
    std::atomic<std::size_t> next{0};
  } parts{work, count};
  const auto run = [](void* data) {
    Parts& shared = *static_cast<Parts*>(data);
    for (std::size_t part = shared.next++; part < shared.count; part = shared.next++) shared.work(part);
  };
  OpenMp::loaded().parallel(run, &parts, static_cast<unsigned>(count), 0);
}

}  // namespace davit::onednn_ops
