// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "davit/backends/xnnpack/convolution_rules.hpp"
#include "davit/backends/xnnpack/elementwise_rules.hpp"

namespace davit::xnnpack_parts {

namespace detail {

/// Why a value cannot be passed on as it is, or nullptr: float32 or int8.
[[nodiscard]] constexpr const char* refuses_moved(const Call& call, std::string_view name = "self") noexcept {
  const ValueId x = call.value(name);
  const bool integers = call.is_tensor(x) && call.dtype(x) == ScalarType::int8;
  const ScalarType dtype = integers ? ScalarType::int8 : ScalarType::float32;
  if (const char* reason = refuses_tensor(call, x, dtype)) return reason;
  for (std::size_t i = 0; i < call.outputs(); ++i)
    if (const char* reason = refuses_tensor(call, call.output(i), dtype)) return reason;
  return call.outputs() == 0 ? "no output" : nullptr;
}

/// The order of a view's dimensions, if it needs no copy: runs of old dimensions that make up runs of new ones must lie
/// one after another in memory. Nothing if that cannot be told.
[[nodiscard]] constexpr std::optional<Order> order_of_view(std::span<const Dim> from, const Order& order,
                                                           std::span<const Dim> to) noexcept {
  const auto is_one = [](const Dim& d) { return d.is_static() && d.value == 1; };
  std::array<std::uint8_t, max_dims> position{};  // of an old dimension in memory, those of size 1 left out
  std::uint8_t count = 0;
  for (std::size_t p = 0; p < order.rank; ++p)
    if (!is_one(from[order.dim[p]])) position[order.dim[p]] = count++;
  std::array<std::uint8_t, max_dims> key{};  // of a new dimension
  std::array<std::uint8_t, max_dims> minor{};
  std::size_t i = 0;
  std::size_t k = 0;
  while (true) {
    while (i < from.size() && is_one(from[i])) ++i;
    while (k < to.size() && is_one(to[k])) ++k;
    if (i == from.size() || k == to.size()) break;
    if (same_dim(from[i], to[k])) {
      key[k++] = position[i++];
      continue;
    }
    const std::size_t first = i;
    std::int64_t old_size = 1;
    std::int64_t new_size = 1;
    std::uint8_t part = 0;
    do {  // products of numbers only: a symbol has to match alone
      if (old_size <= new_size) {
        if (i == from.size() || !from[i].is_static()) return std::nullopt;
        if (!is_one(from[i]) && i != first && position[i] != position[first] + part) return std::nullopt;
        if (!is_one(from[i])) ++part;
        if (__builtin_mul_overflow(old_size, from[i++].value, &old_size)) return std::nullopt;
      } else {
        if (k == to.size() || !to[k].is_static()) return std::nullopt;
        key[k] = position[first];
        minor[k] = static_cast<std::uint8_t>(k);
        if (__builtin_mul_overflow(new_size, to[k++].value, &new_size)) return std::nullopt;
      }
    } while (old_size != new_size);
  }
  Order out;
  for (std::size_t d = 0; d < to.size(); ++d) {
    std::size_t at = out.rank++;
    const auto before = [&](std::size_t a, std::size_t b) {
      if (is_one(to[a]) || is_one(to[b])) return is_one(to[a]) && !is_one(to[b]);  // those outermost
      return key[a] != key[b] ? key[a] < key[b] : minor[a] < minor[b];
    };
    for (; at > 0 && before(d, out.dim[at - 1]); --at) out.dim[at] = out.dim[at - 1];
    out.dim[at] = static_cast<std::uint8_t>(d);
  }
  return out;
}

/// Passes the constant's or the dequantized value's nature on to what is only another view of it.
inline void inherit(Planner& p, ValueId from, ValueId to) {
  p.known(to).dequantized = p.known(from).dequantized;
  p.known(to).quantization = p.known(from).quantization;
}

inline void emit_view(Planner& p, const Call& call) {
  const ValueId x = call.value("self");
  const ValueId y = call.output();
  if (const Tensor* t = p.constant(x)) {
    std::vector<std::int64_t> sizes;
    for (const Dim& d : p.dims(y)) sizes.push_back(d.value);
    p.known(y).constant = true;
    p.known(y).tensor = reshaped(*t, std::move(sizes));
    return;
  }
  inherit(p, x, y);
  const Order plain = Order::row_major(p.rank(x));
  const std::uint32_t any = p.raw(x);
  const bool movable = p.buffer_of(any).place != Place::input && p.plan.slots[any].pitch == 0;
  std::uint32_t from = movable ? any : p.need_raw(x, p.plan.slots[any].order);
  std::optional<Order> order = order_of_view(p.dims(x), p.plan.slots[from].order, p.dims(y));
  if (!order) {
    from = p.need_raw(x, plain);
    order = Order::row_major(p.rank(y));
  }
  p.alias(y, from, *order);
}
[[nodiscard]] constexpr const char* refuses_view(const Call& call) noexcept {
  if (const char* reason = refuses_moved(call)) return reason;
  const ValueId x = call.value("self");
  const ValueId y = call.output();
  std::int64_t from = 1;
  std::int64_t to = 1;
  for (const Dim& d : call.dims(x))
    if (d.is_static() && __builtin_mul_overflow(from, d.value, &from)) return "too large";
  for (const Dim& d : call.dims(y))
    if (d.is_static() && __builtin_mul_overflow(to, d.value, &to)) return "too large";
  return call.all_fixed(x) && call.all_fixed(y) && from != to ? "another number of elements" : nullptr;
}

/// clone, alias and the like: the same elements.
[[nodiscard]] constexpr const char* refuses_same(const Call& call) noexcept {
  if (const char* reason = refuses_moved(call)) return reason;
  if (call.has("dtype") && call.arg("dtype")->kind == ArgumentKind::scalar_type &&
      call.dtype(call.output()) != call.dtype(call.value("self")))
    return "a change of dtype";
  return same_dims(call.dims(call.value("self")), call.dims(call.output())) ? nullptr : "a change of sizes";
}

/// The permutation of permute, transpose and t; empty if it is none.
struct Permutation {
  std::array<std::int64_t, max_dims> dim{};
  std::size_t rank = 0;
};
[[nodiscard]] constexpr std::optional<Permutation> permutation_of(const Call& call) noexcept {
  const std::size_t rank = call.rank(call.value("self"));
  Permutation out{.dim = {}, .rank = rank};
  for (std::size_t d = 0; d < rank; ++d) out.dim[d] = static_cast<std::int64_t>(d);
  if (call.target() == "aten.permute.default") {
    const std::span<const Argument> dims = call.list("dims");
    if (dims.size() != rank) return std::nullopt;
    std::uint32_t seen = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t from = dims[d].kind == ArgumentKind::int_ ? call.axis(dims[d].payload, rank) : -1;
      if (from < 0 || (seen >> static_cast<unsigned>(from) & 1) != 0) return std::nullopt;
      seen |= 1u << static_cast<unsigned>(from);
      out.dim[d] = from;
    }
    return out;
  }
  const std::int64_t a = call.target() == "aten.t.default" ? 0 : call.axis(call.integer("dim0", INT64_MIN), rank);
  const std::int64_t b = call.target() == "aten.t.default" ? static_cast<std::int64_t>(rank) - 1
                                                           : call.axis(call.integer("dim1", INT64_MIN), rank);
  if (a < 0 || b < 0) return std::nullopt;
  std::swap(out.dim[static_cast<std::size_t>(a)], out.dim[static_cast<std::size_t>(b)]);
  return out;
}
[[nodiscard]] constexpr const char* refuses_permute(const Call& call) noexcept {
  if (const char* reason = refuses_moved(call)) return reason;
  const std::optional<Permutation> p = permutation_of(call);
  if (!p || call.rank(call.output()) != p->rank) return "not a permutation";
  for (std::size_t d = 0; d < p->rank; ++d)
    if (!same_dim(call.dims(call.value("self"))[static_cast<std::size_t>(p->dim[d])], call.dims(call.output())[d]))
      return "sizes that do not fit";
  return nullptr;
}
inline void emit_permute(Planner& p, const Call& call) {
  const ValueId x = call.value("self");
  const ValueId y = call.output();
  const Permutation permutation = *permutation_of(call);
  Known& known = p.known(y);
  if (p.known(x).constant) {
    const std::span<const std::int64_t> order(permutation.dim.data(), permutation.rank);
    known.constant = true;
    known.packed = p.known(x).packed;
    if (!known.packed) {
      known.tensor = permuted(p.known(x).tensor, order);
    } else {
      known.weights = p.known(x).weights;
      known.weights.integers = permuted(known.weights.integers, order);
      for (std::size_t d = 0; d < permutation.rank; ++d)
        if (static_cast<std::size_t>(permutation.dim[d]) == p.known(x).weights.axis) known.weights.axis = d;
    }
    return;
  }
  inherit(p, x, y);
  const std::uint32_t any = p.raw(x);
  const bool movable = p.buffer_of(any).place != Place::input && p.plan.slots[any].pitch == 0;
  const std::uint32_t from = movable ? any : p.need_raw(x, p.plan.slots[any].order);
  std::array<std::uint8_t, max_dims> number{};  // of an old dimension among the new ones
  for (std::size_t d = 0; d < permutation.rank; ++d)
    number[static_cast<std::size_t>(permutation.dim[d])] = static_cast<std::uint8_t>(d);
  Order order = p.plan.slots[from].order;
  for (std::size_t i = 0; i < order.rank; ++i) order.dim[i] = number[order.dim[i]];
  p.alias(y, from, order);
}

/// slice, select, split and expand: copies of parts.
struct Part {
  std::size_t axis = 0;
  std::int64_t start = 0;
  std::int64_t step = 1;
};
[[nodiscard]] constexpr std::optional<Part> part_of(const Call& call) noexcept {
  const ValueId x = call.value("self");
  const std::size_t rank = call.rank(x);
  const std::int64_t axis = call.axis(call.integer("dim", 0), rank);
  if (axis < 0 || (call.has("dim") && call.arg("dim")->kind != ArgumentKind::int_)) return std::nullopt;
  Part out{.axis = static_cast<std::size_t>(axis)};
  const bool select = call.target() == "aten.select.int";
  const std::string_view name = select ? "index" : "start";
  if (call.has(name) && call.arg(name)->kind != ArgumentKind::int_) return std::nullopt;
  out.start = call.integer(name, 0);
  if (!select) {
    if (call.has("step") && call.arg("step")->kind != ArgumentKind::int_) return std::nullopt;
    out.step = call.integer("step", 1);
    if (call.has("end") && call.arg("end")->kind != ArgumentKind::int_ && call.arg("end")->kind != ArgumentKind::value)
      return std::nullopt;
  }
  const std::int64_t size = call.fixed(x, out.axis);
  if (out.start < 0) out.start = size < 0 ? -1 : out.start + size;
  if (out.start < 0 && !select && size >= 0) out.start = 0;
  if (out.start < 0 || out.start > INT32_MAX || out.step < 1 || out.step > INT32_MAX) return std::nullopt;
  return out;
}
[[nodiscard]] constexpr const char* refuses_part(const Call& call) noexcept {
  if (const char* reason = refuses_moved(call)) return reason;
  const ValueId x = call.value("self");
  const bool select = call.target() == "aten.select.int";
  if (call.rank(x) == 0 || call.rank(call.output()) + (select ? 1u : 0u) != call.rank(x)) return "another rank";
  const std::optional<Part> part = part_of(call);
  if (!part) return "a start or step that is not a literal number";
  for (std::size_t d = 0, k = 0; d < call.rank(x); ++d) {
    if (d == part->axis) {
      const std::int64_t size = call.fixed(x, d);
      const std::int64_t count = select ? 1 : call.fixed(call.output(), d);
      if (size >= 0 && count >= 0 && part->start + (count - 1) * part->step >= size) return "a part outside the tensor";
      if (!select) ++k;
      continue;
    }
    if (!same_dim(call.dims(x)[d], call.dims(call.output())[k++])) return "sizes that do not fit";
  }
  return nullptr;
}
/// Copies what lies from `part` on along its dimension to a value that has as many dimensions, or one less.
inline void emit_part_to(Planner& p, const Call& call, ValueId y, const Part& part) {
  const ValueId x = call.value("self");
  inherit(p, x, y);
  const std::uint32_t from = p.raw(x);
  Step step{.op = Op::copy, .axis = static_cast<std::uint32_t>(part.axis), .start = part.start, .step = part.step};
  step.in[0] = from;
  const Order order = p.plan.slots[from].order;
  const ScalarType dtype = p.plan.slots[from].dtype;
  if (p.rank(y) == p.rank(x)) {
    const std::uint32_t to = p.temporary(p.dims(y), order, dtype);
    step.out = to;
    p.add(step, call.id());
    return p.alias(y, to, order);
  }
  std::vector<Dim> sizes(p.dims(x).begin(), p.dims(x).end());
  sizes[part.axis] = Dim{.value = 1};
  step.out = p.temporary(sizes, order, dtype);
  p.add(step, call.id());
  Order without;
  for (std::size_t i = 0; i < order.rank; ++i)
    if (order.dim[i] != part.axis)
      without.dim[without.rank++] = static_cast<std::uint8_t>(order.dim[i] - (order.dim[i] > part.axis ? 1 : 0));
  p.alias(y, step.out, without);
}
inline void emit_part(Planner& p, const Call& call) {
  emit_part_to(p, call, call.output(), *part_of(call));
}

[[nodiscard]] constexpr const char* refuses_split(const Call& call) noexcept {
  if (const char* reason = refuses_moved(call)) return reason;
  const ValueId x = call.value("self");
  const std::int64_t axis = call.rank(x) == 0 ? -1 : call.axis(call.integer("dim", 0), call.rank(x));
  if (axis < 0) return "a dimension that is not a literal number";
  std::int64_t total = 0;
  for (std::size_t i = 0; i < call.outputs(); ++i) {
    const ValueId y = call.output(i);
    if (call.rank(y) != call.rank(x)) return "another rank";
    for (std::size_t d = 0; d < call.rank(x); ++d) {
      if (static_cast<std::int64_t>(d) != axis && !same_dim(call.dims(x)[d], call.dims(y)[d]))
        return "sizes that do not fit";
    }
    const std::int64_t size = call.fixed(y, static_cast<std::size_t>(axis));
    if (size < 0) return "parts of symbolic size";
    total += size;
  }
  const std::int64_t all = call.fixed(x, static_cast<std::size_t>(axis));
  return all >= 0 && total > all ? "parts outside the tensor" : nullptr;
}
inline void emit_split(Planner& p, const Call& call) {
  const ValueId x = call.value("self");
  Part part{.axis = static_cast<std::size_t>(call.axis(call.integer("dim", 0), p.rank(x)))};
  for (std::size_t i = 0; i < call.outputs(); ++i) {
    const ValueId y = call.output(i);
    if (p.used(y)) emit_part_to(p, call, y, part);
    part.start += p.dims(y)[part.axis].value;
  }
}

[[nodiscard]] constexpr const char* refuses_expand(const Call& call) noexcept {
  if (const char* reason = refuses_moved(call)) return reason;
  const std::span<const Dim> from = call.dims(call.value("self"));
  const std::span<const Dim> to = call.dims(call.output());
  if (from.size() > to.size()) return "another rank";
  for (std::size_t d = 0; d < from.size(); ++d) {
    const Dim& old = from[d];
    if (!same_dim(old, to[to.size() - from.size() + d]) && !(old.is_static() && old.value == 1))
      return "dimensions that may or may not broadcast";
  }
  return nullptr;
}
inline void emit_expand(Planner& p, const Call& call) {
  const ValueId x = call.value("self");
  const ValueId y = call.output();
  if (same_dims(p.dims(x), p.dims(y))) return emit_view(p, call);
  inherit(p, x, y);
  const std::uint32_t from = p.raw(x);
  const std::uint32_t to = p.temporary(p.dims(y), Order::row_major(p.rank(y)), p.plan.slots[from].dtype);
  p.add({.op = Op::copy, .in = {from, no_id, no_id}, .out = to}, call.id());
  p.alias(y, to, Order::row_major(p.rank(y)));
}

/// The dimension that a cat joins along; -1 if it is not literal.
[[nodiscard]] constexpr std::int64_t cat_axis(const Call& call) noexcept {
  if (call.has("dim") && call.arg("dim")->kind != ArgumentKind::int_) return -1;
  return call.axis(call.integer("dim", 0), call.rank(call.output()));
}
[[nodiscard]] constexpr const char* refuses_cat(const Call& call) noexcept {
  if (const char* reason = refuses_tensor(call, call.output())) return reason;
  const std::int64_t axis = cat_axis(call);
  const std::span<const Argument> parts = call.list("tensors");
  if (axis < 0 || parts.empty()) return "a dimension that is not a literal number";
  std::int64_t total = 0;
  for (const Argument& a : parts) {
    if (!a.is_value()) return "an operand is not a tensor";
    if (const char* reason = refuses_tensor(call, a.value())) return reason;
    if (call.rank(a.value()) != call.rank(call.output())) return "an operand of another rank";
    for (std::size_t d = 0; d < call.rank(a.value()); ++d)
      if (static_cast<std::int64_t>(d) != axis && !same_dim(call.dims(a.value())[d], call.dims(call.output())[d]))
        return "sizes that do not fit";
    const std::int64_t size = call.fixed(a.value(), static_cast<std::size_t>(axis));
    if (size < 0) return "parts of symbolic size";
    total += size;
  }
  return call.fixed(call.output(), static_cast<std::size_t>(axis)) == total ? nullptr : "sizes that do not fit";
}
/// Says before planning which values are parts of a concatenation of channels, so that they are made in place.
inline void reserve_cat(Planner& p, const Call& call) {
  const ValueId y = call.output();
  if (cat_axis(call) != 1 || p.rank(y) != 4) return;
  std::int64_t offset = 0;
  for (const Argument& a : call.list("tensors")) {
    Slice& slice = p.slice_of(a.value());
    if (slice.whole == no_id && p.graph().values[a.value()].producer != no_id) slice = {y, offset};
    offset += p.dims(a.value())[1].value;
  }
}
inline void emit_cat(Planner& p, const Call& call) {
  const ValueId y = call.output();
  const std::span<const Argument> parts = call.list("tensors");
  const auto axis = static_cast<std::uint32_t>(cat_axis(call));
  const bool begun = !p.known(y).slots.empty();
  const Order first =
      p.known(parts[0].value()).constant ? Order::row_major(p.rank(y)) : p.plan.slots[p.raw(parts[0].value())].order;
  const std::uint32_t whole = begun ? p.whole_of(y) : p.define(y, first);
  std::int64_t offset = 0;
  for (const Argument& a : parts) {
    const ValueId part = a.value();
    bool there = false;
    for (const std::uint32_t s : p.known(part).slots)
      there =
          there || (begun && p.plan.slots[s].buffer == p.plan.slots[whole].buffer && p.plan.slots[s].offset == offset);
    if (!there)
      p.add({.op = Op::copy,
             .in = {p.need(part), no_id, no_id},
             .out = whole,
             .axis = axis,
             .start = offset,
             .into = true},
            call.id());
    offset += p.dims(part)[axis].value;
  }
}

/// Before and after, per logical dimension; nothing if they are not literal numbers >= 0.
[[nodiscard]] constexpr std::optional<std::array<std::int32_t, 2 * max_dims>> pads_of(const Call& call) noexcept {
  std::array<std::int32_t, 2 * max_dims> out{};
  const std::span<const Argument> pad = call.list("pad");
  const std::size_t rank = call.rank(call.value("self"));
  if (pad.size() % 2 != 0 || pad.size() > 2 * rank) return std::nullopt;
  for (std::size_t i = 0; i < pad.size(); ++i) {
    if (pad[i].kind != ArgumentKind::int_ || pad[i].payload < 0 || pad[i].payload > 65535) return std::nullopt;
    out[2 * (rank - 1 - i / 2) + i % 2] = static_cast<std::int32_t>(pad[i].payload);
  }
  return out;
}
[[nodiscard]] constexpr const char* refuses_pad(const Call& call) noexcept {
  if (const char* reason = refuses_unary(call)) return reason;
  if (!call.is_literal("value")) return "a value that is not a literal number";
  const auto pads = pads_of(call);
  if (!pads || call.rank(call.output()) != call.rank(call.value("self")))
    return "padding that is negative or not made of literal numbers";
  for (std::size_t d = 0; d < call.rank(call.output()); ++d) {
    const Dim& from = call.dims(call.value("self"))[d];
    const Dim& to = call.dims(call.output())[d];
    const std::int64_t more = (*pads)[2 * d] + (*pads)[2 * d + 1];
    if (more == 0 ? !same_dim(from, to) : from.is_static() && to.is_static() && from.value + more != to.value)
      return "sizes that do not fit";
  }
  return nullptr;
}
inline void emit_pad(Planner& p, const Call& call) {
  const ValueId x = call.value("self");
  const ValueId y = call.output();
  const auto pads = *pads_of(call);
  const NodeId user = p.only_user(y);
  if (user != no_id && call.number("value", 0) == 0 && p.rank(x) >= 3 && pads[0] + pads[1] + pads[2] + pads[3] == 0) {
    const Call next(p.graph(), user);
    const bool convolves = next.target() == "aten.convolution.default" || next.target() == "aten.conv2d.default";
    if (convolves && next.value("input") == y && next.value("weight") != y && refuses_convolution(next) == nullptr) {
      p.padded(y) = {x, pads};
      return;
    }
  }
  const std::uint32_t from = p.need_dense(x);
  Step step{.op = Op::pad, .alpha = static_cast<float>(call.number("value", 0)), .pads = pads};
  step.in[0] = from;
  step.out = p.define(y, p.plan.slots[from].order);
  p.add(step, call.id());
}

/// sym_size: a number that the sizes of the inputs tell.
[[nodiscard]] constexpr const char* refuses_size(const Call& call) noexcept {
  if (!call.is_tensor(call.value("self"))) return "an operand is not a tensor";
  const ValueId out = call.output();
  if (out == no_id || call.graph().values[out].kind != ValueKind::sym_int) return "not a symbolic number";
  const std::int64_t axis = call.axis(call.integer("dim", INT64_MIN), call.rank(call.value("self")));
  if (axis < 0) return "a dimension that is not a literal number";
  const Dim& dim = call.dims(call.value("self"))[static_cast<std::size_t>(axis)];
  const Value& value = call.graph().values[out];
  return dim.is_static() || (value.expr != no_id && value.expr == dim.expr)
             ? nullptr
             : "a size that is not the dimension's symbol";
}
inline void emit_nothing(Planner&, const Call&) {}

}  // namespace detail

inline constexpr auto layout_rules = std::to_array<Rule>({
    {"aten._to_copy.default", detail::refuses_same, detail::emit_view},
    {"aten._unsafe_view.default", detail::refuses_view, detail::emit_view},
    {"aten.alias.default", detail::refuses_same, detail::emit_view},
    {"aten.cat.default", detail::refuses_cat, detail::emit_cat},
    {"aten.clone.default", detail::refuses_same, detail::emit_view},
    {"aten.constant_pad_nd.default", detail::refuses_pad, detail::emit_pad},
    {"aten.expand.default", detail::refuses_expand, detail::emit_expand},
    {"aten.flatten.using_ints", detail::refuses_view, detail::emit_view},
    {"aten.permute.default", detail::refuses_permute, detail::emit_permute},
    {"aten.reshape.default", detail::refuses_view, detail::emit_view},
    {"aten.select.int", detail::refuses_part, detail::emit_part},
    {"aten.slice.Tensor", detail::refuses_part, detail::emit_part},
    {"aten.split_with_sizes.default", detail::refuses_split, detail::emit_split},
    {"aten.squeeze.dim", detail::refuses_view, detail::emit_view},
    {"aten.squeeze.dims", detail::refuses_view, detail::emit_view},
    {"aten.sym_size.int", detail::refuses_size, detail::emit_nothing},
    {"aten.t.default", detail::refuses_permute, detail::emit_permute},
    {"aten.transpose.int", detail::refuses_permute, detail::emit_permute},
    {"aten.unsqueeze.default", detail::refuses_view, detail::emit_view},
    {"aten.view.default", detail::refuses_view, detail::emit_view},
});

}  // namespace davit::xnnpack_parts
