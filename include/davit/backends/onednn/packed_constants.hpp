// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "davit/backends/onednn/library.hpp"
#include "davit/core/content_hash.hpp"
#include "davit/core/shared_bytes.hpp"

namespace davit::onednn_ops {

/// Constants computed from constants at compile time (in a primitive's layout, with a folded batch norm): computed once
/// for all codes, methods and programs with the same numbers, and kept while one of them exists. Safe from several
/// threads.
class PackedConstants {
 public:
  /// Further inputs of a packed constant: other constants (some may be empty) and a number; or, for inputs that only
  /// the codes of one partition know, the partition, other constants, and literals that differ between the codes.
  struct Others {
    float number = 0;
    std::uint64_t partition = 0;
    std::vector<SharedBytes> more{};
    std::vector<std::uint64_t> literals{};
  };
  /// The inputs and the layout of a packed constant.
  struct Key {
    SharedBytes source;
    std::size_t offset = 0;
    Others others{};
    MemoryDesc from;
    MemoryDesc to;
  };

  PackedConstants() : table_(new Table) {}
  PackedConstants(const PackedConstants&) = delete;
  PackedConstants& operator=(const PackedConstants&) = delete;
  ~PackedConstants() { table_->leave(); }

  /// The table of this process. Never destroyed: packed constants may outlive it.
  [[nodiscard]] static PackedConstants& of_process() {
    static PackedConstants& all = *new PackedConstants;
    return all;
  }

  /// Returns a number that no other partition of this process has.
  [[nodiscard]] static std::uint64_t new_partition() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
  }

  /// Returns the bytes of `make()`, or those of an equal earlier call. O(bytes of the inputs), plus `make`.
  template <class Make>
  [[nodiscard]] SharedBytes get(const Key& key, Make&& make) {
    const std::uint64_t hash = hash_of(key);
    if (SharedBytes known = table_->find(hash, key); !known.empty()) return known;
    return table_->add(hash, key, make());
  }

 private:
  [[nodiscard]] static std::span<const std::byte> source_of(const Key& key) noexcept {
    const std::size_t size = key.source.size();
    const std::size_t offset = std::min(key.offset, size);
    return key.source.bytes().subspan(offset, std::min(key.from.get_size(), size - offset));
  }
  [[nodiscard]] static std::uint64_t hash_of(const Key& key) noexcept {
    const std::uint64_t hash = content_hash(source_of(key), key.to.get_size() + key.others.partition);
    return content_hash(std::as_bytes(std::span(key.others.literals)), hash);
  }
  [[nodiscard]] static bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) noexcept {
    return a.size() == b.size() &&
           (a.data() == b.data() || a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
  }
  [[nodiscard]] static bool is_same(const Key& a, const Key& b) noexcept {
    if (a.from != b.from || a.to != b.to || a.others.number != b.others.number ||
        a.others.partition != b.others.partition)
      return false;
    const auto same = [](const SharedBytes& x, const SharedBytes& y) { return same_bytes(x.bytes(), y.bytes()); };
    if (a.others.literals != b.others.literals || !std::ranges::equal(a.others.more, b.others.more, same)) return false;
    return same_bytes(source_of(a), source_of(b));
  }

  struct Table;
  /// Owns the result, and a share of its inputs, for later comparisons.
  struct Entry : SharedBytes::Owner {
    Entry(Table& table_, std::uint64_t hash_, Key key_, SharedBytes bytes_)
        : Owner(&Entry::destroy), table(table_), hash(hash_), key(std::move(key_)), bytes(std::move(bytes_)) {}
    static void destroy(Owner* self) noexcept {
      auto* const entry = static_cast<Entry*>(self);
      Table& table = entry->table;
      table.remove(*entry);
      delete entry;
      table.leave();
    }
    /// Takes a share, unless the last one has gone.
    [[nodiscard]] bool take() noexcept {
      std::size_t shares_now = shares.load(std::memory_order_relaxed);
      while (shares_now != 0)
        if (shares.compare_exchange_weak(shares_now, shares_now + 1, std::memory_order_relaxed)) return true;
      return false;
    }
    [[nodiscard]] SharedBytes share() noexcept { return SharedBytes(bytes.bytes(), this); }

    Table& table;
    std::uint64_t hash;
    Key key;
    SharedBytes bytes;
  };
  /// The entries by hash; destroyed after both the entries and PackedConstants are gone.
  struct Table {
    [[nodiscard]] SharedBytes find(std::uint64_t hash, const Key& key) {
      const std::scoped_lock lock(mutex_);
      return find_locked(hash, key);
    }
    /// Returns the entry that another thread has added meanwhile, or the new one.
    [[nodiscard]] SharedBytes add(std::uint64_t hash, const Key& key, SharedBytes bytes) {
      const std::scoped_lock lock(mutex_);
      if (SharedBytes known = find_locked(hash, key); !known.empty()) return known;
      auto entry = std::make_unique<Entry>(*this, hash, key, std::move(bytes));
      entries_.emplace(hash, entry.get());
      users_.fetch_add(1, std::memory_order_relaxed);
      return entry.release()->share();
    }
    void remove(const Entry& entry) noexcept {
      const std::scoped_lock lock(mutex_);
      const auto [first, last] = entries_.equal_range(entry.hash);
      const auto at = std::find_if(first, last, [&](const auto& each) { return each.second == &entry; });
      if (at != last) entries_.erase(at);
    }
    void leave() noexcept {
      if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }

   private:
    [[nodiscard]] SharedBytes find_locked(std::uint64_t hash, const Key& key) {
      const auto [first, last] = entries_.equal_range(hash);
      for (auto each = first; each != last; ++each)
        if (is_same(each->second->key, key) && each->second->take()) return each->second->share();
      return {};
    }

    std::mutex mutex_;
    std::unordered_multimap<std::uint64_t, Entry*> entries_;
    std::atomic<std::size_t> users_{1};
  };

  Table* table_;
};

}  // namespace davit::onednn_ops
