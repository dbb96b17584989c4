// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/limits.hpp"
#include "davit/core/shared_bytes.hpp"
#include "davit/formats/load_error.hpp"
#include "davit/formats/pt2/pickle_stream.hpp"
#include "davit/formats/pt2/pickle_values.hpp"

namespace davit::formats {

/// Pickle opcodes that read_pickle() accepts: those of protocols 2 to 5 that torch.save and plain values in its
/// dictionaries need. Source: CPython's Lib/pickletools.py, with its names.
enum class PickleOp : std::uint8_t {
  mark = 0x28,
  empty_tuple = 0x29,
  stop = 0x2e,
  binbytes = 0x42,
  short_binbytes = 0x43,
  binfloat = 0x47,
  binint = 0x4a,
  binint1 = 0x4b,
  binint2 = 0x4d,
  none = 0x4e,
  binpersid = 0x51,
  reduce = 0x52,
  binunicode = 0x58,
  empty_list = 0x5d,
  append = 0x61,
  build = 0x62,
  global = 0x63,
  dict = 0x64,
  appends = 0x65,
  binget = 0x68,
  long_binget = 0x6a,
  list = 0x6c,
  binput = 0x71,
  long_binput = 0x72,
  setitem = 0x73,
  tuple = 0x74,
  setitems = 0x75,
  empty_dict = 0x7d,
  proto = 0x80,
  newobj = 0x81,
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,
  newtrue = 0x88,
  newfalse = 0x89,
  long1 = 0x8a,
  long4 = 0x8b,
  short_binunicode = 0x8c,
  binunicode8 = 0x8d,
  binbytes8 = 0x8e,
  empty_set = 0x8f,
  additems = 0x90,
  frozenset = 0x91,
  stack_global = 0x93,
  memoize = 0x94,
  frame = 0x95,
};

}  // namespace davit::formats

namespace davit::formats::detail {

/// State of the pickle machine: all values, a stack of them with marks, and the memo.
///
/// Functions return false on failure; the stream then holds the reason.
class PickleStack {
 public:
  static constexpr PickleId none_id = 0, false_id = 1, true_id = 2, empty_tuple_id = 3;

  PickleStack(PickleStream& in, std::size_t max_values) : in_(in), max_values_(max_values) {
    values_.resize(4);  // None, False, True and () exist once
    values_[true_id].kind = values_[false_id].kind = PickleKind::boolean;
    values_[true_id].number = 1;
    values_[empty_tuple_id].kind = PickleKind::tuple;
  }

  [[nodiscard]] PickleValue& value(PickleId id) noexcept { return values_[id]; }
  [[nodiscard]] PickleId top() const noexcept { return stack_.back(); }
  [[nodiscard]] std::size_t size() const noexcept { return stack_.size(); }
  [[nodiscard]] PickleId operator[](std::size_t i) const noexcept { return stack_[i]; }
  [[nodiscard]] std::vector<PickleValue> take_values() && { return std::move(values_); }

  /// Returns the stack index above the last mark.
  [[nodiscard]] std::size_t floor() const noexcept { return marks_.empty() ? 0 : marks_.back(); }
  bool push(PickleId id) {
    stack_.push_back(id);
    return true;
  }
  bool push_new(PickleValue value) {
    if (values_.size() >= max_values_) return in_.fail("the pickle holds too many values");
    value.offset = in_.op_offset();
    values_.push_back(std::move(value));
    return push(static_cast<PickleId>(values_.size() - 1));
  }
  bool has(std::size_t count) {
    return stack_.size() - floor() >= count || in_.fail("the pickle takes more from its stack than it put there");
  }
  PickleId pop() {
    const PickleId id = stack_.back();
    stack_.pop_back();
    return id;
  }
  /// Pops the last mark and returns the stack index above it.
  bool pop_mark(std::size_t& first) {
    if (marks_.empty()) return in_.fail("the pickle takes a mark that it did not put there");
    first = marks_.back();
    marks_.pop_back();
    return true;
  }
  bool mark() {
    marks_.push_back(stack_.size());
    return true;
  }
  /// Moves the values from `first` on from the stack to the end of `items`.
  void move_to(std::vector<PickleId>& items, std::size_t first) {
    items.insert(items.end(), stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
    stack_.resize(first);
  }
  /// Stores the top value as memo entry `entry`.
  bool memoize(std::uint64_t entry) {
    if (!has(1)) return false;
    if (entry >= in_.bytes().size()) return in_.fail("memo entry ", entry, " is more than the pickle can have");
    const auto index = static_cast<std::size_t>(entry);
    if (index >= memo_.size()) memo_.resize(index + 1, no_pickle_id);
    memo_[index] = stack_.back();
    PickleValue& value = values_[stack_.back()];
    if (value.state_begin == in_.op_offset()) value.state_begin = in_.at();
    return true;
  }
  [[nodiscard]] std::size_t memo_size() const noexcept { return memo_.size(); }
  bool recall(std::uint64_t entry) {
    const auto index = static_cast<std::size_t>(entry);
    if (entry >= memo_.size() || memo_[index] == no_pickle_id) return in_.fail("memo entry ", entry, " is not there");
    return push(memo_[index]);
  }

 private:
  PickleStream& in_;
  std::size_t max_values_;
  std::vector<PickleValue> values_;
  std::vector<PickleId> stack_;
  std::vector<std::size_t> marks_;
  std::vector<PickleId> memo_;
};

}  // namespace davit::formats::detail

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
