// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "davit/core/error.hpp"
#include "davit/formats/embed_assertions.hpp"
#include "davit/formats/embed_c_text.hpp"
#include "davit/formats/embed_constants.hpp"
#include "davit/formats/embed_graph_text.hpp"
#include "davit/formats/embed_program.hpp"
#include "davit/formats/embed_refusals.hpp"
#include "davit/formats/embed_weights.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/program/symbols.hpp"

namespace davit::formats {

namespace detail {

class ProgramEmbedder {
 public:
  ProgramEmbedder(const ExportedProgram& program, const EmbedOptions& options)
      : program_(program),
        graph_(program.view()),
        options_(options),
        type_(embed_text::identifier(options.name)),
        constants_(type_ + "_constants"),
        weights_(graph_) {}

  [[nodiscard]] Result<EmbeddedProgram> run() {
    if (Result<void> bound = bind_symbols(); !bound) return std::unexpected(bound.error());
    if (Result<void> checked = check_assertions(); !checked) return std::unexpected(checked.error());
    const EmbedGraphText text(graph_, dims_, symbols_);
    if (Result<void> listed = list_inputs(text); !listed) return std::unexpected(listed.error());
    if (Result<void> listed = list_outputs(); !listed) return std::unexpected(listed.error());
    if (options_.select != nullptr)
      if (Result<void> taken = check_taken(text.rows(), options_.select(text.rows(), inputs_.data(), outputs_.data())); !taken) return std::unexpected(taken.error());
    const std::string tables = text.write(options_.source_lines);
    if (!options_.weights_as_array && !constants_.blob().empty() && embed_text::escaped(options_.name) != options_.name)
      return refuse(concat("the name '", options_.name, "'"), "no file of that name can be named in a header", "use letters, digits, - and _");
    if (!std::ranges::all_of(options_.section, [](char c) { return c == '.' || c == '_' || c == '-' || c == '$' || embed_text::is_alphanumeric(c); }))
      return refuse(concat("the section '", options_.section, "'"), "no section has such a name", "use letters, digits, '.', '_', '-' and '$'");
    if (constants_.blob().size() > INT32_MAX) return refuse("the program", "its weights do not fit 31 bits", "");
    EmbeddedProgram out{.header = header(text, tables), .blob = options_.weights_as_array ? std::vector<std::byte>{} : constants_.blob()};
    if (options_.plan != nullptr)
      if (Result<void> written = write_c(text.rows(), out); !written) return std::unexpected(written.error());
    out.unchecked = std::move(unchecked_);
    return out;
  }

 private:
  [[nodiscard]] static std::unexpected<Error> refuse(std::string_view where, std::string_view what,
                                                     std::string_view fix) {
    return std::unexpected(Error{.code = ErrorCode::unsupported_argument,
                                 .stage = Stage::save,
                                 .where = Name(where),
                                 .what = Name(what),
                                 .fix = Name(fix)});
  }

  /// Every size and symbolic number becomes a number.
  [[nodiscard]] Result<void> bind_symbols() {
    SymbolValues values(graph_.exprs);
    std::vector<std::uint8_t> used(options_.symbols.size(), 0);
    for (ExprId e = 0; e < graph_.exprs.size(); ++e)
      for (std::size_t i = 0; i < options_.symbols.size(); ++i)
        if (graph_.exprs[e].op == ExprOp::symbol && graph_.str(graph_.exprs[e].name) == options_.symbols[i].first) {
          used[i] = 1;
          (void)values.bind(e, options_.symbols[i].second);
        }
    for (std::size_t i = 0; i < used.size(); ++i)
      if (used[i] == 0)
        return refuse(concat("symbol ", options_.symbols[i].first), "the program has no such symbol", symbol_list());
    if (Result<void> inside = check_ranges(); !inside) return inside;
    if (Result<void> sized = check_sources(); !sized) return sized;
    values.settle();
    dims_.assign(graph_.dims.size(), 0);
    symbols_.assign(graph_.values.size(), 0);
    for (ValueId v = 0; v < graph_.values.size(); ++v) {
      const Value& value = graph_.values[v];
      const bool symbolic = value.kind == ValueKind::sym_int || value.kind == ValueKind::sym_bool;
      if (symbolic && value.expr == no_id) symbols_[v] = value.constant;
      if (symbolic && value.expr != no_id) {
        const std::optional<std::int64_t> number = values.value(value.expr);
        if (!number) return unbound(v);
        symbols_[v] = *number;
      }
      for (std::uint32_t d = value.sizes.first; d < value.sizes.first + value.sizes.count; ++d) {
        const std::optional<std::int64_t> number = values.value(graph_.dims[d]);
        if (!number) return unbound(v);
        if (*number < 0 || *number > INT32_MAX)
          return refuse(concat("value ", graph_.name(v)), "a size of it does not fit 31 bits", "");
        dims_[d] = *number;
      }
      if (const std::int64_t count = checked_numel(sizes_of(value), INT32_MAX / 16); count < 0)
        return refuse(concat("value ", graph_.name(v)), "its elements are more than a static program can have", "");
    }
    return {};
  }
  [[nodiscard]] std::span<const std::int64_t> sizes_of(const Value& value) const noexcept {
    return std::span(dims_).subspan(value.sizes.first, value.sizes.count);
  }
  /// A symbol that no input has depends on data: every run may give it another number.
  [[nodiscard]] Result<void> check_sources() const {
    std::vector<std::uint8_t> is_given(graph_.exprs.size(), 0);
    for (const Argument& a : graph_.args(graph_.root().inputs)) {
      if (!a.is_value()) continue;
      const Value& value = graph_.values[a.value()];
      if (value.expr != no_id) is_given[value.expr] = 1;
      for (const Dim& dim : graph_.dims_of(value.sizes))
        if (!dim.is_static()) is_given[dim.expr] = 1;
    }
    for (ExprId e = static_cast<ExprId>(graph_.exprs.size()); e-- > 0;) {
      const Expr& expr = graph_.exprs[e];
      for (const ExprId operand : {expr.a, expr.b, expr.op == ExprOp::rational ? no_id : expr.c})
        if (operand != no_id && is_given[e] != 0) is_given[operand] = 1;
    }
    for (ExprId e = 0; e < graph_.exprs.size(); ++e)
      for (const auto& [symbol, number] : options_.symbols)
        if (graph_.exprs[e].op == ExprOp::symbol && is_given[e] == 0 && graph_.str(graph_.exprs[e].name) == symbol)
          return refuse(concat("symbol ", symbol), "it depends on data, so that no number stands for it",
                        "export the model without operators whose sizes depend on data");
    return {};
  }

  /// What the model asserts of numbers holds, now that they are numbers; what it asserts of data and no step
  /// checks is listed.
  [[nodiscard]] Result<void> check_assertions() {
    for (NodeId n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      const std::string_view target = graph_.target(node);
      if (!target.starts_with("aten._assert_") && !target.starts_with("aten.sym_constrain_range")) continue;
      if (is_static_assertion(target)) continue;  // a step
      const std::optional<bool> holds = assertion_holds(graph_, node, symbols_);
      const Name where = concat("node ", n, " (", target, ")");
      if (holds && !*holds) return refuse(where, concat("the model asserts what does not hold", assertion_text(graph_, node)), "give other numbers by --dim");
      if (!holds) unchecked_.push_back(std::string(concat(where, assertion_text(graph_, node)).view()));
    }
    return {};
  }
  [[nodiscard]] Result<void> check_ranges() const {
    for (const auto& [symbol, number] : options_.symbols)
      for (const RangeConstraint& range : program_.range_constraints)
        if (range.symbol == symbol && ((range.min && number < *range.min) || (range.max && number > *range.max)))
          return refuse(concat("symbol ", symbol), concat("it cannot be ", number),
                        "give a number in the program's range");
    return {};
  }
  [[nodiscard]] Name symbol_list() const {
    Name list;
    for (const Expr& e : graph_.exprs)
      if (e.op == ExprOp::symbol) list = concat(list, list.empty() ? "its symbols are " : ", ", graph_.str(e.name));
    return list.empty() ? Name("it has none") : list;
  }
  [[nodiscard]] std::unexpected<Error> unbound(ValueId v) const {
    return refuse(concat("value ", graph_.name(v)), "its size is a symbol",
                  concat("give numbers by --dim SYMBOL=N; ", symbol_list()));
  }

  [[nodiscard]] static const Tensor* tensor_of(const ExportedProgram& program, const InputSpec& spec) {
    const Name* name = target(spec);
    return name == nullptr ? nullptr : program.tensor_named(*name);
  }
  [[nodiscard]] bool is_mutated(const InputSpec& spec) const {
    const Name* name = target(spec);
    for (const OutputSpec& output : program_.signature.output_specs) {
      const OutputKind k = kind(output);
      if (name != nullptr && (k == OutputKind::buffer_mutation || k == OutputKind::parameter_mutation) &&
          *target(output) == *name)
        return true;
    }
    return false;
  }

  [[nodiscard]] Result<void> list_inputs(const EmbedGraphText& text) {
    const std::span<const Argument> arguments = graph_.args(graph_.root().inputs);
    const auto& specs = program_.signature.input_specs;
    if (specs.size() != arguments.size()) return refuse("the program", "its signature does not fit its graph", "");
    for (std::size_t i = 0; i < specs.size(); ++i) {
      inputs_.push_back({.role = StaticRole::unused});
      if (!arguments[i].is_value()) {
        rows_ += "      davit::StaticInput{.role = davit::StaticRole::unused},\n";
        continue;
      }
      const ValueId v = arguments[i].value();
      const std::string name = embed_text::identifier(graph_.name(v));
      Result<std::string> row = input_row(specs[i], v, name, text.users(v));
      if (!row) return std::unexpected(row.error());
      rows_ += "      davit::StaticInput{" + *row + "},  // " + std::to_string(i) + ": " + embed_text::comment(graph_.name(v)) +
               "\n";
    }
    return {};
  }
  /// The text of the input's row; the row itself is the last of inputs_.
  [[nodiscard]] Result<std::string> input_row(const InputSpec& spec, ValueId v, const std::string& name,
                                              std::uint32_t users) {
    const Value& value = graph_.values[v];
    StaticInput& made = inputs_.back();
    const bool mutated = is_mutated(spec);
    if (kind(spec) == InputKind::user_input) {
      if (value.kind != ValueKind::tensor && users == 0) return ".role = davit::StaticRole::unused";
      if (value.kind != ValueKind::tensor)
        return refuse(concat("input ", graph_.name(v)), "it is no tensor", "export the model with a number there");
      made.role = StaticRole::user;
      return ".role = davit::StaticRole::user";
    }
    if (users == 0 && !mutated) return ".role = davit::StaticRole::unused";
    const Tensor* tensor = tensor_of(program_, spec);
    if (tensor == nullptr) return refuse(concat("input ", graph_.name(v)), "the program has no tensor for it", "");
    if (value.dtype != tensor->dtype || !std::ranges::equal(sizes_of(value), tensor->sizes))
      return refuse(concat("input ", graph_.name(v)), "its tensor has another element type or other sizes than the graph says", "");
    if (mutated) {
      if (embed_text::element_type(tensor->dtype).empty())
        return refuse(concat("input ", graph_.name(v)), "state of this element type cannot be embedded", "");
      const EmbeddedConstant initial = constants_.add_state(name, *tensor);
      made = {.role = StaticRole::state, .data = initial.data};
      return ".role = davit::StaticRole::state" + (initial.text.empty() ? std::string() : ", .data = " + initial.text);
    }
    const bool inner = options_.layout == WeightLayout::output_inner && tensor->dtype == ScalarType::float32 &&
                       tensor->sizes.size() >= 2 && weights_.allows_output_inner(v);
    made.layout = inner ? WeightLayout::output_inner : WeightLayout::contiguous;
    const EmbeddedConstant data = constants_.add(name, *tensor, made.layout), sums = constants_.add_sums(name, *tensor);
    made = {StaticRole::constant, made.layout, sums.data.count, data.data, sums.data.as<std::int32_t>()};
    std::string row = ".role = davit::StaticRole::constant";
    if (inner) row += ", .layout = davit::WeightLayout::output_inner";
    if (made.sum_count != 0) row += ", .sum_count = " + std::to_string(made.sum_count);
    row += ", .data = " + data.text;
    if (made.sum_count != 0) row += ", .sums = " + sums.text;
    return row;
  }

  /// The graph input that an output is the new value of.
  [[nodiscard]] std::optional<std::size_t> mutated_input(const OutputSpec& spec) const {
    const Name* wanted = target(spec);
    for (std::size_t i = 0; i < program_.signature.input_specs.size(); ++i) {
      const InputSpec& input = program_.signature.input_specs[i];
      const bool by_name = kind(spec) == OutputKind::user_input_mutation;
      const Name* name = by_name ? &arg_name(input) : target(input);
      if (name != nullptr && wanted != nullptr && *name == *wanted && by_name == (kind(input) == InputKind::user_input))
        return i;
    }
    return std::nullopt;
  }
  [[nodiscard]] Result<void> list_outputs() {
    const std::span<const Argument> arguments = graph_.args(graph_.root().outputs);
    const auto& specs = program_.signature.output_specs;
    if (specs.size() != arguments.size()) return refuse("the program", "its signature does not fit its graph", "");
    for (std::size_t i = 0; i < specs.size(); ++i) {
      outputs_.push_back({.role = StaticOutputRole::unused});
      if (!arguments[i].is_value() || kind(specs[i]) == OutputKind::token) {
        output_rows_ += "      davit::StaticOutput{.role = davit::StaticOutputRole::unused},\n";
        continue;
      }
      const ValueId v = arguments[i].value();
      if (graph_.values[v].kind != ValueKind::tensor)
        return refuse(concat("output ", graph_.name(v)), "it is no tensor", "export the model without it");
      const OutputKind k = kind(specs[i]);
      const bool mutation = k == OutputKind::buffer_mutation || k == OutputKind::parameter_mutation ||
                            k == OutputKind::user_input_mutation;
      std::string row;
      outputs_.back().role = StaticOutputRole::user;
      if (mutation) {
        const std::optional<std::size_t> input = mutated_input(specs[i]);
        if (!input)
          return refuse(concat("output ", graph_.name(v)), "the program has no input that it is the new value of", "");
        outputs_.back() = mutation_of(static_cast<std::uint32_t>(*input));
        row = ".role = davit::StaticOutputRole::mutation, .target = " + std::to_string(*input);
      }
      output_rows_ += "      davit::StaticOutput{" + row + "},  // " + std::to_string(i) + ": " +
                      embed_text::comment(graph_.name(v)) + "\n";
    }
    return {};
  }

  /// C functions around the program on portable. Its plan is what the compiler will make.
  [[nodiscard]] Result<void> write_c(const StaticGraph& graph, EmbeddedProgram& out) const {
    if (embed_text::escaped(options_.name) != options_.name)
      return refuse(concat("the name '", options_.name, "'"), "no file of that name can be named in a header", "use letters, digits, - and _");
    const PlannedProgram plan = options_.plan(graph, inputs_.data(), outputs_.data(), false);
    if (Result<void> taken = check_taken(graph, plan.selected); !taken) return taken;
    std::vector<CTensor> tensors;
    for (std::size_t i = 0; i < plan.ports.size(); ++i) {
      const StaticPort& port = plan.ports[i];
      const StaticValue& value = graph.values[port.value];
      if (EmbedCText::element_type(value.dtype) == nullptr)
        return refuse(concat("value ", graph.name(port.value)), "C has no such element type", "");
      tensors.push_back({std::string(graph.name(port.value)), value.dtype, {graph.sizes + value.first_size, graph.sizes + value.first_size + value.rank},
                         port.is_output != 0 || port.is_mutated != 0});
    }
    const EmbedCText text(type_, options_.name, std::move(tensors), plan.arena_bytes);
    out.c_header = text.header();
    out.c_source = text.source();
    return {};
  }
  [[nodiscard]] std::string header(const EmbedGraphText& text, const std::string& tables) const {
    const bool has_blob = !constants_.blob().empty();
    std::string out = "// Written by `davit embed`: " + embed_text::comment(options_.name);
    if (!program_.torch_version.empty()) out += ", exported by torch " + embed_text::comment(program_.torch_version);
    out += ".\n";
    for (const std::string& assertion : unchecked_) out += "// Not checked: " + embed_text::comment(assertion) + "\n";
    out +=
        "#pragma once\n\n#include <array>\n#include <bit>\n#include <cstddef>\n#include <cstdint>\n#include "
        "<limits>\n#include <string_view>\n\n"
        "#include \"davit/embed/static_program.hpp\"\n\n";
    if (!constants_.arrays().empty())
      out += "/// The constants that constant evaluation reads.\nnamespace " + type_ + "_constants {\n" +
             constants_.arrays() + "}  // namespace " + type_ + "_constants\n\n";
    if (has_blob)
      out +=
          "static_assert(std::endian::native == std::endian::little, \"davit: these weights are little-endian\");\n" +
          blob_text();
    out += "/// " + arguments(text) + "\nstruct " + type_ + " {\n  static constexpr std::string_view name = \"" +
           embed_text::escaped(options_.name) + "\";\n";
    out += "  static constexpr std::array<davit::StaticInput, " +
           std::to_string(program_.signature.input_specs.size()) + "> inputs{\n" + rows_ + "  };\n";
    out += "  static constexpr std::array<davit::StaticOutput, " +
           std::to_string(program_.signature.output_specs.size()) + "> outputs{\n" + output_rows_ + "  };\n";
    out += tables;
    if (has_blob) out += "  static const std::byte* weights() noexcept { return " + blob_name() + "; }\n";
    return out + "};\n";
  }
  [[nodiscard]] std::string blob_name() const {
    return options_.weights_as_array ? "reinterpret_cast<const std::byte*>(" + type_ + "_constants::weights)"
                                     : "davit_weights_" + type_;
  }
  [[nodiscard]] std::string section() const { return options_.section.empty() ? ".rodata.davit.weights." + type_ : options_.section; }
  [[nodiscard]] std::string blob_text() const {
    const std::vector<std::byte>& blob = constants_.blob();
    std::string out;
    if (options_.weights_as_array) {
      const bool is_long = blob.size() >= 65536;  // clang warns of such literals
      out += "namespace " + type_ + "_constants {\n";
      if (is_long) out += "#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n";
      out += "[[gnu::section(\"" + section() + "\")]] alignas(16) inline constexpr char weights[] =";
      embed_text::append_bytes(out, blob, "    ");
      out += ";\n";
      if (is_long) out += "#pragma GCC diagnostic pop\n";
      return out + "}  // namespace " + type_ + "_constants\n\n";
    }
    const std::string symbol = "davit_weights_" + type_;
    out += "// The weights, from " + embed_text::comment(options_.name) + ".bin: its folder must be among the include paths.\n";
    out += "asm(R\"(\n  .pushsection " + section() + ", \"aG\", %progbits, " + symbol +
           ", comdat\n  .balign 16\n  .weak " + symbol + "\n  .hidden " + symbol + "\n  .type " + symbol +
           ", %object\n" + symbol + ":\n  .incbin \"" + options_.name + ".bin\", 0, " + std::to_string(blob.size()) + "\n  .size " + symbol + ", " +
           std::to_string(blob.size()) +
           "\n  .popsection\n)\");\nextern \"C\" [[gnu::visibility(\"hidden\")]] const std::byte " + symbol + "[];\n\n";
    return out;
  }
  /// "x float32 [1, 64] -> y float32 [1, 10]".
  [[nodiscard]] std::string arguments(const EmbedGraphText& text) const {
    std::string in, out;
    const std::span<const Argument> inputs = graph_.args(graph_.root().inputs);
    const std::span<const Argument> outputs = graph_.args(graph_.root().outputs);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].is_value() && kind(program_.signature.input_specs[i]) == InputKind::user_input)
        in += (in.empty() ? "" : ", ") + text.describe(inputs[i].value());
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i].is_value() && kind(program_.signature.output_specs[i]) == OutputKind::user_output)
        out += (out.empty() ? "" : ", ") + text.describe(outputs[i].value());
    return "forward: " + in + " -> " + out;
  }

  const ExportedProgram& program_;
  GraphModuleView graph_;
  const EmbedOptions& options_;
  std::string type_;
  EmbedConstants constants_;
  std::vector<std::int64_t> dims_;
  std::vector<std::int64_t> symbols_;
  EmbedWeights weights_;
  std::vector<std::string> unchecked_;
  std::string rows_, output_rows_;
  std::vector<StaticInput> inputs_;  ///< what rows_ say
  std::vector<StaticOutput> outputs_;
};

}  // namespace detail

DAVIT_INLINE Result<EmbeddedProgram> embed_program(const ExportedProgram& program,
                                                           const EmbedOptions& options) {
  return detail::ProgramEmbedder(program, options).run();
}

}  // namespace davit::formats
