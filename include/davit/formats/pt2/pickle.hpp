// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "davit/core/limits.hpp"
#include "davit/core/shared_bytes.hpp"
#include "davit/formats/load_error.hpp"
#include "davit/formats/pt2/pickle_opcodes.hpp"
#include "davit/formats/pt2/pickle_stack.hpp"
#include "davit/formats/pt2/pickle_stream.hpp"
#include "davit/formats/pt2/pickle_values.hpp"

namespace davit::formats {

namespace detail {

/// The virtual machine of pickles, without the operations that import, call or construct.
class PickleMachine {
 public:
  PickleMachine(SharedBytes bytes, std::string_view label, const Limits& limits)
      : in_(std::move(bytes), label), stack_(in_, limits.max_nodes / 16), max_bytes_(limits.max_parsed_bytes) {}
  PickleMachine(const PickleMachine&) = delete;
  PickleMachine& operator=(const PickleMachine&) = delete;

  [[nodiscard]] Result<Pickle> run() {
    if (in_.bytes().size() > max_bytes_) return corrupt(Name::own(in_.label()), "the pickle is too large");
    while (!stopped_ && step()) {
    }
    if (in_.failure()) return std::unexpected(*std::move(in_.failure()));
    const PickleId root = stack_.top();
    return Pickle(in_.bytes(), std::move(stack_).take_values(), root);
  }

 private:
  // Operations return false if the machine must stop; the stream then holds the reason.
  bool step() {
    std::uint64_t code = 0;
    if (!in_.opcode(code)) return false;
    switch (static_cast<PickleOp>(code)) {
      case PickleOp::proto: return protocol();
      case PickleOp::frame: return in_.skip(8);
      case PickleOp::stop: return stop();
      case PickleOp::mark: return stack_.mark();
      case PickleOp::none: return stack_.push(PickleStack::none_id);
      case PickleOp::newfalse: return stack_.push(PickleStack::false_id);
      case PickleOp::newtrue: return stack_.push(PickleStack::true_id);
      case PickleOp::binint: return integer(4, true);
      case PickleOp::binint1: return integer(1, false);
      case PickleOp::binint2: return integer(2, false);
      case PickleOp::long1: return long_integer(1);
      case PickleOp::long4: return long_integer(4);
      case PickleOp::binfloat: return real();
      case PickleOp::short_binunicode: return text(1, PickleKind::string);
      case PickleOp::binunicode: return text(4, PickleKind::string);
      case PickleOp::binunicode8: return text(8, PickleKind::string);
      case PickleOp::short_binbytes: return text(1, PickleKind::bytes);
      case PickleOp::binbytes: return text(4, PickleKind::bytes);
      case PickleOp::binbytes8: return text(8, PickleKind::bytes);
      case PickleOp::empty_list:
      case PickleOp::empty_set: return stack_.push_new({.kind = PickleKind::list});
      case PickleOp::empty_dict: return stack_.push_new({.kind = PickleKind::dict});
      case PickleOp::empty_tuple: return stack_.push(PickleStack::empty_tuple_id);
      case PickleOp::tuple1: return tuple_of(1);
      case PickleOp::tuple2: return tuple_of(2);
      case PickleOp::tuple3: return tuple_of(3);
      case PickleOp::tuple:
      case PickleOp::frozenset: return collect(PickleKind::tuple);
      case PickleOp::list: return collect(PickleKind::list);
      case PickleOp::dict: return collect(PickleKind::dict);
      case PickleOp::append: return extend(1);
      case PickleOp::setitem: return extend(2);
      case PickleOp::appends:
      case PickleOp::additems: return extend_from_mark(1);
      case PickleOp::setitems: return extend_from_mark(2);
      case PickleOp::global: return global();
      case PickleOp::stack_global: return stack_global();
      case PickleOp::reduce: return apply(PickleKind::call);
      case PickleOp::newobj: return apply(PickleKind::object);
      case PickleOp::build: return build();
      case PickleOp::binpersid: return persistent();
      case PickleOp::binput: return put(1);
      case PickleOp::long_binput: return put(4);
      case PickleOp::memoize: return stack_.memoize(stack_.memo_size());
      case PickleOp::binget: return get(1);
      case PickleOp::long_binget: return get(4);
    }
    return in_.fail("opcode ", code, " is not one that torch.save writes");
  }

  bool protocol() {
    std::uint64_t version = 0;
    return in_.number(1, version) && (version <= 5 || in_.fail("pickle protocol ", version, " is not known"));
  }
  bool stop() { return stack_.has(1) && (stopped_ = true); }
  bool integer(std::size_t width, bool is_signed) {
    std::uint64_t value = 0;
    if (!in_.number(width, value)) return false;
    const auto unsigned32 = static_cast<std::uint32_t>(value);
    return stack_.push_new({.kind = PickleKind::integer,
                            .number = is_signed ? static_cast<std::int32_t>(unsigned32) : std::int64_t{unsigned32}});
  }
  bool long_integer(std::size_t width) {
    std::uint64_t size = 0;
    if (!in_.number(width, size)) return false;
    if (size > 8) return in_.skip(size) && stack_.push_new({.kind = PickleKind::big_integer});
    std::uint64_t value = 0;
    if (!in_.number(static_cast<std::size_t>(size), value)) return false;
    const auto unused = static_cast<unsigned>(64 - 8 * size);  // the sign is the highest bit read
    const std::int64_t extended = size == 0 ? 0 : static_cast<std::int64_t>(value << unused) >> unused;
    return stack_.push_new({.kind = PickleKind::integer, .number = extended});
  }
  bool real() {
    std::uint64_t bits = 0;
    if (!in_.number(8, bits)) return false;
    PickleValue value{.kind = PickleKind::real};
    value.real = std::bit_cast<double>(__builtin_bswap64(bits));
    return stack_.push_new(std::move(value));
  }
  bool text(std::size_t width, PickleKind kind) {
    std::uint64_t size = 0;
    std::string_view characters_read;
    return in_.number(width, size) && in_.characters(size, characters_read) &&
           stack_.push_new({.kind = kind, .text = characters_read});
  }
  bool tuple_of(std::size_t count) {
    if (!stack_.has(count)) return false;
    PickleValue tuple{.kind = PickleKind::tuple};
    stack_.move_to(tuple.items, stack_.size() - count);
    return stack_.push_new(std::move(tuple));
  }
  bool collect(PickleKind kind) {
    std::size_t first = 0;
    if (!stack_.pop_mark(first)) return false;
    if (kind == PickleKind::dict && (stack_.size() - first) % 2 != 0) return in_.fail("a key has no value");
    PickleValue container{.kind = kind};
    stack_.move_to(container.items, first);
    return stack_.push_new(std::move(container));
  }
  bool extend(std::size_t step) { return stack_.has(step + 1) && extend_with(stack_.size() - step, step); }
  bool extend_from_mark(std::size_t step) {
    std::size_t first = 0;
    return stack_.pop_mark(first) && extend_with(first, step);
  }
  /// Moves the values from `first` on into the container below them. `step` is 2 for key-value pairs, 1 for elements.
  bool extend_with(std::size_t first, std::size_t step) {
    if (first <= stack_.floor()) return in_.fail("there is no container to put values in");
    if ((stack_.size() - first) % step != 0) return in_.fail("a key has no value");
    PickleValue& container = stack_.value(stack_[first - 1]);
    const bool is_record = container.kind == PickleKind::call || container.kind == PickleKind::object;
    if (!is_record && container.kind != (step == 2 ? PickleKind::dict : PickleKind::list))
      return in_.fail("values are put in something that is no ", step == 2 ? "dictionary" : "list");
    stack_.move_to(container.items, first);
    return true;
  }
  bool global() {
    PickleValue global{.kind = PickleKind::global};
    return in_.line(global.module) && in_.line(global.text) && stack_.push_new(std::move(global));
  }
  bool stack_global() {
    if (!stack_.has(2)) return false;
    const PickleValue& name = stack_.value(stack_.pop());
    const PickleValue& module = stack_.value(stack_.pop());
    if (name.kind != PickleKind::string || module.kind != PickleKind::string)
      return in_.fail("a global is not named by text");
    return stack_.push_new({.kind = PickleKind::global, .text = name.text, .module = module.text});
  }
  bool apply(PickleKind kind) {
    if (!stack_.has(2)) return false;
    const PickleId arguments = stack_.pop();
    const PickleId callable = stack_.pop();
    return stack_.push_new({.kind = kind, .callable = callable, .arguments = arguments, .state_begin = in_.at()});
  }
  bool build() {
    if (!stack_.has(2)) return false;
    const PickleId state = stack_.pop();
    PickleValue& object = stack_.value(stack_.top());
    if (object.kind != PickleKind::call && object.kind != PickleKind::object)
      return in_.fail("a state is given to something that is no object");
    object.state = state;
    object.state_end = in_.op_offset();
    return true;
  }
  bool persistent() {
    if (!stack_.has(1)) return false;
    const PickleId arguments = stack_.pop();
    return stack_.push_new({.kind = PickleKind::persistent, .arguments = arguments});
  }
  bool put(std::size_t width) {
    std::uint64_t index = 0;
    return in_.number(width, index) && stack_.memoize(index);
  }
  bool get(std::size_t width) {
    std::uint64_t index = 0;
    return in_.number(width, index) && stack_.recall(index);
  }

  PickleStream in_;
  PickleStack stack_;
  std::size_t max_bytes_;
  bool stopped_ = false;
};

}  // namespace detail

/// Reads a pickle of plain values; imports and calls nothing. `label` is its name in errors.
///
/// Globals, calls and objects become records for the caller to interpret. Nesting uses no call stack. Time and memory
/// are O(size of the pickle), whatever sizes it claims. Errors: corrupt_data with the byte, also for opcodes that
/// torch.save does not write. Source: CPython's pickle format; see Lib/pickletools.py.
[[nodiscard]] inline Result<Pickle> read_pickle(SharedBytes bytes, std::string_view label, const Limits& limits = {}) {
  return detail::PickleMachine(std::move(bytes), label, limits).run();
}

}  // namespace davit::formats
