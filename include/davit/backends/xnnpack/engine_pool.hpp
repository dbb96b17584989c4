// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "davit/backends/xnnpack/engine.hpp"

namespace davit::xnnpack_parts {

/// The engines of one compiled method: a run takes one and gives it back.
class EnginePool {
 public:
  explicit EnginePool(std::uint32_t most) : most_(most) {
    all_.reserve(most);
    free_.reserve(most);
  }

  /// Holds an engine for a run.
  class Turn {
   public:
    Turn(EnginePool& pool, Engine* taken) noexcept : engine(taken), pool_(pool) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { pool_.give_back(engine); }
    Engine* engine;

   private:
    EnginePool& pool_;
  };

  void put(std::unique_ptr<Engine> engine) {
    const std::lock_guard lock(mutex_);
    free_.push_back(engine.get());
    all_.push_back(std::move(engine));
  }

  /// Takes the engine that came back last. If all are in use it makes one more, up to the limit, and waits beyond that.
  template <class Make>
  [[nodiscard]] Turn take(Make&& make) {
    std::unique_lock lock(mutex_);
    if (free_.empty() && all_.size() + pending_ < most_) {
      ++pending_;
      lock.unlock();
      std::unique_ptr<Engine> engine = make();
      lock.lock();
      --pending_;
      if (engine != nullptr) {
        Engine* made = engine.get();
        all_.push_back(std::move(engine));
        return {*this, made};
      }
      most_ = static_cast<std::uint32_t>(all_.size());  // no memory for another engine
    }
    came_back_.wait(lock, [&] { return !free_.empty(); });
    Engine* engine = free_.back();
    free_.pop_back();
    return {*this, engine};
  }

 private:
  void give_back(Engine* engine) noexcept {
    {
      const std::lock_guard lock(mutex_);
      free_.push_back(engine);
    }
    came_back_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable came_back_;
  std::vector<std::unique_ptr<Engine>> all_;
  std::vector<Engine*> free_;
  std::uint32_t pending_ = 0;
  std::uint32_t most_;
};

}  // namespace davit::xnnpack_parts
