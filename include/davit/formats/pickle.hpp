// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/shared_bytes.hpp"
#include "davit/formats/load_error.hpp"
#include "davit/formats/pickle_opcodes.hpp"
#include "davit/formats/pickle_values.hpp"

namespace davit::formats {

/// The largest pickle that read_pickle takes, in bytes, and the most values it makes of one.
inline constexpr std::size_t max_pickle_size = std::size_t{1} << 30;
inline constexpr std::size_t max_pickle_values = std::size_t{1} << 22;

namespace detail {

/// The machine that a pickle is a program for, without the parts that import, call or build.
class PickleMachine {
 public:
  PickleMachine(SharedBytes bytes, std::string_view label) : bytes_(std::move(bytes)), label_(label) {}

  [[nodiscard]] Result<Pickle> run() {
    if (bytes_.size() > max_pickle_size) return corrupt(Name::own(label_), "the pickle is too large");
    values_.resize(4);  // None, False, True and () are made once
    values_[true_id].kind = values_[false_id].kind = PickleKind::boolean;
    values_[true_id].number = 1;
    values_[empty_tuple_id].kind = PickleKind::tuple;
    while (!stopped_ && step()) {
    }
    if (failure_) return std::unexpected(*std::move(failure_));
    return Pickle(bytes_, std::move(values_), stack_.back());
  }

 private:
  static constexpr PickleId none_id = 0, false_id = 1, true_id = 2, empty_tuple_id = 3;

  // Each operation answers whether the machine may go on; if not, failure_ says why.
  bool step() {
    op_offset_ = static_cast<std::uint32_t>(at_);
    std::uint64_t code = 0;
    if (!number(1, code)) return false;
    switch (static_cast<PickleOp>(code)) {
      case PickleOp::proto: return protocol();
      case PickleOp::frame: return skip(8);
      case PickleOp::stop: return stop();
      case PickleOp::mark: marks_.push_back(stack_.size()); return true;
      case PickleOp::none: return push(none_id);
      case PickleOp::newfalse: return push(false_id);
      case PickleOp::newtrue: return push(true_id);
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
      case PickleOp::empty_set: return push_new({.kind = PickleKind::list});
      case PickleOp::empty_dict: return push_new({.kind = PickleKind::dict});
      case PickleOp::empty_tuple: return push(empty_tuple_id);
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
      case PickleOp::memoize: return memoize(memo_.size());
      case PickleOp::binget: return get(1);
      case PickleOp::long_binget: return get(4);
    }
    return fail("opcode ", code, " is not one that torch.save writes");
  }

  template <class... What>
  bool fail(const What&... what) {
    failure_ = corrupt(concat(label_, ", byte ", op_offset_), concat(what...)).error();
    return false;
  }

  // -- bytes ----------------------------------------------------------------------------------------------------
  bool skip(std::uint64_t count) {
    if (count > bytes_.size() - at_) return fail("the pickle ends too early");
    at_ += count;
    return true;
  }
  /// A little endian number of `width` bytes.
  bool number(std::size_t width, std::uint64_t& value) {
    if (!skip(width)) return false;
    value = 0;
    for (std::size_t i = 0; i < width; ++i)
      value |= std::to_integer<std::uint64_t>(bytes_.data()[at_ - width + i]) << (8 * i);
    return true;
  }
  bool characters(std::uint64_t size, std::string_view& text) {
    if (!skip(size)) return false;
    text = {reinterpret_cast<const char*>(bytes_.data()) + (at_ - size), static_cast<std::size_t>(size)};
    return true;
  }
  bool line(std::string_view& text) {
    const std::string_view rest(reinterpret_cast<const char*>(bytes_.data()) + at_, bytes_.size() - at_);
    const std::size_t end = rest.find('\n');
    if (end == rest.npos) return fail("the pickle ends too early");
    text = rest.substr(0, end);
    at_ += end + 1;
    return true;
  }

  // -- stack ----------------------------------------------------------------------------------------------------
  [[nodiscard]] std::size_t floor() const noexcept { return marks_.empty() ? 0 : marks_.back(); }
  bool push(PickleId id) {
    stack_.push_back(id);
    return true;
  }
  bool push_new(PickleValue value) {
    if (values_.size() >= max_pickle_values) return fail("the pickle holds too many values");
    value.offset = op_offset_;
    values_.push_back(std::move(value));
    return push(static_cast<PickleId>(values_.size() - 1));
  }
  bool has(std::size_t count) {
    return stack_.size() - floor() >= count || fail("the pickle takes more from its stack than it put there");
  }
  PickleId pop() {
    const PickleId id = stack_.back();
    stack_.pop_back();
    return id;
  }
  /// Where the values above the last mark begin; takes the mark away.
  bool pop_mark(std::size_t& first) {
    if (marks_.empty()) return fail("the pickle takes a mark that it did not put there");
    first = marks_.back();
    marks_.pop_back();
    return true;
  }

  // -- operations -----------------------------------------------------------------------------------------------
  bool protocol() {
    std::uint64_t version = 0;
    return number(1, version) && (version <= 5 || fail("pickle protocol ", version, " is not known"));
  }
  bool stop() { return has(1) && (stopped_ = true); }
  bool integer(std::size_t width, bool is_signed) {
    std::uint64_t value = 0;
    if (!number(width, value)) return false;
    const auto unsigned32 = static_cast<std::uint32_t>(value);
    return push_new({.kind = PickleKind::integer,
                     .number = is_signed ? static_cast<std::int32_t>(unsigned32) : std::int64_t{unsigned32}});
  }
  bool long_integer(std::size_t width) {
    std::uint64_t size = 0;
    if (!number(width, size)) return false;
    if (size > 8) return skip(size) && push_new({.kind = PickleKind::big_integer});
    std::uint64_t value = 0;
    if (!number(size, value)) return false;
    const auto unused = static_cast<unsigned>(64 - 8 * size);  // the sign is the highest bit read
    const std::int64_t extended = size == 0 ? 0 : static_cast<std::int64_t>(value << unused) >> unused;
    return push_new({.kind = PickleKind::integer, .number = extended});
  }
  bool real() {
    std::uint64_t bits = 0;
    if (!number(8, bits)) return false;
    PickleValue value{.kind = PickleKind::real};
    value.real = std::bit_cast<double>(__builtin_bswap64(bits));
    return push_new(std::move(value));
  }
  bool text(std::size_t width, PickleKind kind) {
    std::uint64_t size = 0;
    std::string_view characters_read;
    return number(width, size) && characters(size, characters_read) &&
           push_new({.kind = kind, .text = characters_read});
  }
  bool tuple_of(std::size_t count) {
    if (!has(count)) return false;
    PickleValue tuple{.kind = PickleKind::tuple};
    tuple.items.assign(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return push_new(std::move(tuple));
  }
  bool collect(PickleKind kind) {
    std::size_t first = 0;
    if (!pop_mark(first)) return false;
    if (kind == PickleKind::dict && (stack_.size() - first) % 2 != 0) return fail("a key has no value");
    PickleValue container{.kind = kind};
    container.items.assign(stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
    stack_.resize(first);
    return push_new(std::move(container));
  }
  bool extend(std::size_t step) { return has(step + 1) && extend_with(stack_.size() - step, step); }
  bool extend_from_mark(std::size_t step) {
    std::size_t first = 0;
    return pop_mark(first) && extend_with(first, step);
  }
  /// Moves the values from `first` on into the container below them; `step` is 2 for keys and values, 1 for elements.
  bool extend_with(std::size_t first, std::size_t step) {
    if (first <= floor()) return fail("there is no container to put values in");
    if ((stack_.size() - first) % step != 0) return fail("a key has no value");
    PickleValue& container = values_[stack_[first - 1]];
    const bool is_record = container.kind == PickleKind::call || container.kind == PickleKind::object;
    if (!is_record && container.kind != (step == 2 ? PickleKind::dict : PickleKind::list))
      return fail("values are put in something that is no ", step == 2 ? "dictionary" : "list");
    container.items.insert(container.items.end(), stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
    stack_.resize(first);
    return true;
  }
  bool global() {
    PickleValue global{.kind = PickleKind::global};
    return line(global.module) && line(global.text) && push_new(std::move(global));
  }
  bool stack_global() {
    if (!has(2)) return false;
    const PickleValue& name = values_[pop()];
    const PickleValue& module = values_[pop()];
    if (name.kind != PickleKind::string || module.kind != PickleKind::string)
      return fail("a global is not named by text");
    return push_new({.kind = PickleKind::global, .text = name.text, .module = module.text});
  }
  bool apply(PickleKind kind) {
    if (!has(2)) return false;
    const PickleId arguments = pop();
    const PickleId callable = pop();
    return push_new(
        {.kind = kind, .callable = callable, .arguments = arguments, .state_begin = static_cast<std::uint32_t>(at_)});
  }
  bool build() {
    if (!has(2)) return false;
    const PickleId state = pop();
    PickleValue& object = values_[stack_.back()];
    if (object.kind != PickleKind::call && object.kind != PickleKind::object)
      return fail("a state is given to something that is no object");
    object.state = state;
    object.state_end = op_offset_;
    return true;
  }
  bool persistent() {
    if (!has(1)) return false;
    const PickleId arguments = pop();
    return push_new({.kind = PickleKind::persistent, .arguments = arguments});
  }

  // -- memo -----------------------------------------------------------------------------------------------------
  bool put(std::size_t width) {
    std::uint64_t index = 0;
    return number(width, index) && memoize(index);
  }
  bool memoize(std::uint64_t index) {
    if (!has(1)) return false;
    if (index >= bytes_.size()) return fail("memo entry ", index, " is more than the pickle can have");
    if (index >= memo_.size()) memo_.resize(index + 1, no_pickle_id);
    memo_[index] = stack_.back();
    PickleValue& value = values_[stack_.back()];
    if (value.state_begin == op_offset_) value.state_begin = static_cast<std::uint32_t>(at_);
    return true;
  }
  bool get(std::size_t width) {
    std::uint64_t index = 0;
    if (!number(width, index)) return false;
    if (index >= memo_.size() || memo_[index] == no_pickle_id) return fail("memo entry ", index, " is not there");
    return push(memo_[index]);
  }

  SharedBytes bytes_;
  std::string_view label_;
  std::size_t at_ = 0;
  std::uint32_t op_offset_ = 0;
  bool stopped_ = false;
  std::vector<PickleValue> values_;
  std::vector<PickleId> stack_;
  std::vector<std::size_t> marks_;
  std::vector<PickleId> memo_;
  std::optional<Error> failure_;
};

}  // namespace detail

/// Reads a pickle of plain values: it imports nothing and calls nothing. `label` is what errors call it.
///
/// Globals, calls and objects become records that the caller may interpret. Nesting needs no stack. Time and memory
/// are O(size of the pickle), whatever its numbers say. Errors: corrupt_data with the byte, among them for opcodes that
/// torch.save does not write. Source: the format is CPython's pickle; see Lib/pickletools.py.
[[nodiscard]] inline Result<Pickle> read_pickle(SharedBytes bytes, std::string_view label) {
  return detail::PickleMachine(std::move(bytes), label).run();
}

}  // namespace davit::formats
