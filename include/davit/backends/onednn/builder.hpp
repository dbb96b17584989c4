// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "davit/backends/onednn/code.hpp"
#include "davit/backends/onednn/descriptors.hpp"
#include "davit/backends/onednn/fusion.hpp"
#include "davit/backends/onednn/packed_constants.hpp"
#include "davit/core/block_pool.hpp"

/// Changes of a tensor's sizes without a copy.
namespace davit::onednn_ops {

/// The same elements in other sizes, if the layout allows it without moving any. Throws dnnl::error for another number
/// of elements, which only an inconsistent graph has.
[[nodiscard]] inline std::optional<Place> reshaped(const Place& place, const Dims& dims) {
  const Dims own = dims_of(place.md);
  if (count_of(own) != count_of(dims))
    throw dnnl::error(dnnl_invalid_arguments, "a result has other sizes than the graph says");
  if (is_row_major(place.md)) return Place{plain(dims, type_of(place.md)), place.storage, place.offset};
  if (own == dims) return place;
  const Blocking blocking = blocking_of(place.md);
  for (std::size_t d = 0; d < own.size(); ++d)
    if (own[d] == 1 && blocking.block_of(static_cast<std::int64_t>(d)) > 1)
      return std::nullopt;  // 2.6 loses the padding
  const MemoryDesc md = place.md.reshape(dims, true);
  if (!md) return std::nullopt;
  return Place{md, place.storage, place.offset};
}

/// Dimension d of the result is dimension permutation[d] of `place`.
[[nodiscard]] inline Place permuted(const Place& place, const std::vector<int>& permutation) {
  std::vector<int> inverse(permutation.size());  // the library's permutation maps source to destination dimensions
  for (std::size_t d = 0; d < permutation.size(); ++d)
    inverse[static_cast<std::size_t>(permutation[d])] = static_cast<int>(d);
  return {place.md.permute_axes(inverse), place.storage, place.offset};
}

/// Elements first, first + step... of one dimension of a place without blocks. For oneDNN a dimension must hold a whole
/// step after its last element: with several elements, count * step must not exceed its size.
[[nodiscard]] inline Place sliced(const Place& place, std::size_t axis, std::int64_t first, std::int64_t count,
                                  std::int64_t step) {
  Dims dims = dims_of(place.md);
  Dims strides = blocking_of(place.md).strides;
  const auto offset = static_cast<std::size_t>(first * strides[axis]) * size_of(type_of(place.md));
  dims[axis] = count;
  if (count > 1) strides[axis] *= step;
  return {strided(dims, strides, type_of(place.md)), place.storage, place.offset + offset};
}
/// Drops a dimension of size 1 of a place without blocks.
[[nodiscard]] inline Place without_dimension(const Place& place, std::size_t axis) {
  Dims dims = dims_of(place.md);
  Dims strides = blocking_of(place.md).strides;
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(axis));
  if (dims.empty()) {
    dims.push_back(1);
    strides.push_back(1);
  }
  return {strided(dims, strides, type_of(place.md)), place.storage, place.offset};
}

/// The offset in bytes of part `first` of a concatenation along `axis`, if the part is contiguous in it, in the part's
/// own layout.
[[nodiscard]] inline std::optional<std::size_t> part_offset(const MemoryDesc& whole, const MemoryDesc& part,
                                                            std::size_t axis, std::int64_t first) {
  const Blocking w = blocking_of(whole);
  const Blocking p = blocking_of(part);
  const auto element = static_cast<std::int64_t>(size_of(type_of(whole)));
  if (!w.known || !p.known || type_of(part) != type_of(whole) || w.blocks != p.blocks || w.axes != p.axes)
    return std::nullopt;
  const Dims whole_dims = dims_of(whole);
  const Dims dims = dims_of(part);
  const std::int64_t block = w.block_of(static_cast<std::int64_t>(axis));
  if (first % block != 0 || dims[axis] % block != 0) return std::nullopt;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const std::int64_t b = w.block_of(static_cast<std::int64_t>(d));
    if (d == axis || (dims[d] + b - 1) / b == 1) continue;
    if (w.strides[d] != p.strides[d] || w.strides[d] > w.strides[axis]) return std::nullopt;
  }
  if (dims[axis] != block && p.strides[axis] != w.strides[axis]) return std::nullopt;
  if (static_cast<std::int64_t>(part.get_size()) != dims[axis] / block * w.strides[axis] * element) return std::nullopt;
  if (static_cast<std::int64_t>(whole.get_size()) != whole_dims[axis] / block * w.strides[axis] * element)
    return std::nullopt;
  return static_cast<std::size_t>(first / block * w.strides[axis] * element);
}

/// Collects the steps of a partition: tracks the place of every value, inserts reorders, and counts the remaining uses.
///
/// A trial builder makes no primitives and reads no constants: it only finds out whether the library has the
/// primitives. Functions throw dnnl::error if it has not.
class Builder {
 public:
  struct Role {
    int argument;
    Place place;
  };

  /// `partition`: a PackedConstants number, if the partition has several codes; else 0.
  Builder(GraphModuleView graph, Code& code, bool trial, std::uint64_t partition = 0)
      : graph_(graph), code_(code), partition_(partition), trial_(trial), uses_(graph.values.size(), 0) {
    attributes_.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  }

  [[nodiscard]] GraphModuleView graph() const noexcept { return graph_; }
  [[nodiscard]] bool trial() const noexcept { return trial_; }
  [[nodiscard]] const dnnl::primitive_attr& attributes() const noexcept { return attributes_; }
  [[nodiscard]] Dims sizes(ValueId v) const { return sizes_of(graph_, v); }
  [[nodiscard]] DataType type(ValueId v) const noexcept { return data_type_of(graph_.values[v].dtype); }

  /// Adds to the number of uses of a value, before the first use.
  void expect_use(ValueId v, std::uint32_t times = 1) noexcept { uses_[v] += times; }
  /// Sets the handle and name of the following steps. `threads`: as set in the library.
  void begin_step(DebugHandle handle, std::string_view name, int threads) noexcept {
    handle_ = handle;
    name_ = name;
    threads_ = threads;
  }

  [[nodiscard]] int threads() const noexcept { return threads_; }  ///< of the step

  // -- places --------------------------------------------------------------------------------------------------------

  [[nodiscard]] std::uint32_t add_storage(StorageKind kind, std::size_t bytes, std::uint32_t index = 0) {
    code_.storages.push_back({.kind = kind, .index = index, .bytes = bytes});
    residents_.emplace_back();
    return static_cast<std::uint32_t>(code_.storages.size() - 1);
  }
  [[nodiscard]] Place add_scratch(const MemoryDesc& md) {
    return {md, add_storage(StorageKind::scratch, md.get_size())};
  }
  /// Allocates constant bytes, zeroed. Throws dnnl::error if there is no memory.
  [[nodiscard]] Place add_constant(const MemoryDesc& md) {
    return add_constant(md, filled(md, [](std::byte*) {}));
  }
  [[nodiscard]] Place add_constant(const MemoryDesc& md, SharedBytes bytes, std::size_t offset = 0) {
    code_.constants.push_back(std::move(bytes));
    return {md,
            add_storage(StorageKind::constant, code_.constants.back().size(),
                        static_cast<std::uint32_t>(code_.constants.size() - 1)),
            offset};
  }
  /// Makes a tensor of one element, broadcast to `rank` dimensions.
  [[nodiscard]] Place number(float x, std::size_t rank) {
    const MemoryDesc md = plain(Dims(rank, 1), DataType::f32);
    return trial_ ? add_scratch(md)
                  : add_constant(md, filled(md, [x](std::byte* to) { std::memcpy(to, &x, sizeof x); }));
  }
  /// Makes a constant in the layout `md` with `fill(bytes)`, or shares the one that another code made so from the same
  /// constants.
  template <class Fill>
  [[nodiscard]] Place derived_constant(const Place& from, const MemoryDesc& md, Fill&& fill,
                                       const PackedConstants::Others& others = {}) {
    const SharedBytes source = code_.constants[code_.storages[from.storage].index];
    return add_constant(md, PackedConstants::of_process().get({source, from.offset, others, from.md, md},
                                                              [&] { return filled(md, fill); }));
  }
  /// As above, for a constant that depends on several constants, and on the node, which other partitions do not know.
  /// `literals`: inputs of `fill` that depend on the sizes of a code.
  template <class Fill>
  [[nodiscard]] Place node_constant(std::span<const Place> from, const MemoryDesc& md, NodeId node, Fill&& fill,
                                    std::vector<std::uint64_t> literals = {}) {
    if (partition_ == 0 || from.empty()) return add_constant(md, filled(md, fill));
    PackedConstants::Others others{.partition = partition_, .more = {}, .literals = std::move(literals)};
    others.literals.push_back(node);
    for (const Place& each : from.subspan(1)) {
      others.literals.push_back(each.offset);
      others.more.push_back(code_.constants[code_.storages[each.storage].index]);
    }
    return derived_constant(from[0], md, fill, others);
  }
  /// Makes a constant in the layout `md` from another one with `fill(bytes)`, but only if it is used in that layout.
  /// `others`: the other inputs of `fill`; none: `fill` copies.
  [[nodiscard]] Place lazy_constant(const Place& from, const MemoryDesc& md, std::function<void(std::byte*)> fill,
                                    const PackedConstants::Others& others) {
    const Place made = add_constant(md, {});
    code_.storages[made.storage].bytes = md.get_size();
    lazy_.emplace(made.storage, Lazy{from, md, std::move(fill), others});
    return made;
  }
  /// Makes a constant in the layout `md` with `pack(from, to)` from another one. A lazy `from` is made for the call
  /// only.
  template <class Pack>
  [[nodiscard]] Place packed_constant(const Place& from, const MemoryDesc& md, Pack&& pack) {
    const auto lazy = lazy_.find(from.storage);
    const bool direct = lazy != lazy_.end() && from.offset == 0 && from.md.get_size() == lazy->second.md.get_size() &&
                        is_row_major(from.md);
    if (!direct) make(from.storage);
    return derived_constant(
        direct ? lazy->second.from : from, md,
        [&](std::byte* to) {
          const SharedBytes own = direct ? SharedBytes::allocate(from.md.get_size()) : SharedBytes();
          if (direct && own.writable() == nullptr) throw dnnl::error(dnnl_out_of_memory, "no memory for a constant");
          if (direct) lazy->second.fill(own.writable());
          pack(direct ? own.writable() : constant_data(from), to);
        },
        direct ? lazy->second.others : PackedConstants::Others{});
  }
  [[nodiscard]] bool is_constant(const Place& place) const noexcept {
    return place.is_set() && code_.storages[place.storage].kind == StorageKind::constant;
  }
  [[nodiscard]] bool is_constant(ValueId v) const noexcept {
    const auto at = places_.find(v);
    return at != places_.end() && is_constant(at->second);
  }
  [[nodiscard]] std::byte* constant_data(const Place& place) {
    make(place.storage);
    return code_.constants[code_.storages[place.storage].index].writable() + place.offset;
  }

  /// Returns the bytes of a constant, shared.
  [[nodiscard]] SharedBytes constant_bytes(const Place& place) {
    make(place.storage);
    return code_.constants[code_.storages[place.storage].index].part(place.offset, place.md.get_size());
  }

  /// Records the place of a value, viewed in the graph's sizes. Throws dnnl::error if the place has another number of
  /// elements.
  void place(ValueId v, const Place& where) {
    const Dims dims = sizes(v);
    if (data_type_of(graph_.values[v].dtype) == DataType::undef) {  // a dtype for kernels alone: bytes
      places_[v] = where;
      residents_[where.storage].push_back(v);
      return;
    }
    if (count_of(dims_of(where.md)) != count_of(dims))
      throw dnnl::error(dnnl_invalid_arguments, "a result has other sizes than the graph says");
    const Place& placed = places_[v] = dims_of(where.md) == dims ? where : viewed(where, dims);
    residents_[placed.storage].push_back(v);
  }
  [[nodiscard]] const Place& place_of(ValueId v) const {
    const auto at = places_.find(v);
    if (at == places_.end() || !at->second.is_set())
      throw dnnl::error(dnnl_invalid_arguments, "a value is used before it is made");
    return at->second;
  }
  /// Counts down the uses of the value.
  void release(ValueId v) noexcept { --uses_[v]; }

  /// True if only the next step reads the storage of `v`, and `v` is the only value in it. A cached reorder may have
  /// further uses.
  [[nodiscard]] bool is_last_use(ValueId v) const {
    const Place& p = place_of(v);
    const Storage& s = code_.storages[p.storage];
    std::uint32_t uses = 0;
    for (const ValueId other : residents_[p.storage]) uses += uses_[other];
    return s.kind == StorageKind::scratch && s.parent == no_id && !has_parts(p.storage) && uses == 1 && p.offset == 0 &&
           p.md.get_size() == s.bytes &&
           std::ranges::none_of(reorders_, [&](const Reorder& r) { return r.to.storage == p.storage; });
  }

  // -- reorders ------------------------------------------------------------------------------------------------------

  /// Returns the place in another layout of the same sizes. If the layout differs, a constant is reordered now, another
  /// value at each run.
  [[nodiscard]] Place reordered(const Place& from, const MemoryDesc& md) {
    if (from.md == md) return from;
    if (is_row_major(from.md) && is_row_major(md) && type_of(from.md) == type_of(md))
      return {md, from.storage, from.offset};
    for (const Reorder& r : reorders_)
      if (r.from.storage == from.storage && r.from.offset == from.offset && r.from.md == from.md && r.to.md == md)
        return r.to;
    const dnnl::reorder::primitive_desc pd = reorder_descriptor(attributes_, from.md, md);
    if (!pd) throw dnnl::error(dnnl_unimplemented, "no reorder between these layouts");
    const Place to = is_constant(from) && !trial_ ? reorder_constant(pd, from, md) : reorder_later(pd, from, md);
    // only reorders of constants and inputs are cached: later steps may overwrite scratch
    if (code_.storages[from.storage].kind != StorageKind::scratch) reorders_.push_back({from, to});
    return to;
  }
  /// Returns the place in row-major order.
  [[nodiscard]] Place row_major(const Place& from) {
    return is_row_major(from.md) ? from : reordered(from, plain(dims_of(from.md), type_of(from.md)));
  }
  /// Returns the place in other sizes of as many elements, with a reorder first if the layout does not allow a view.
  [[nodiscard]] Place viewed(const Place& from, const Dims& dims) {
    if (std::optional<Place> direct = attempt([&] { return reshaped(from, dims); })) return *direct;
    return *reshaped(row_major(from), dims);
  }
  /// Returns the place of a weight, a bias or a statistic: in row-major order, in these sizes.
  [[nodiscard]] Place parameter(ValueId v, const Dims& dims) { return viewed(row_major(place_of(v)), dims); }

  // -- steps ---------------------------------------------------------------------------------------------------------

  template <class P, class PrimitiveDesc>
  void add_step(const PrimitiveDesc& pd, std::initializer_list<Role> roles, std::span<const Role> more = {}) {
    const auto first = static_cast<std::uint32_t>(code_.arguments.size());
    for (const Role& role : roles) add_argument(role);
    for (const Role& role : more) add_argument(role);
    if (const MemoryDesc scratch = pd.scratchpad_desc(); scratch && scratch.get_size() != 0)
      add_argument({DNNL_ARG_SCRATCHPAD, add_scratch(scratch)});
    const auto count = static_cast<std::uint32_t>(code_.arguments.size()) - first;
    code_.steps.push_back({trial_ ? dnnl::primitive() : P(pd), {first, count}, handle_, name_, threads_});
  }
  /// Writes zeros to a whole storage.
  void add_zeros(const Place& to) {
    const auto first = static_cast<std::uint32_t>(code_.arguments.size());
    add_argument({0, to});
    code_.steps.push_back({{}, {first, 1}, handle_, name_, threads_, StepKind::zeros});
  }
  /// Copies a place in row-major order to another, broadcasting dimensions of size 1.
  void add_broadcast(const Place& from, const Place& to) {
    const auto first = static_cast<std::uint32_t>(code_.arguments.size());
    add_argument({0, from});
    add_argument({1, to});
    const Dims sizes = dims_of(to.md), own = dims_of(from.md);
    Dims strides = row_major_strides(own);
    for (std::size_t d = 0; d < own.size(); ++d)
      if (own[d] != sizes[d]) strides[d] = 0;
    const auto at = static_cast<std::int64_t>(code_.dims.size());
    for (const Dims& list : {sizes, strides, row_major_strides(sizes)})
      code_.dims.insert(code_.dims.end(), list.begin(), list.end());
    code_.steps.push_back(
        {{}, {first, 2}, handle_, name_, threads_, StepKind::broadcast, at, static_cast<std::int64_t>(sizes.size())});
  }
  /// Calls one of portable's kernels; all places are in row-major order.
  void add_kernel(KernelStep step, std::span<const Place> operands, std::span<const Place> results) {
    const auto first = static_cast<std::uint32_t>(code_.arguments.size());
    for (const Place& operand : operands) add_argument({0, operand});
    for (const Place& result : results) add_argument({0, result});
    code_.steps.push_back({{},
                           {first, static_cast<std::uint32_t>(operands.size() + results.size())},
                           handle_,
                           name_,
                           threads_,
                           StepKind::kernel,
                           static_cast<std::int64_t>(code_.kernels.size())});
    code_.kernels.push_back(std::move(step));
  }
  /// Returns a table of values by id: the index in the list. Entries of other values are undefined; valid until the
  /// next call.
  [[nodiscard]] std::span<const std::uint32_t> numbered(std::span<const ValueId> list) {
    numbers_.resize(graph_.values.size());
    for (std::uint32_t i = 0; i < list.size(); ++i) numbers_[list[i]] = i;
    return numbers_;
  }
  /// Checks the values of a place without gaps.
  void add_check(const Place& at) {
    const auto first = static_cast<std::uint32_t>(code_.arguments.size());
    add_argument({0, at});
    code_.steps.push_back({{}, {first, 1}, handle_, "check", threads_, StepKind::check_values});
  }

  /// Returns the root block of a place, and the offset from its start.
  [[nodiscard]] std::pair<std::uint32_t, std::size_t> block_of(const Place& place) const noexcept {
    return code_.root_of(place);
  }
  [[nodiscard]] std::size_t bytes_of(std::uint32_t storage) const noexcept { return code_.storages[storage].bytes; }
  /// True for a root block in scratch.
  [[nodiscard]] bool is_free_scratch(std::uint32_t storage) const noexcept {
    const Storage& s = code_.storages[storage];
    return s.kind == StorageKind::scratch && s.parent == no_id && s.output == no_id;
  }
  /// Makes a block part of another: its values are then computed in that place.
  void join(std::uint32_t part, std::uint32_t whole, std::size_t offset) {
    code_.storages[part].parent = whole;
    code_.storages[part].parent_offset = offset;
    wholes_.push_back(whole);
  }

  /// Makes a value an output of the delegate: in row-major order, in its own storage.
  [[nodiscard]] std::uint32_t claim_output(ValueId v, std::uint32_t output) {
    Place p = place_of(v);
    const Dims dims = sizes(v);
    const Storage& s = code_.storages[p.storage];
    const bool own = s.kind == StorageKind::scratch && s.parent == no_id && s.output == no_id && p.offset == 0 &&
                     p.md.get_size() == s.bytes;
    if (!own || !is_row_major(p.md)) {
      const Place to = add_scratch(plain_of(graph_, v));
      if (dims_of(p.md) != dims_of(to.md)) p = viewed(p, dims);
      copy(p, to);
      p = to;
    }
    code_.storages[p.storage].output = output;
    return p.storage;
  }
  /// Copies between places of the same sizes, at each run.
  void copy(const Place& from, const Place& to) {
    const dnnl::reorder::primitive_desc pd = reorder_descriptor(attributes_, from.md, to.md);
    if (!pd) throw dnnl::error(dnnl_unimplemented, "no reorder between these layouts");
    add_step<dnnl::reorder>(pd, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  }

 private:
  template <class Fill>
  [[nodiscard]] SharedBytes filled(const MemoryDesc& md, Fill&& fill) {
    SharedBytes bytes = blocks_.allocate(md.get_size());
    if (bytes.size() != md.get_size()) throw dnnl::error(dnnl_out_of_memory, "no memory for a constant");
    fill(bytes.writable());
    return bytes;
  }
  /// The recipe of a constant that is made only if it is used.
  struct Lazy {
    Place from;
    MemoryDesc md;
    std::function<void(std::byte*)> fill;
    PackedConstants::Others others;
  };
  /// Makes a lazy constant now.
  void make(std::uint32_t storage) {
    const auto at = lazy_.find(storage);
    if (at == lazy_.end()) return;
    const Lazy lazy = std::move(at->second);
    lazy_.erase(at);
    const Place made = derived_constant(lazy.from, lazy.md, lazy.fill, lazy.others);
    code_.constants[code_.storages[storage].index] = code_.constants[code_.storages[made.storage].index];
  }

  struct Reorder {
    Place from;
    Place to;
  };

  [[nodiscard]] bool has_parts(std::uint32_t storage) const noexcept {
    return std::ranges::find(wholes_, storage) != wholes_.end();
  }

  void add_argument(const Role& role) {
    make(role.place.storage);
    const auto step = static_cast<std::uint32_t>(code_.steps.size());
    Storage& s = code_.storages[role.place.storage];
    s.first = std::min(s.first, step);
    s.last = std::max(s.last, step);
    code_.arguments.push_back({role.argument, static_cast<std::uint32_t>(code_.places.size())});
    code_.places.push_back(role.place);
  }
  [[nodiscard]] Place reorder_constant(const dnnl::reorder::primitive_desc& pd, const Place& from,
                                       const MemoryDesc& md) {
    return packed_constant(from, md, [&](std::byte* own, std::byte* to) {
      const dnnl::memory source(from.md, cpu(), own);
      const dnnl::memory destination(md, cpu(), to);
      const dnnl::memory scratch(pd.scratchpad_desc(), cpu());
      dnnl::stream stream(cpu());
      dnnl::reorder(pd).execute(stream,
                                {{DNNL_ARG_FROM, source}, {DNNL_ARG_TO, destination}, {DNNL_ARG_SCRATCHPAD, scratch}});
      stream.wait();
    });
  }
  [[nodiscard]] Place reorder_later(const dnnl::reorder::primitive_desc& pd, const Place& from, const MemoryDesc& md) {
    const Place to = add_scratch(md);
    const std::string_view name = std::exchange(name_, "reorder");
    add_step<dnnl::reorder>(pd, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
    name_ = name;
    return to;
  }

  GraphModuleView graph_;
  Code& code_;
  std::uint64_t partition_;
  bool trial_;
  dnnl::primitive_attr attributes_;
  std::unordered_map<ValueId, Place> places_;     ///< of values with a place: a trial visits few values of a graph
  std::vector<std::uint32_t> uses_;               ///< per value: remaining uses
  std::vector<std::vector<ValueId>> residents_;   ///< per storage: the values in it
  std::vector<std::uint32_t> wholes_;             ///< storages with parts
  std::unordered_map<std::uint32_t, Lazy> lazy_;  ///< by storage
  std::vector<Reorder> reorders_;
  BlockPool blocks_;                    ///< of constants
  std::vector<std::uint32_t> numbers_;  ///< the table of numbered()
  DebugHandle handle_ = no_debug_handle;
  std::string_view name_;
  int threads_ = 0;
};

}  // namespace davit::onednn_ops
