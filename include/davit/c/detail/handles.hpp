// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace davit::c_api {

/// Types of handles, in the low two bits of a handle.
enum class HandleType : std::uintptr_t { program = 1, session = 2, error = 3 };

/// The live objects of one handle type.
///
/// A handle is a number, not an address, and none is given twice: a handle that was freed, is of another type or was
/// never made is found out without a look at memory. An object that is in use in one thread and freed in another ends
/// with the use. Each call O(log handles). Out of memory: std::bad_alloc.
template <class Object, class Handle, HandleType type>
class Handles {
 public:
  /// The only table. It is never destroyed, so that handles may be freed while the process exits.
  [[nodiscard]] static Handles& table() noexcept {
    alignas(Handles) static std::byte memory[sizeof(Handles)];
    static auto* const made = new (memory) Handles();
    return *made;
  }

  [[nodiscard]] Handle* add(std::shared_ptr<Object> object) {
    const std::scoped_lock lock(mutex_);
    const std::uintptr_t id = next_ << 2 | static_cast<std::uintptr_t>(type);
    objects_.emplace(id, std::move(object));
    ++next_;
    return reinterpret_cast<Handle*>(id);
  }
  /// Returns the object, or null if the handle is none of this table.
  [[nodiscard]] std::shared_ptr<Object> find(const Handle* handle) noexcept {
    const std::scoped_lock lock(mutex_);
    const auto at = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    return at == objects_.end() ? nullptr : at->second;
  }
  /// Ends a handle. Returns its object, or null.
  std::shared_ptr<Object> remove(const Handle* handle) noexcept {
    const std::scoped_lock lock(mutex_);
    auto node = objects_.extract(reinterpret_cast<std::uintptr_t>(handle));
    return node.empty() ? nullptr : std::move(node.mapped());
  }

 private:
  std::mutex mutex_;
  std::map<std::uintptr_t, std::shared_ptr<Object>> objects_;
  std::uintptr_t next_ = 0x100;  // handles below 0x400 are no objects: see last_resort in davit.cpp
};

}  // namespace davit::c_api
