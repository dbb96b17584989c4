// SPDX-License-Identifier: MIT
#include "davit/ops/rules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/ops/operator_row.hpp"
#include "davit/ops/operators.hpp"
#include "davit/program/views.hpp"

using namespace davit;

namespace {

/// Reads from a rule's text whether its result may be one of its arguments, or a view of one, for any arguments.
class Answers {
 public:
  /// arguments[i] is true if argument i may be or view a tensor of the operator's call; `within` are the rules that
  /// call this rule.
  static bool may_show(std::string_view rule, const std::vector<bool>& arguments,
                       std::vector<std::string_view> within = {}) {
    if (std::ranges::find(within, rule) != within.end()) return false;  // its other branches decide
    within.push_back(rule);
    if (const std::size_t equals = rule.find(" = "); equals < rule.find_first_of("(:"))
      return shows_call(rule.substr(equals + 3), arguments, within);
    Answers reader(rule, std::move(within));
    reader.at_ = rule.find('(') + 1;
    for (std::size_t i = 0; !reader.take(")"); ++i) {
      const std::string_view name = reader.word();
      if (reader.take("=")) (void)reader.unary();
      reader.variables_.push_back({name, {.shows = i < arguments.size() && arguments[i]}});
      (void)reader.take(",");
    }
    while (reader.take("^") || reader.take("!")) {
    }
    REQUIRE(reader.take(":"));
    return reader.body().shows;
  }
  /// The same for a call of an operator, a helper or a function.
  static bool shows_call(std::string_view name, const std::vector<bool>& arguments,
                         const std::vector<std::string_view>& within) {
    const bool any = std::ranges::find(arguments, true) != arguments.end();
    if (name == "cast") return arguments[0];
    for (const std::string_view hands_on : {"compact", "einsum", "flat", "reversed", "set", "sorted", "times"})
      if (name == hands_on) return any;
    if (!any || name == "fail" || name == "where") return false;
    std::string full =
        name.starts_with("aten.") || name.starts_with('$') ? std::string(name) : "aten." + std::string(name);
    if (!name.starts_with('$') && full.find('.', 5) == std::string::npos) full += ".default";
    if (const ViewKind kind = view_kind(full); kind != ViewKind::none) return kind == ViewKind::unknown || arguments[0];
    const std::string_view rule = find_decomposition(full);
    return !rule.empty() && may_show(rule, arguments, within);
  }

 private:
  struct Value {
    bool shows = false;
    bool list = false;
  };
  Answers(std::string_view text, std::vector<std::string_view> within) : text_(text), within_(std::move(within)) {}

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool take(std::string_view token) {
    skip();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  static bool is_part(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '$';
  }
  std::string_view word() {
    skip();
    const std::size_t first = at_;
    while (at_ < text_.size() && is_part(text_[at_])) ++at_;
    return text_.substr(first, at_ - first);
  }
  Value body() {
    while (true) {
      const std::size_t first = at_;
      const std::string_view name = word();
      skip();
      const std::string_view rest = text_.substr(std::min(at_, text_.size()));
      if (!name.empty() && rest.starts_with('=') && !rest.starts_with("==")) {
        ++at_;
        const Value value = expression();
        REQUIRE(take(";"));
        variables_.push_back({name, value});
        continue;
      }
      at_ = first;
      const Value result = expression();
      skip();
      CHECK(at_ == text_.size());
      return result;
    }
  }
  Value expression() {
    const Value condition = operation();
    if (!take("?")) return condition;
    const Value yes = expression();
    REQUIRE(take(":"));
    const Value no = expression();
    return {yes.shows || no.shows, yes.list || no.list};
  }
  /// Arithmetic makes new values, except the sum of two lists.
  Value operation() {
    Value left = unary();
    while (true) {
      bool is_sum = false, found = false;
      for (const std::string_view token : {"||", "&&", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "//", "/", "%"})
        if (!found && take(token)) found = true, is_sum = token == "+";
      if (!found) return left;
      const Value right = unary();
      left = is_sum && (left.list || right.list) ? Value{left.shows || right.shows, true} : Value{};
    }
  }
  Value unary() {
    if (take("-") || take("!")) return (void)unary(), Value{};
    Value value = primary();
    while (take("[")) {
      if (!take(":")) {
        (void)expression();
        if (take("]")) {
          value.list = false;
          continue;
        }
        REQUIRE(take(":"));
      }
      value.list = true;
      if (take("]")) continue;
      (void)expression();
      REQUIRE(take("]"));
    }
    return value;
  }
  Value primary() {
    skip();
    REQUIRE(at_ < text_.size());
    if (take("(")) {
      const Value inner = expression();
      REQUIRE(take(")"));
      return inner;
    }
    if (take("[")) return bracket();
    if (take("'")) return at_ = text_.find('\'', at_) + 1, Value{};
    if (text_[at_] >= '0' && text_[at_] <= '9') {
      while (at_ < text_.size() && (is_part(text_[at_]) || (text_[at_] == '-' && text_[at_ - 1] == 'e'))) ++at_;
      return {};
    }
    const std::string_view name = word();
    REQUIRE(!name.empty());
    if ((name == "fold" || name == "scan") && take("(")) return fold(name == "scan");
    if (take("(")) {
      std::vector<bool> arguments;
      while (!take(")")) {
        const std::size_t first = at_;
        const std::string_view keyword = word();
        if (keyword.empty() || !take("=") || text_.substr(at_).starts_with('=')) at_ = first;
        arguments.push_back(expression().shows);
        (void)take(",");
      }
      return {.shows = shows_call(name, arguments, within_)};
    }
    for (auto v = variables_.rbegin(); v != variables_.rend(); ++v)
      if (v->first == name) return v->second;
    return {};
  }
  Value bracket() {
    const std::size_t first = at_;
    if (const std::string_view name = word(); !name.empty() && take("in ")) {
      const Value items = expression();
      REQUIRE(take(":"));
      variables_.push_back({name, items});
      const Value each = expression();
      variables_.pop_back();
      REQUIRE(take("]"));
      return {each.shows, true};
    }
    at_ = first;
    Value all{.list = true};
    while (!take("]")) {
      all.shows = expression().shows || all.shows;
      (void)take(",");
    }
    return all;
  }
  /// Reads `fold(a: start; i in list: x)` or `scan(...)`.
  Value fold(bool keeps_all) {
    const std::string_view name = word();
    REQUIRE(take(":"));
    const Value start = expression();
    REQUIRE(take(";"));
    const std::string_view index = word();
    REQUIRE(take("in "));
    const Value items = expression();
    REQUIRE(take(":"));
    variables_.push_back({name, start});
    variables_.push_back({index, items});
    const Value step = expression();
    variables_.resize(variables_.size() - 2);
    REQUIRE(take(")"));
    return {start.shows || step.shows, keeps_all || start.list};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<std::string_view> within_;
  std::vector<std::pair<std::string_view, Value>> variables_;
};

/// Operators whose rules may return an argument or a view of one, where torch's kernels always return a copy (torch
/// 2.6, by data_ptr), or where nobody may write to the result (unsafe_*).
constexpr std::string_view copies[] = {
    "aten._conj_physical.default",
    "aten._pad_circular.default",
    "aten._pad_enum.default",
    "aten._trilinear.default",
    "aten._unsafe_view.default",
    "aten._upsample_nearest_exact1d.vec",
    "aten._upsample_nearest_exact2d.vec",
    "aten._upsample_nearest_exact3d.vec",
    "aten.as_strided_copy.default",
    "aten.bilinear.default",
    "aten.chain_matmul.default",
    "aten.channel_shuffle.default",
    "aten.clamp.Tensor",
    "aten.clip.Tensor",
    "aten.diag.default",
    "aten.diagonal_copy.default",
    "aten.diff.default",
    "aten.expand_copy.default",
    "aten.fft_fftshift.default",
    "aten.fft_ifftshift.default",
    "aten.fill.Tensor",
    "aten.gru.input",
    "aten.linalg_matrix_power.default",
    "aten.linalg_multi_dot.default",
    "aten.lstm.input",
    "aten.matrix_power.default",
    "aten.median.dim",
    "aten.mode.default",
    "aten.nanmedian.dim",
    "aten.narrow_copy.default",
    "aten.native_channel_shuffle.default",
    "aten.ormqr.default",
    "aten.pad.default",
    "aten.permute_copy.default",
    "aten.pixel_shuffle.default",
    "aten.pixel_unshuffle.default",
    "aten.repeat.default",
    "aten.repeat_interleave.self_int",
    "aten.rnn_relu.input",
    "aten.rnn_tanh.input",
    "aten.roll.default",
    "aten.rrelu_with_noise_functional.default",
    "aten.select_copy.int",
    "aten.slice_copy.Tensor",
    "aten.split_copy.Tensor",
    "aten.split_with_sizes_copy.default",
    "aten.squeeze_copy.default",
    "aten.squeeze_copy.dim",
    "aten.squeeze_copy.dims",
    "aten.t_copy.default",
    "aten.tile.default",
    "aten.transpose_copy.int",
    "aten.triangular_solve.default",
    "aten.unbind_copy.int",
    "aten.unfold_copy.default",
    "aten.unsafe_chunk.default",
    "aten.unsafe_split.Tensor",
    "aten.unsafe_split_with_sizes.default",
    "aten.unsqueeze_copy.default",
    "aten.view_copy.default",
    "prims.convert_element_type.default",
};

}  // namespace

TEST_CASE("an operator whose rule may return an argument or a view of one is known as a view, or copies in torch") {
  std::vector<bool> needed(std::size(copies), false);
  for (const auto family : operator_tables)
    for (const OperatorRow& row : family)
      for (const std::string_view rule : {row.rule, row.complex_rule}) {
        if (rule.empty() || rule.starts_with('$')) continue;
        CAPTURE(rule);
        if (!Answers::may_show(rule, std::vector<bool>(32, true))) continue;
        const std::string_view name = operator_name(rule);
        const auto copy = std::ranges::find(copies, name);
        if (copy != std::end(copies)) needed[static_cast<std::size_t>(copy - std::begin(copies))] = true;
        CHECK((copy == std::end(copies)) == (view_kind(name) != ViewKind::none));
      }
  for (std::size_t i = 0; i < needed.size(); ++i) {
    CAPTURE(copies[i]);
    CHECK(needed[i]);
  }
}

TEST_CASE("a rule that returns its argument, part of it, or a new value") {
  const auto shows = [](std::string_view rule) { return Answers::may_show(rule, {true}); };
  CHECK(shows("x(self): self"));
  CHECK(shows("x(self): rank(self) == 0 ? self + 1 : unsqueeze(self, 0)"));
  CHECK(shows("x(self): a = [self, 1]; a[0]"));
  CHECK(shows("x(self): fold(a: self; i in range(0, 2): a * i)"));
  CHECK(shows("x(self): scan(a: self; i in range(0, 2): slice.Tensor(a, 0, 1))[1]"));
  CHECK(shows("x(self): [i in range(0, 2): slice.Tensor(self, 0, i)]"));
  CHECK(shows("x = aten.movedim.int"));
  CHECK(!shows("x(self): self + 1"));
  CHECK(!shows("x(self): clone(self)"));
  CHECK(!shows("x(self): view(relu(self), sizes(self))"));
  CHECK(!shows("x = aten.softmax.int"));
}
