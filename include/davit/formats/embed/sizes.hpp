// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "davit/core/error.hpp"
#include "davit/core/tensor.hpp"
#include "davit/formats/embed/numbers.hpp"
#include "davit/formats/embed/refusals.hpp"
#include "davit/lowering/cut_program.hpp"
#include "davit/lowering/graph_copier.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/runtime/node_call.hpp"

namespace davit::formats {

/// Checks the sizes and element types that a program declares for each node, on which a static program relies: kernels
/// with full checks compute the node on operands of zeros.
class EmbedSizes {
 public:
  /// `kernels`: the backends; nodes that none of them takes are not checked.
  EmbedSizes(const ExportedProgram& program, const EmbedNumbers& numbers, BackendTables kernels)
      : graph_(program.view()), numbers_(numbers), kernels_(kernels), copier_(graph_), last_(graph_.values.size(), 0) {}

  /// Errors: the first node with inconsistent operands, or with results other than declared. It takes about the time of
  /// an inference, without loops.
  [[nodiscard]] Result<void> check() {
    for (NodeId n = 0; n < graph_.nodes.size(); ++n)
      if (Result<void> checked = check(n); !checked) return checked;
    return {};
  }

 private:
  static constexpr std::int64_t max_memory = std::int64_t{1} << 28;
  static constexpr std::int64_t longest_row = 4096;
  /// strides of a tensor of equal rows: 0, ..., 0, 1; strides of a tensor with all elements in one place: zeros
  static constexpr auto strides = [] {
    std::array<std::int64_t, 2 * max_rank> out{};
    out[max_rank - 1] = 1;
    return out;
  }();

  [[nodiscard]] Result<void> check(NodeId n) {
    const Node& node = graph_.nodes[n];
    std::vector<ValueId> inputs, outputs;
    bool is_tensors = true;
    for (const Argument& input : graph_.inputs(node)) {
      if (input.kind == ArgumentKind::graph) return {};
      graph_.for_each_value(input, [&](ValueId v) {
        if (std::exchange(last_[v], n + 1) != n + 1) inputs.push_back(v);
      });
    }
    for (const Argument& output : graph_.outputs(node))
      graph_.for_each_value(output, [&](ValueId v) {
        outputs.push_back(v);
        is_tensors = is_tensors && graph_.values[v].kind == ValueKind::tensor;
      });
    if (outputs.empty() || !is_tensors) return {};
    Result<std::optional<NodeCall>> made = NodeCall::make(alone(n, inputs, outputs), kernels_);
    if (!made) return wrong(n, made.error().what);
    if (!*made) return {};
    std::vector<EValue> in, out;
    std::vector<Tensor> declared;  // destinations of the declared sizes: a larger result fails before it is computed
    std::int64_t bytes = 0;
    for (const ValueId v : inputs) in.push_back(operand(v));
    for (const ValueId v : outputs) {
      const Value& value = graph_.values[v];
      const std::int64_t count = checked_numel(numbers_.sizes_of(value), max_memory);
      if (count < 0 || (bytes += count * static_cast<std::int64_t>(size_of(value.dtype))) > max_memory)
        return wrong(n, concat("'", graph_.name(v), "' is larger than static programs take"));
      declared.push_back(Tensor::zeros(value.dtype, numbers_.sizes_of(value)));
    }
    for (const Tensor& tensor : declared) out.emplace_back(tensor.view());
    if (const Result<void> done = (**made).run(in, out, max_memory); !done) {
      const ErrorCode code = done.error().code;  // a matrix of zeros has no inverse
      return code == ErrorCode::failed || code == ErrorCode::assertion_failed ? Result<void>()
                                                                              : wrong(n, done.error().what);
    }
    return {};
  }
  /// Makes a program of the node alone.
  [[nodiscard]] ExportedProgram alone(NodeId n, std::span<const ValueId> inputs, std::span<const ValueId> outputs) {
    copier_.begin();
    copier_.builder.begin_graph();
    ProgramTables tables;
    std::vector<Argument> results;
    for (const ValueId v : inputs) {
      copier_.builder.input(copier_.builder.value(copier_.value(v)));
      tables.signature.input_specs.push_back(UserInputSpec{user_argument(graph_, v)});
    }
    copier_.node(n);
    for (const ValueId v : outputs) {
      results.push_back(copier_.builder.value(copier_.new_value(v)));
      tables.signature.output_specs.push_back(UserOutputSpec{user_argument(graph_, v)});
    }
    copier_.builder.end_graph(std::span<const Argument>(results));
    tables.graph_module = std::move(copier_.builder).finish();
    return ExportedProgram(std::move(tables));
  }
  /// A value's operand in the check: a tensor of zeros with all rows or elements in one place, or a number.
  [[nodiscard]] EValue operand(ValueId v) {
    const Value& value = graph_.values[v];
    const std::int64_t number = numbers_.symbols()[v];
    switch (value.kind) {
      case ValueKind::tensor: {
        const std::span<const std::int64_t> sizes = numbers_.sizes_of(value);
        const bool is_row =
            !sizes.empty() && sizes.back() <= longest_row;  // complex numbers are read from contiguous rows
        return TensorView{.data = zeros_.data(),
                          .sizes_data = sizes.data(),
                          .strides_data = strides.data() + (is_row ? max_rank - sizes.size() : max_rank),
                          .rank = static_cast<std::uint8_t>(sizes.size()),
                          .dtype = value.dtype};
      }
      case ValueKind::sym_float: return std::bit_cast<double>(number);
      case ValueKind::sym_bool: return number != 0;
      default: return number;
    }
  }
  [[nodiscard]] std::unexpected<Error> wrong(NodeId n, const Name& what) const {
    return refuse_embedding(concat("node ", n, " (", graph_.target(graph_.nodes[n]), ")"), what,
                            "export the model again");
  }

  GraphModuleView graph_;
  const EmbedNumbers& numbers_;
  BackendTables kernels_;
  GraphCopier copier_;
  std::vector<NodeId> last_;  ///< per value: the last node that uses it, plus one
  std::vector<std::int64_t> zeros_ = std::vector<std::int64_t>(2 * longest_row);  ///< the largest row of elements
};

}  // namespace davit::formats
