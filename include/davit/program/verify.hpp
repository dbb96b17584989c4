// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/error.hpp"
#include "davit/program/check_tables.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/program/operators.hpp"

namespace davit {

/// What verify() lets pass.
struct VerifyOptions {
  bool allow_unknown_operators = false;  ///< accept ATen operators that are not in operator_schemas
};

namespace detail {

/// Collects violations of a program's rules.
class Verifier {
 public:
  constexpr Verifier(const ExportedProgram& program, VerifyOptions options)
      : program_(program), graph_(program.view()), options_(options) {}

  constexpr std::vector<Error> run() {
    if (Result<void> tables = check_tables(graph_); !tables) {
      Error error = std::move(tables.error());
      error.stage = Stage::verify;
      violations_.push_back(std::move(error));
      return std::move(violations_);
    }
    defined_.assign(graph_.values.size(), 0);
    for (GraphId id = 0; id < graph_.graphs.size(); ++id) definitions(id);
    names();
    for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
      operator_of(id);
      subgraphs_of(id);
    }
    signature_inputs();
    signature_outputs();
    return std::move(violations_);
  }

 private:
  constexpr void violation(Name where, Name what, Name fix = "export the program again") {
    violations_.push_back(Error{.code = ErrorCode::invalid_program,
                                .stage = Stage::verify,
                                .where = std::move(where),
                                .what = std::move(what),
                                .fix = std::move(fix)});
  }
  [[nodiscard]] constexpr Name place(NodeId id) const {
    const Node& node = graph_.nodes[id];
    Name name;
    for (const Argument& output : graph_.outputs(node))
      graph_.for_each_value(output, [&](ValueId v) {
        if (name.empty()) name = Name(graph_.name(v));
      });
    return concat("node ", id, " '", name, "' (", graph_.target(node), ")");
  }

  /// Every value is defined once, in its own graph, and before its uses.
  constexpr void definitions(GraphId id) {
    const Graph& graph = graph_.graphs[id];
    const auto define = [&](ValueId v, Name where) {
      if (graph_.values[v].graph != id) {
        violation(std::move(where), concat("'", graph_.name(v), "' belongs to another graph"));
      } else if (defined_[v] != 0) {
        violation(std::move(where), concat("'", graph_.name(v), "' is defined a second time"));
      }
      defined_[v] = 1;
    };
    const auto use = [&](ValueId v, const auto& where) {
      if (graph_.values[v].graph != id) {
        violation(where(), concat("'", graph_.name(v), "' belongs to another graph; a sub-graph sees only its operands"));
      } else if (defined_[v] == 0) {
        violation(where(), concat("'", graph_.name(v), "' is used before it is defined"));
      }
    };
    for (const Argument& input : graph_.args(graph.inputs))
      graph_.for_each_value(input, [&](ValueId v) { define(v, concat("inputs of graph '", graph_.str(graph.name), "'")); });
    for (std::uint32_t n = 0; n < graph.nodes.count; ++n) {
      const NodeId node = graph.nodes.first + n;
      for (const Argument& input : graph_.inputs(graph_.nodes[node]))
        graph_.for_each_value(input, [&](ValueId v) { use(v, [&] { return place(node); }); });
      for (const Argument& output : graph_.outputs(graph_.nodes[node]))
        graph_.for_each_value(output, [&](ValueId v) {
          if (graph_.values[v].producer != node) violation(place(node), concat("'", graph_.name(v), "' names another producer"));
          if (defined_[v] != 0 || graph_.values[v].graph != id) {
            define(v, place(node));
          } else {
            defined_[v] = 1;
          }
        });
    }
    for (const Argument& output : graph_.args(graph.outputs))
      graph_.for_each_value(output, [&](ValueId v) {
        use(v, [&] { return concat("outputs of graph '", graph_.str(graph.name), "'"); });
      });
  }

  /// Names are unique within a graph and not empty.
  constexpr void names() {
    std::size_t buckets = 16;
    while (buckets < 2 * graph_.values.size()) buckets *= 2;
    std::vector<ValueId> table(buckets, no_id);
    for (ValueId v = 0; v < graph_.values.size(); ++v) {
      const Value& value = graph_.values[v];
      const std::string_view name = graph_.name(v);
      if (name.empty()) {
        violation(concat("value ", v), "it has no name");
        continue;
      }
      if (defined_[v] == 0) violation(concat("value '", name, "'"), "it is declared, but neither an input nor a node defines it");
      std::uint64_t hash = 0xcbf29ce484222325u ^ value.graph;
      for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
      std::size_t at = static_cast<std::size_t>(hash ^ (hash >> 32)) & (buckets - 1);
      while (table[at] != no_id) {
        if (graph_.values[table[at]].graph == value.graph && graph_.name(table[at]) == name) {
          violation(concat("value '", name, "'"), "two values of one graph have this name");
          break;
        }
        at = (at + 1) & (buckets - 1);
      }
      if (table[at] == no_id) table[at] = v;
    }
  }

  /// Operators are known, or of a custom namespace.
  constexpr void operator_of(NodeId id) {
    const std::string_view target = graph_.target(graph_.nodes[id]);
    if (target.starts_with('#') && target.find(':') != std::string_view::npos) return;
    const std::size_t first = target.find('.');
    const std::size_t last = target.rfind('.');
    if (first == std::string_view::npos || first == 0 || last + 1 == target.size()) {
      violation(place(id), concat("'", target, "' is no operator name"), "an operator is written namespace.name.overload");
      return;
    }
    const std::string_view space = target.substr(0, first);
    if (space == "higher_order") return;
    if (space == "_operator" || space == "torch") {
      if (find_operator(target).empty())
        violation(place(id), concat("'", target, "' is not an operation on symbolic numbers"));
      return;
    }
    if (first == last) {
      violation(place(id), concat("'", target, "' has no overload"), "an operator is written namespace.name.overload");
      return;
    }
    if (space == "aten" && !options_.allow_unknown_operators && find_operator(target).empty())
      violation(place(id), concat("'", target, "' is not an operator davit knows"),
                "decompose it with run_decompositions(), or allow unknown operators if a backend takes it");
  }

  /// Sub-graphs take and give as many values as their operator passes and returns.
  constexpr void subgraphs_of(NodeId id) {
    const Node& node = graph_.nodes[id];
    const std::string_view target = graph_.target(node);
    const std::span<const Argument> in = graph_.inputs(node);
    const auto count = [&](std::size_t i) -> std::size_t {
      return i < in.size() && in[i].is_list() ? in[i].items.count : 0;
    };
    std::size_t results = 0;
    for (const Argument& output : graph_.outputs(node)) results += output.is_list() ? output.items.count : 1;
    const auto graph_at = [&](std::size_t i) -> const Graph* {
      if (i < in.size() && in[i].kind == ArgumentKind::graph) return &graph_.graphs[in[i].graph()];
      violation(place(id), concat("argument ", i, " must be a sub-graph"));
      return nullptr;
    };
    const auto expect = [&](const Graph* graph, std::size_t inputs, std::size_t outputs) {
      if (graph == nullptr) return;
      if (graph->inputs.count != inputs)
        violation(place(id), concat("sub-graph '", graph_.str(graph->name), "' takes ", graph->inputs.count,
                                    " values, but the operator passes ", inputs));
      if (graph->outputs.count != outputs)
        violation(place(id), concat("sub-graph '", graph_.str(graph->name), "' returns ", graph->outputs.count,
                                    " values, but the operator returns ", outputs));
    };
    if (target == "higher_order.cond") {
      expect(graph_at(1), count(3), results);
      expect(graph_at(2), count(3), results);
    } else if (target == "higher_order.while_loop") {
      const std::size_t carried = count(2);
      expect(graph_at(0), carried + count(3), 1);
      expect(graph_at(1), carried + count(3), carried);
      if (results != carried) violation(place(id), "it must return one value per carried input");
    } else if (target == "higher_order.map_impl") {
      std::size_t extras = 0;  // positional, or one list
      for (std::size_t i = 2; i < in.size(); ++i) extras += in[i].is_list() ? in[i].items.count : 1;
      expect(graph_at(0), count(1) + extras, results);
    } else if (target == "higher_order.scan") {
      std::size_t additional = 0;
      for (std::size_t i = 3; i < in.size(); ++i) additional += count(i);
      expect(graph_at(0), count(1) + count(2) + additional, results);
    }
  }

  [[nodiscard]] constexpr bool in_state_dict(std::string_view name) const { return has(program_.state_dict, name); }
  [[nodiscard]] constexpr bool in_constants(std::string_view name) const { return has(program_.constants, name); }
  [[nodiscard]] static constexpr bool has(const std::vector<NamedTensor>& entries, std::string_view name) {
    for (const NamedTensor& entry : entries)
      if (entry.name == name) return true;
    return false;
  }

  /// The signature's inputs are the graph's inputs, and what they stand for exists.
  constexpr void signature_inputs() {
    const std::span<const Argument> inputs = graph_.args(graph_.root().inputs);
    const std::vector<InputSpec>& specs = program_.signature.input_specs;
    if (inputs.size() != specs.size()) {
      violation("signature", concat("it lists ", specs.size(), " inputs, the graph has ", inputs.size()));
      return;
    }
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const std::string_view name = arg_name(specs[i]);
      const auto where = [&] { return concat("signature, input ", i, " '", name, "'"); };
      if (inputs[i].is_value() && graph_.name(inputs[i].value()) != name)
        violation(where(), concat("the graph calls this input '", graph_.name(inputs[i].value()), "'"));
      const Name* wanted = target(specs[i]);
      if (wanted == nullptr) continue;
      switch (kind(specs[i])) {
        case InputKind::parameter:
          if (!in_state_dict(*wanted)) violation(where(), concat("parameter '", *wanted, "' is not in the state dict"));
          break;
        case InputKind::buffer:
          if (*persistent(specs[i]) && !in_state_dict(*wanted))
            violation(where(), concat("persistent buffer '", *wanted, "' is not in the state dict"));
          if (!*persistent(specs[i]) && in_state_dict(*wanted))
            violation(where(), concat("non-persistent buffer '", *wanted, "' is in the state dict"));
          if (!*persistent(specs[i]) && !in_constants(*wanted))
            violation(where(), concat("non-persistent buffer '", *wanted, "' is not among the constants"));
          break;
        case InputKind::constant_tensor:
          if (!in_constants(*wanted)) violation(where(), concat("constant '", *wanted, "' is not among the constants"));
          break;
        default: break;
      }
    }
  }

  /// The signature's outputs are the graph's outputs, mutations name inputs, and kinds come in torch's order.
  constexpr void signature_outputs() {
    const std::span<const Argument> outputs = graph_.args(graph_.root().outputs);
    const std::vector<OutputSpec>& specs = program_.signature.output_specs;
    if (outputs.size() != specs.size()) {
      violation("signature", concat("it lists ", specs.size(), " outputs, the graph has ", outputs.size()));
      return;
    }
    int reached = 0;
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const std::string_view name = arg_name(specs[i]);
      const auto where = [&] { return concat("signature, output ", i, " '", name, "'"); };
      if (outputs[i].is_value() && graph_.name(outputs[i].value()) != name)
        violation(where(), concat("the graph calls this output '", graph_.name(outputs[i].value()), "'"));
      const OutputKind k = kind(specs[i]);
      const int rank = k == OutputKind::token ? 0
                       : k == OutputKind::buffer_mutation || k == OutputKind::parameter_mutation ||
                               k == OutputKind::user_input_mutation
                           ? 1
                       : k == OutputKind::user_output || k == OutputKind::loss_output ? 2
                                                                                      : 3;
      if (rank < reached) violation(where(), "outputs must come as tokens, mutations, user outputs, gradients");
      if (rank > reached) reached = rank;
      if (const Name* wanted = target(specs[i]); wanted != nullptr && !names_input(k, *wanted))
        violation(where(), concat(name_of(k), " names '", *wanted, "', which is no such input"));
    }
  }
  [[nodiscard]] constexpr bool names_input(OutputKind k, std::string_view wanted) const {
    for (const InputSpec& spec : program_.signature.input_specs) {
      const InputKind input = kind(spec);
      switch (k) {
        case OutputKind::buffer_mutation:
          if (input == InputKind::buffer && *target(spec) == wanted) return true;
          break;
        case OutputKind::parameter_mutation:
        case OutputKind::gradient_to_parameter:
          if (input == InputKind::parameter && *target(spec) == wanted) return true;
          break;
        default:
          if (input == InputKind::user_input && arg_name(spec) == wanted) return true;
      }
    }
    return false;
  }

  const ExportedProgram& program_;
  GraphModuleView graph_;
  VerifyOptions options_;
  std::vector<std::uint8_t> defined_;
  std::vector<Error> violations_;
};

}  // namespace detail

/// Checks the rules of torch.export on a program; returns every violation with its place, none if it is sound.
///
/// Each name is defined once and before use; signature and graph agree in name, order and number; mutation targets
/// exist; outputs come in torch's order; operators are known or custom; sub-graphs have the arity their operator needs;
/// weights are where the signature says. O(nodes + values + inputs * entries of the state dict).
/// Source: torch._export.verifier.Verifier and _verify_exported_program_signature.
[[nodiscard]] constexpr std::vector<Error> verify(const ExportedProgram& program, VerifyOptions options = {}) {
  return detail::Verifier(program, options).run();
}

}  // namespace davit
