// SPDX-License-Identifier: MIT
#include "davit/ops/rules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../support/data.hpp"
#include "davit/lowering/detail/rule_functions.hpp"
#include "davit/ops/operator_row.hpp"
#include "davit/ops/operators.hpp"

using namespace davit;

namespace {

/// The parts of a text between separators.
std::vector<std::string> words_of(std::string_view text, std::string_view separator) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + separator.size(), text.size()));
  }
  return words;
}
/// The names of a rule's parameters, without their defaults.
std::vector<std::string> parameters_of(std::string_view rule) {
  const std::size_t open = rule.find('(');
  if (open == std::string_view::npos) return {};
  std::vector<std::string> names = words_of(rule.substr(open + 1, rule.find(')') - open - 1), ",");
  for (std::string& name : names) name.erase(0, name.find_first_not_of(" \n"));
  std::erase_if(names, [](const std::string& name) {
    return name.find('=') == std::string::npos && name.ends_with(']');
  });  // the rest of a list that is a default
  for (std::string& name : names) name = name.substr(0, name.find('='));
  return names;
}

/// Composite operators of torch without a rule, by the beginning of their names, with the reason.
struct LeftOut {
  std::string_view why;
  std::vector<std::string_view> names;
};
const std::vector<LeftOut>& left_out() {
  static const std::vector<LeftOut> rows = {
      {"answers no tensor, or asks about the tensor object: export evaluates it",
       {"can_cast", "cudnn_is_acceptable", "is_", "output_nr", "promote_types", "result_type", "retains_grad",
        "size.int", "stride.int", "_version", "_has_compatible_shallow_copy_type", "_is_zerotensor",
        "_debug_has_internal_overlap", "_nnpack_available", "_use_cudnn_rnn_flatten_weight"}},
      {"changes the tensor object, its gradient or its names: nothing is left of it in an exported program",
       {"retain_grad", "set_data", "get_gradients", "refine_names", "rename", "align_", "_add_batch_dim",
        "_remove_batch_dim", "_unpack_dual", "_propagate_xla_data", "_to_cpu", "resize_as"}},
      {"of sparse, nested or packed tensors, which exported programs cannot hold",
       {"_sparse_", "sparse_", "smm", "sspaddmm", "to_sparse", "to_dense", "coalesce", "_validate_",
        "nested_to_padded_tensor", "_pad_packed_sequence", "gru.data", "lstm.data", "rnn_relu.data", "rnn_tanh.data",
        "flatten_dense_tensors", "unflatten_dense_tensors", "_chunk_cat"}},
      {"of a library or a device of PyTorch's own: cuDNN, FBGEMM, quantized modules",
       {"cudnn_", "_cufft_", "fbgemm_", "quantized_", "_wrapped_", "choose_qparams_optimized",
        "_choose_qparams_per_tensor", "_rowwise_prune", "_saturate_weight_to_fp16", "fused_moving_avg_obs_fake_quant"}},
      {"is PyTorch's own test", {"_test_"}},
      {"random: it needs the generator's order", {"_sobol_engine_draw"}},
      {"its result's size depends on data, or needs a kernel of its own",
       {"ctc_loss", "histogramdd", "narrow.Tensor", "tensor_split.tensor_indices_or_sections"}},
      {"torch 2.6 does not export it: it looks at its input", {"quantile", "nanquantile", "cov", "corrcoef"}},
      {"complex numbers: the inverse short-time transform", {"stft.center", "imag", "chalf"}},
      {"needs a factorization", {"linalg_", "qr", "svd"}},
      {"seldom in a model: nobody asked for it yet",
       {"_batch_norm_impl_index", "_convolution.deprecated", "_convolution_mode", "_dim_arange", "_reshape_from_tensor",
        "_shape_as_tensor", "_scaled_dot_product_attention_math", "_upsample_nearest_exact", "combinations",
        "multilabel_margin_loss_forward.output", "nll_loss2d_forward", "nll_loss_forward", "log_sigmoid_forward.output",
        "slow_conv3d", "thnn_conv2d", "upsample_nearest3d.default", "xlogy.Out"}}};
  return rows;
}

/// A word of a rule and the text behind it.
struct Word {
  std::string_view text, behind;
  [[nodiscard]] bool is_called() const { return behind.starts_with('('); }
  [[nodiscard]] bool is_assigned() const { return behind.starts_with('=') && !behind.starts_with("=="); }
};
/// The words of a rule, without numbers and quoted texts.
std::vector<Word> words_in(std::string_view rule) {
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$';
  };
  std::vector<Word> found;
  for (std::size_t at = 0; at < rule.size();) {
    if (rule[at] == '\'') {
      at = std::min(rule.find('\'', at + 1), rule.size() - 1) + 1;
    } else if (!is_part(rule[at])) {
      ++at;
    } else {
      std::size_t end = at;
      while (end < rule.size() && is_part(rule[end])) ++end;
      std::string_view behind = rule.substr(end);
      behind.remove_prefix(std::min(behind.find_first_not_of(" \n"), behind.size()));
      if (!std::isdigit(static_cast<unsigned char>(rule[at])) && rule[at] != '.')
        found.push_back({rule.substr(at, end - at), behind});
      at = end;
    }
  }
  return found;
}
/// The items of a list in brackets, such as "(x, [1, 2], dim=0)": up to the bracket that closes it.
std::vector<std::string> items_of(std::string_view list) {
  std::vector<std::string> items{""};
  int depth = 0;
  bool quoted = false;
  for (const char c : list) {
    if (c == '\'') quoted = !quoted;
    if (!quoted && (c == ')' || c == ']') && --depth == 0) break;
    const bool starts = !quoted && (c == '(' || c == '[') && ++depth == 1;
    if (starts || (items.back().empty() && std::isspace(static_cast<unsigned char>(c)) != 0)) continue;
    if (c == ',' && depth == 1 && !quoted)
      items.emplace_back();
    else
      items.back() += c;
  }
  if (items.size() == 1 && items[0].empty()) items.clear();
  return items;
}
/// "dim" of "dim=0"; empty if the item has no name.
std::string_view name_of_item(std::string_view item) {
  const std::size_t end = item.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
  const std::string_view rest = item.substr(std::min(end, item.size()));
  return rest.starts_with('=') && !rest.starts_with("==") ? item.substr(0, end) : std::string_view{};
}
/// True if a call gives each parameter without a default, and nothing that has no parameter. Parameters are those of a
/// schema, "Tensor self, int dim=0, *, bool flag", or of a rule, "self, dim=0".
bool takes(std::string_view parameters, const std::vector<std::string>& arguments) {
  static constexpr std::string_view always[] = {
      "sizes",         "as",           "layout", "device",       "pin_memory",
      "memory_format", "non_blocking", "copy",   "cudnn_enable", "cudnn_enabled"};
  std::vector<std::string> names, required;
  for (const std::string& each : items_of(parameters)) {
    if (each == "*") continue;
    const std::size_t end = std::min(each.find('='), each.size());
    names.push_back(each.substr(0, end).substr(each.substr(0, end).rfind(' ') + 1));
    if (end == each.size()) required.push_back(names.back());
  }
  std::size_t position = 0;
  for (const std::string& each : arguments) {
    const std::string name(name_of_item(each));
    if (std::ranges::find(always, name) != std::end(always)) continue;
    if (name.empty() ? position >= names.size() : std::ranges::find(names, name) == names.end()) return false;
    std::erase(required, name.empty() ? names[position] : name);
    ++position;
  }
  return required.empty();
}
/// A mistake that would keep a rule from ever fitting: a bracket, an unknown name or a call with other arguments than
/// its function takes. Empty if there is none.
std::string mistake_in(std::string_view rule) {
  static constexpr std::string_view constants[] = {
      "none",    "true",      "false",     "inf",   "nan",   "in",    "out",     "outtype",  "contiguous_format",
      "bool",    "uint8",     "int8",      "int16", "int32", "int64", "float16", "bfloat16", "float32",
      "float64", "complex64", "complex128"};
  std::string open;
  for (const char c : rule) {
    if (c == '(' || c == '[') open += c;
    if (c != ')' && c != ']') continue;
    if (open.empty() || open.back() != (c == ')' ? '(' : '[')) return std::string("a ") + c + " that closes nothing";
    open.pop_back();
  }
  if (!open.empty()) return std::string("a ") + open.back() + " that is not closed";
  const std::string_view own = operator_name(rule);
  std::size_t parameters = own.size();
  for (int depth = 0; parameters < rule.size(); ++parameters) {
    if (rule[parameters] == '(') ++depth;
    if (depth == 0 || (rule[parameters] == ')' && --depth == 0)) break;
  }
  std::vector<Word> words = words_in(rule.substr(own.size()));
  std::vector<std::string_view> known(std::begin(constants), std::end(constants));
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_parameter = words[i].text.data() < rule.data() + parameters;
    const bool is_folded = i > 0 && (words[i - 1].text == "fold" || words[i - 1].text == "scan");
    if (words[i].is_assigned() || words[i].behind.starts_with("in ") || is_parameter || is_folded)
      known.push_back(words[i].text);
  }
  for (const Word& word : words) {
    const std::string name(word.text), core = "aten." + name;
    if (!word.is_called()) {
      if (std::ranges::find(known, word.text) == known.end()) return "the name " + name;
      continue;
    }
    if (name == "fold" || name == "scan") continue;
    const std::vector<std::string> arguments = items_of(word.behind);
    const detail::RuleFunctionRow* const function = detail::find_rule_function(name);
    bool is_known = function != nullptr, fits = is_known && arguments.size() == function->arguments;
    for (const std::string& full : {name, core, core + ".default"})
      for (std::string_view row : {find_operator(full), find_decomposition(full), find_complex_rule(full)}) {
        is_known = is_known || !row.empty();
        while (row.substr(operator_name(row).size()).starts_with(" = ")) {  // another name of an operator
          const std::string_view to = row.substr(operator_name(row).size() + 3);
          row = !find_operator(to).empty() ? find_operator(to) : find_decomposition(to);
        }
        fits = fits || (!row.empty() && takes(row.substr(operator_name(row).size()), arguments));
      }
    if (!is_known) return "the function " + name;
    if (!fits) return "the arguments of " + name;
  }
  return {};
}

}  // namespace

TEST_CASE("rules call existing operators, with their parameters' names") {
  for (const auto family : operator_tables)
    for (const OperatorRow& row : family)
      for (const std::string_view rule : {row.rule, row.complex_rule}) {
        if (rule.empty() || rule.substr(operator_name(rule).size()).starts_with(" = ")) continue;
        CAPTURE(rule);
        CHECK(mistake_in(rule) == "");
      }
  CHECK(mistake_in("aten.a.default(self, limit=1.0)^: tanh(self / limit) * limit") == "");
  CHECK(mistake_in("aten.a.default(self, limit=1.0)^: tahn(self / limit) * limit") == "the function tahn");
  CHECK(mistake_in("aten.a.default(self, limit=1.0)^: tanh(self / lim) * limit") == "the name lim");
  CHECK(mistake_in("aten.a.default(self, limit=1.0)^: tanh(self / limit * limit") == "a ( that is not closed");
  CHECK(mistake_in("aten.a.default(self): x = [i in range(0, 2): i]; fold(t: self; i in x: t + i)") == "");
  CHECK(mistake_in("aten.a.default(self): tanh(self, 2)") == "the arguments of tanh");
  CHECK(mistake_in("aten.a.default(self): tanh()") == "the arguments of tanh");
  CHECK(mistake_in("aten.a.default(self): rank(self, 1)") == "the arguments of rank");
  CHECK(mistake_in("aten.a.default(self): softmax.int(self, dim=1)") == "");
  CHECK(mistake_in("aten.a.default(self): softmax.int(self, dims=1)") == "the arguments of softmax.int");
}

TEST_CASE("rules are found by the name of their operator") {
  for (const auto family : operator_tables)
    for (const OperatorRow& row : family) {
      if (!row.rule.empty()) CHECK(find_decomposition(operator_name(row.rule)) == row.rule);
      if (!row.complex_rule.empty()) CHECK(find_complex_rule(operator_name(row.complex_rule)) == row.complex_rule);
    }
  CHECK(find_complex_rule("aten.relu.default").empty());
  CHECK(find_decomposition("aten.add.Tensor").empty());
  CHECK(find_decomposition("aten.relu6").empty());
  CHECK(find_decomposition("").empty());
}

TEST_CASE("another name is that of an operator or of a rule") {
  std::size_t count = 0;
  for (const auto family : operator_tables)
    for (const OperatorRow& row : family)
      for (const std::string_view rule : {row.rule, row.complex_rule}) {
        if (!rule.substr(operator_name(rule).size()).starts_with(" = ")) continue;
        ++count;
        CAPTURE(rule);
        const std::string_view to = rule.substr(operator_name(rule).size() + 3);
        CHECK((!find_operator(to).empty() || !find_decomposition(to).empty() || !find_complex_rule(to).empty()));
      }
  CHECK(count > 100);
}

TEST_CASE("every composite operator of torch has a rule, is core, or is left out for a reason") {
  std::ifstream file(test_data("composites.txt"));
  REQUIRE(file);
  std::size_t with_rule = 0, count = 0;
  std::vector<std::vector<bool>> excuses;
  for (const LeftOut& row : left_out()) excuses.emplace_back(row.names.size(), false);
  for (std::string line; std::getline(file, line); ++count) {
    const std::vector<std::string> words = words_of(line, " ");
    const std::string& name = words[0];
    CAPTURE(name);
    const std::string_view text = find_decomposition(name);
    const bool rule = !text.empty();
    with_rule += rule;
    // a rule names parameters of the operator, in their order
    std::size_t at = 1;
    for (const std::string& parameter : parameters_of(text)) {
      CAPTURE(parameter);
      at = static_cast<std::size_t>(std::find(words.begin() + static_cast<std::ptrdiff_t>(at), words.end(), parameter) -
                                    words.begin());
      REQUIRE(at++ < words.size());
    }
    bool excused = false;
    for (std::size_t i = 0; i < excuses.size(); ++i)
      for (std::size_t k = 0; k < excuses[i].size(); ++k)
        if (!rule && std::string_view(name).substr(5).starts_with(left_out()[i].names[k]))
          excused = excuses[i][k] = true;
    CHECK((rule || excused || !find_operator(name).empty()));
  }
  CHECK(count == 691);
  CHECK(with_rule > 390);
  for (std::size_t i = 0; i < excuses.size(); ++i)
    for (std::size_t k = 0; k < excuses[i].size(); ++k) {
      CAPTURE(left_out()[i].names[k]);
      CHECK(excuses[i][k]);  // false: the reason is no longer needed by any operator
    }
}

TEST_CASE("operators in place and with out= have a functional form, by their names or their rows") {
  CHECK(functional_form("aten.add_.Tensor") == "aten.add.Tensor");
  CHECK(functional_form("aten.add.out") == "aten.add.Tensor");
  CHECK(functional_form("aten.exp.out") == "aten.exp.default");
  CHECK(functional_form("aten.max.dim_max") == "aten.max.dim");
  CHECK(functional_form("aten.__ior__.Tensor") == "aten.bitwise_or.Tensor");
  CHECK(functional_form("aten.div.out_mode") == "aten.div.Tensor_mode");
  CHECK(functional_form("aten.sum.IntList_out") == "aten.sum.dim_IntList");
  CHECK(functional_form("aten.transpose_.default") == "aten.transpose.int");
  CHECK(functional_form("aten.__iunknown__.Tensor").empty());
  CHECK(functional_form("nothing").empty());
  std::size_t rows = 0;
  for (const std::span<const OperatorRow> family : operator_tables)
    for (const OperatorRow& row : family) {
      if (row.form.empty()) continue;
      ++rows;
      CAPTURE(row.form);
      CHECK(row.form.ends_with(operator_name(row.schema.empty() ? row.rule : row.schema)));
    }
  CHECK(rows == 38);
}
