// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "davit/backend/delegate_io.hpp"
#include "davit/lowering/detail/affine_weights.hpp"
#include "davit/lowering/detail/constant_computation.hpp"
#include "davit/lowering/detail/takers.hpp"
#include "davit/lowering/pack_weights.hpp"
#include "davit/ops/facts.hpp"
#include "davit/program/graph_builder.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/operators/matmul.hpp"
#include "davit/program/operators/movement.hpp"
#include "davit/program/operators/node_arguments.hpp"
#include "davit/program/views.hpp"

namespace davit {

namespace detail {

inline constexpr std::string_view linear_packed = "davit.linear_packed.default",
                                  linear_packed_rows = "davit.linear_packed.rows",
                                  linear_packed_bytes = "davit.linear_packed_bytes.default",
                                  embedding_packed = "davit.embedding_packed.default";

/// A call of davit.linear_packed_bytes, to ask backends about.
[[nodiscard]] GraphModule packed_bytes_call() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", ScalarType::int8, {1, 16}), rows = b.input("rows", ScalarType::float32, {1, 1});
  const ValueId words = b.input("words", ScalarType::int32, {1, 4, 16});
  const ValueId scales = b.input("scales", ScalarType::float32, {1, 1, 16});
  const ValueId out = b.call(linear_packed_bytes,
                             {{"input", b.value(x)},
                              {"input_scales", b.value(rows)},
                              {"input_zero_points", b.none()},
                              {"weight", b.value(words)},
                              {"scales", b.value(scales)},
                              {"offsets", b.none()},
                              {"sums", b.value(scales)},
                              {"bias", b.none()},
                              {"out_features", b.integer(16)},
                              {"dtype", b.scalar_type(ScalarType::float32)}},
                             "out", ScalarType::float32, {1, 16});
  b.end_graph({out}, true);
  return std::move(b).finish();
}

/// A call of davit.linear_packed, to ask backends about.
[[nodiscard]] GraphModule packed_call(PackedLayout layout) {
  const bool rows = layout == PackedLayout::rows;
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", ScalarType::float32, {1, 16});
  const ValueId words =
      rows ? b.input("words", ScalarType::uint8, {16, 8}) : b.input("words", ScalarType::int32, {1, 4, 16});
  const ValueId scales =
      rows ? b.input("scales", ScalarType::float32, {16}) : b.input("scales", ScalarType::float32, {1, 1, 16});
  const Arg input{"input", b.value(x)}, weight{"weight", b.value(words)}, scale{"scales", b.value(scales)},
      offsets{"offsets", b.none()}, bias{"bias", b.none()};
  const ValueId out =
      rows ? b.call(linear_packed_rows, {input, weight, scale, offsets, bias}, "out", ScalarType::float32, {1, 16})
           : b.call(linear_packed, {input, weight, scale, offsets, bias, {"out_features", b.integer(16)}}, "out",
                    ScalarType::float32, {1, 16});
  b.end_graph({out}, true);
  return std::move(b).finish();
}

class WeightPacker {
 public:
  WeightPacker(const ExportedProgram& program, const DecomposeOptions& takers, std::vector<Name>* unpacked,
               const PackOptions& options)
      : program_(program),
        graph_(program.view()),
        takers_(takers),
        backend_(options.computes != nullptr ? *options.computes : takers.backends[takers.backends.size() - 1]),
        layout_(options.layout),
        unpacked_(unpacked),
        constant_(graph_.values.size(), 0) {}

  [[nodiscard]] std::optional<ExportedProgram> run() {
    if (backend_.preprocess == nullptr || backend_.default_spec == nullptr || storage_matters(graph_))
      return std::nullopt;
    if (!find_constants()) return std::nullopt;
    const Range nodes = graph_.root().nodes;
    for (NodeId n = nodes.first; n < nodes.first + nodes.count; ++n) look_at(n);
    if (layout_ == PackedLayout::rows) drop_shared();
    if (uses_.empty()) return std::nullopt;
    return result();
  }

 private:
  /// The nodes that make a weight.
  struct Origin {
    std::vector<NodeId> nodes;    // in order
    std::vector<ValueId> leaves;  // constants of the program
    std::int64_t integers = 0;    // elements of the largest value of integers
  };
  /// Floats that are (bytes - zero points) * scales.
  struct Bytes {
    ValueId bytes = no_id, scales = no_id, zero_points = no_id;  // no_id: 1 and 0
  };
  /// A node that takes a weight: a product, or an embedding.
  struct Use {
    NodeId node = no_id;
    ValueId weight = no_id;
    ValueId input = no_id;  ///< or indices
    ValueId bias = no_id;
    bool transposed = false;  ///< the weight is (inputs x outputs)
    bool is_embedding = false;
    std::optional<Bytes> bytes{};  ///< what the input is made of, where that is bytes that are known at run time
  };
  static constexpr std::size_t max_nodes = 64;
  static constexpr std::int64_t weights_at_once = 1 << 17;  // that are floats at the same time

  /// Marks the values that are made of constants; false if none holds integers, so that no weight is packed.
  [[nodiscard]] bool find_constants() {
    bool any_integers = false;
    const std::span<const Argument> inputs = graph_.args(graph_.root().inputs);
    const std::vector<InputRole> roles = input_roles(program_.signature);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (roles[i] == InputRole::constant && inputs[i].is_value()) {
        const ValueId v = inputs[i].value();
        constant_[v] = 1;
        any_integers = any_integers || holds_integers(v);
      }
    const Range nodes = graph_.root().nodes;
    for (NodeId n = nodes.first; n < nodes.first + nodes.count; ++n) {
      bool good = is_pure(graph_, graph_.nodes[n]);
      for (const Argument& input : graph_.inputs(graph_.nodes[n]))
        graph_.for_each_value(input, [&](ValueId v) { good = good && constant_[v] != 0; });
      for (const Argument& output : graph_.outputs(graph_.nodes[n]))
        graph_.for_each_value(output, [&](ValueId v) {
          constant_[v] = good ? 1 : 0;
          any_integers = any_integers || (good && holds_integers(v));
        });
    }
    return any_integers;
  }
  /// True for a dtype in which weights of 8 bits or less are kept.
  [[nodiscard]] bool holds_integers(ValueId v) const {
    const ScalarType type = graph_.values[v].dtype;
    return type == ScalarType::int8 || type == ScalarType::uint8 || type == ScalarType::int32;
  }

  /// Elements of a tensor; -1 for other values and for symbolic sizes.
  [[nodiscard]] std::int64_t count(ValueId v) const {
    if (graph_.values[v].kind != ValueKind::tensor) return -1;
    std::int64_t total = 1;
    for (const Dim& dim : graph_.dims_of(graph_.values[v].sizes))
      if (!dim.is_static() || dim.value < 1 || __builtin_mul_overflow(total, dim.value, &total)) return -1;
    return total;
  }

  /// What makes a weight; nothing if that is not constants and few nodes, none of them large.
  [[nodiscard]] std::optional<Origin> origin_of(ValueId weight) const {
    Origin out;
    std::vector<ValueId> open{weight};
    std::vector<ValueId> seen{weight};
    const std::int64_t most = count(weight);
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      const NodeId n = graph_.values[v].producer;
      if (constant_[v] == 0 || count(v) < 1 || (n != no_id && count(v) > most)) return std::nullopt;
      if (holds_integers(v)) out.integers = std::max(out.integers, count(v));
      if (n == no_id) {
        out.leaves.push_back(v);
        continue;
      }
      if (std::ranges::find(out.nodes, n) != out.nodes.end()) continue;
      if (out.nodes.size() == max_nodes) return std::nullopt;
      out.nodes.push_back(n);
      for (const Argument& input : graph_.inputs(graph_.nodes[n]))
        graph_.for_each_value(input, [&](ValueId of) {
          if (std::ranges::find(seen, of) != seen.end()) return;
          seen.push_back(of);
          open.push_back(of);
        });
    }
    std::ranges::sort(out.nodes);
    if (out.nodes.empty() || out.integers < (most + 7) / 8) return std::nullopt;
    return out;
  }

  /// True for bytes that were quantized with constant parameters: backends compute with them in integers.
  [[nodiscard]] bool is_static_bytes(ValueId v) const {
    while (graph_.values[v].producer != no_id) {
      const operators::NodeArguments call(graph_, graph_.values[v].producer);
      if (call.is("quantized_decomposed.dequantize_per_tensor.default")) return true;
      const ValueId before = operators::read_same_elements(call);
      if (before == no_id) return false;
      v = before;
    }
    return false;
  }

  /// True if the last backend takes packed weights, and none before it takes what makes them, but not these.
  [[nodiscard]] bool is_welcome(const Origin& origin) const {
    const GraphModule call = packed_call(layout_);
    const std::size_t last = takers_.backends.size() - 1;
    if (takers_.backends.refuses(last, call.view(), 0) != nullptr) return false;
    for (std::size_t b = 0; b < last; ++b) {
      if (!takers_.order.empty() && std::ranges::find(takers_.order, b) == takers_.order.end()) continue;
      if (takers_.backends.refuses(b, call.view(), 0) == nullptr) continue;
      for (const NodeId n : origin.nodes)
        if (graph_.target(graph_.nodes[n]).starts_with("quantized_decomposed.") &&
            takers_.backends.refuses(b, graph_, n) == nullptr)
          return false;
    }
    return true;
  }

  /// True for weights in words, if the last backend takes products of bytes with them, and so do all before it that
  /// take packed weights at all.
  [[nodiscard]] bool takes_bytes() {
    if (layout_ == PackedLayout::rows) return false;
    if (!takes_bytes_) {
      const GraphModule floats = packed_call(layout_), bytes = packed_bytes_call();
      const auto takes = [&](std::size_t b, const GraphModule& call) {
        return takers_.backends.refuses(b, call.view(), 0) == nullptr;
      };
      const std::size_t last = takers_.backends.size() - 1;
      takes_bytes_ = takes(last, bytes);
      for (std::size_t b = 0; b < last; ++b) *takes_bytes_ = *takes_bytes_ && (takes(b, bytes) || !takes(b, floats));
    }
    return *takes_bytes_;
  }
  [[nodiscard]] std::span<const Dim> dims(ValueId v) const { return graph_.dims_of(graph_.values[v].sizes); }
  /// The operand of a node that changes neither elements nor their order, but perhaps their dtype; no_id for others.
  [[nodiscard]] ValueId before(ValueId v) const {
    if (graph_.values[v].producer == no_id) return no_id;
    const operators::NodeArguments call(graph_, graph_.values[v].producer);
    if (call.is("aten._to_copy.default")) return call.value({"self", 0});
    return operators::read_same_elements(call);
  }
  /// True for one number, or one of each row of `of`.
  [[nodiscard]] bool is_of_rows(ValueId v, ValueId of) const {
    if (v == no_id || graph_.values[v].kind != ValueKind::tensor) return false;
    if (count(v) == 1) return true;
    const std::span<const Dim> each = dims(v), all = dims(of);
    if (each.size() != all.size() || each.empty() || !each.back().is_static() || each.back().value != 1) return false;
    for (std::size_t d = 0; d + 1 < all.size(); ++d)
      if (each[d].is_static() != all[d].is_static() || (each[d].is_static() && each[d].value != all[d].value))
        return false;
    return true;
  }
  /// True for rows of `depth` elements.
  [[nodiscard]] bool has_rows_of(ValueId v, std::int64_t depth) const {
    return graph_.values[v].kind == ValueKind::tensor && !dims(v).empty() && dims(v).back().is_static() &&
           dims(v).back().value == depth;
  }
  [[nodiscard]] bool is_bytes(ValueId v) const {
    return graph_.values[v].dtype == ScalarType::int8 || graph_.values[v].dtype == ScalarType::uint8;
  }
  /// The bytes that `v` is made of, in the sizes of `as`; no_id if it is not made of bytes.
  [[nodiscard]] ValueId bytes_before(ValueId v, ValueId as) const {
    std::optional<ScalarType> dtype;
    for (; v != no_id; v = before(v)) {
      const Value& value = graph_.values[v];
      if (value.kind != ValueKind::tensor || value.dtype == ScalarType::bool_ || (dtype && *dtype != value.dtype))
        return no_id;
      if (!is_bytes(v)) continue;
      dtype = value.dtype;
      if (std::ranges::equal(dims(v), dims(as), [](const Dim& a, const Dim& b) {
            return a.is_static() == b.is_static() && (!a.is_static() || a.value == b.value);
          }))
        return v;
    }
    return no_id;
  }
  /// What floats are made of, if that is bytes and a scale, or one of each row.
  [[nodiscard]] std::optional<Bytes> bytes_of(ValueId input) const {
    if (dims(input).empty() || !dims(input).back().is_static()) return std::nullopt;
    const std::int64_t depth = dims(input).back().value;
    ValueId v = input;
    for (ValueId next = before(v); next != no_id && is_floating(graph_.values[next].dtype); next = before(v)) {
      if (size_of(graph_.values[next].dtype) < size_of(graph_.values[input].dtype)) return std::nullopt;
      v = next;
    }
    if (const ValueId bytes = bytes_before(before(v), input); bytes != no_id) return Bytes{bytes};
    if (graph_.values[v].producer == no_id || !has_rows_of(v, depth)) return std::nullopt;
    const operators::NodeArguments call(graph_, graph_.values[v].producer);
    const auto is_good = [&](const Bytes& bytes) {
      return bytes.bytes != no_id && is_of_rows(bytes.scales, v) && is_floating(graph_.values[bytes.scales].dtype) &&
             (bytes.zero_points == no_id || is_of_rows(bytes.zero_points, v));
    };
    if (call.is("quantized_decomposed.dequantize_per_tensor.tensor")) {
      const Bytes bytes{bytes_before(call.value({"input", 0}), input), call.value({"scale", 1}),
                        call.value({"zero_point", 2})};
      return is_good(bytes) ? std::optional(bytes) : std::nullopt;
    }
    if (!call.is("aten.mul.Tensor")) return std::nullopt;
    const std::array factors{call.value({"self", 0}), call.value({"other", 1})};
    for (const std::size_t side : {0u, 1u}) {
      Bytes bytes{.scales = factors[1 - side]};
      ValueId steps = factors[side];
      if (bytes.scales == no_id || steps == no_id || !has_rows_of(steps, depth)) continue;
      for (ValueId next = steps; next != no_id && dims(next).size() == dims(v).size(); next = before(next)) {
        steps = next;
        if (is_bytes(steps)) break;
      }
      if (const NodeId n = graph_.values[steps].producer; n != no_id && !is_bytes(steps)) {
        const operators::NodeArguments difference(graph_, n);
        if (difference.is("aten.sub.Tensor") && difference.number({"alpha", 2}, 1) == 1) {
          bytes.zero_points = difference.value({"other", 1});
          steps = difference.value({"self", 0});
          if (bytes.zero_points == no_id || steps == no_id || !has_rows_of(steps, depth)) continue;
        }
      }
      bytes.bytes = bytes_before(steps, input);
      if (is_good(bytes)) return bytes;
    }
    return std::nullopt;
  }

  /// The weight that a node takes; nothing if it is none that could be packed.
  [[nodiscard]] std::optional<Use> use_of(NodeId n) const {
    const operators::NodeArguments call(graph_, n);
    const auto is_float = [&](ValueId v) {
      const ScalarType type = graph_.values[v].dtype;
      return type == ScalarType::float32 || type == ScalarType::float16 || type == ScalarType::bfloat16;
    };
    if (call.is("aten.embedding.default") && layout_ == PackedLayout::words) {
      const Use use{
          .node = n, .weight = call.value({"weight", 0}), .input = call.value({"indices", 1}), .is_embedding = true};
      if (use.weight == no_id || use.input == no_id || constant_[use.weight] == 0 || !is_float(use.weight) ||
          graph_.values[use.weight].sizes.count != 2 || constant_[use.input] != 0)
        return std::nullopt;
      return use;
    }
    operators::MatmulView view;
    if (operators::find_row(operators::matmul_operators, call) == nullptr || operators::read_matmul(call, view) ||
        !view.is_plain() || constant_[view.right] == 0 || constant_[view.left] != 0 || call.output() == no_id)
      return std::nullopt;
    const Value &weight = graph_.values[view.right], &x = graph_.values[view.left];
    if (weight.sizes.count != 2 || x.dtype != weight.dtype || graph_.values[call.output()].dtype != x.dtype ||
        !is_float(view.left) ||
        (layout_ == PackedLayout::words ? is_static_bytes(view.left) : x.dtype != ScalarType::float32))
      return std::nullopt;
    if (view.addend != no_id) {  // one number per output
      const std::span<const Dim> sizes = graph_.dims_of(graph_.values[view.addend].sizes);
      const Dim& outputs = graph_.dims_of(weight.sizes)[view.transposed ? 0 : 1];
      if (sizes.size() != 1 || !sizes[0].is_static() || sizes[0].value != outputs.value) return std::nullopt;
    }
    return Use{
        .node = n, .weight = view.right, .input = view.left, .bias = view.addend, .transposed = !view.transposed};
  }

  void look_at(NodeId n) {
    const std::optional<Use> use = use_of(n);
    if (!use) return;
    const std::pair key(use->weight, use->transposed);
    auto at = packed_.find(key);
    if (at == packed_.end()) {
      const std::optional<Origin> origin = origin_of(use->weight);
      if (!origin || !is_welcome(*origin) || !backend_.is_available()) return;
      at = packed_.emplace(key, pack(*use, *origin)).first;
      if (!at->second && unpacked_ != nullptr)
        unpacked_->push_back(concat("node '", node_label(graph_, n), "' (", graph_.target(graph_.nodes[n]),
                                    "): its weight is made of integers, and becomes floats: scales that all of its "
                                    "elements are multiples of, per output or group of inputs, were not found"));
    }
    if (!at->second) return;
    const bool stays = is_plain(*at->second) && is_static_bytes(use->input);
    (stays ? plain_ : uses_).push_back(*use);
    if (stays || use->is_embedding || !takes_bytes()) return;
    std::optional<Bytes>& bytes = uses_.back().bytes;
    bytes = bytes_of(use->input);
    if (bytes && sums_.find(key) == sums_.end()) sums_.emplace(key, at->second->sums());
    if (bytes && sums_.at(key).storage.empty()) bytes.reset();
  }
  /// Drops the uses of weights that other nodes read too, which would keep the originals beside the packed ones.
  void drop_shared() {
    std::vector<std::uint8_t> takes(graph_.nodes.size(), 0), shared(graph_.values.size(), 0);
    for (const auto* all : {&uses_, &plain_})
      for (const Use& use : *all) takes[use.node] = 1;
    const auto share = [&](const Argument& a) { graph_.for_each_value(a, [&](ValueId v) { shared[v] = 1; }); };
    for (NodeId n = 0; n < graph_.nodes.size(); ++n)
      if (takes[n] == 0)
        for (const Argument& input : graph_.inputs(graph_.nodes[n])) share(input);
    std::erase_if(uses_, [&](const Use& use) { return shared[use.weight] != 0; });
  }
  /// True for weights that products of bytes read as they are.
  [[nodiscard]] static bool is_plain(const PackedTensors& packed) {
    return packed.layout.bits == 8 && packed.layout.groups == 1 && packed.offsets.storage.empty();
  }

  [[nodiscard]] std::optional<PackedTensors> pack(const Use& use, const Origin& origin) const {
    const Value& weight = graph_.values[use.weight];
    const std::span<const Dim> sizes = graph_.dims_of(weight.sizes);
    std::vector<std::uint8_t> nodes(graph_.nodes.size(), 0);
    for (const NodeId n : origin.nodes) nodes[n] = 1;
    std::vector<ValueId> needed;  // scales
    const auto is_scale = [&](ValueId v) {
      return is_floating(graph_.values[v].dtype) && count(v) <= std::max<std::int64_t>(count(use.weight) / 4, 1);
    };
    for (const NodeId n : origin.nodes)
      for (const Argument& output : graph_.outputs(graph_.nodes[n]))
        graph_.for_each_value(output, [&](ValueId v) {
          if (v != use.weight && is_scale(v) && needed.size() < 16) needed.push_back(v);
        });
    std::vector<std::vector<float>> candidates;
    for (const ValueId v : origin.leaves)
      if (const Tensor* const leaf = constant(v); leaf != nullptr && is_scale(v))
        if (std::optional<std::vector<float>> numbers = float_elements(leaf->view()))
          candidates.push_back(*std::move(numbers));
    for (const NodeId n : origin.nodes)
      for (const Argument& input : graph_.inputs(graph_.nodes[n]))
        if (input.kind == ArgumentKind::float_) candidates.push_back({static_cast<float>(input.float_value())});
    candidates.push_back({1.0f});
    const bool known =
        needed.empty() || compute_constants(program_, backend_, nodes, needed, nullptr, [&](auto numbers_of_scales) {
          for (const TensorView& each : numbers_of_scales)
            if (std::optional<std::vector<float>> numbers = float_elements(each))
              candidates.push_back(*std::move(numbers));
          return true;
        });
    if (!known) return std::nullopt;
    WeightMatrix matrix{.outputs = sizes[use.transposed ? 1 : 0].value,
                        .depth = sizes[use.transposed ? 0 : 1].value,
                        .transposed = use.transposed,
                        .layout = layout_};
    matrix.rounding = weight.dtype == ScalarType::float32    ? 1e-6f
                      : weight.dtype == ScalarType::bfloat16 ? 0x1p-8f
                                                             : 0x1p-10f;
    std::optional<RowCut> cut = use.transposed ? std::nullopt : row_cut(graph_, nodes, use.weight);
    matrix.step = cut ? std::clamp<std::int64_t>(weights_at_once / matrix.depth, 1, matrix.outputs) : matrix.outputs;
    const auto read = [&](std::int64_t first, std::int64_t count, std::vector<float>& elements) {
      if (cut) {
        cut->first = first;
        cut->count = count;
      }
      const bool good =
          compute_constants(program_, backend_, nodes, {&use.weight, 1}, cut ? &*cut : nullptr, [&](auto made) {
            std::optional<std::vector<float>> numbers = float_elements(made[0]);
            if (!numbers) return false;
            elements = *std::move(numbers);
            return true;
          });
      for (const ValueId v : origin.leaves)
        if (const Tensor* const leaf = constant(v); leaf != nullptr) leaf->storage.leave();
      return good;
    };
    return pack_affine(matrix, read, candidates);
  }
  /// The tensor of a constant input of the program.
  [[nodiscard]] const Tensor* constant(ValueId v) const {
    const std::span<const Argument> inputs = graph_.args(graph_.root().inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].is_value() && inputs[i].value() == v)
        if (const Name* name = target(program_.signature.input_specs[i]); name != nullptr)
          return program_.tensor_named(*name);
    return nullptr;
  }

  /// The program with the packed products, without the nodes that only made their weights.
  [[nodiscard]] ExportedProgram result() {
    ExportedProgram out = program_;
    GraphModule& module = out.graph_module;
    const TensorIndex taken(program_);
    std::vector<AddedConstant> constants;
    const auto text = [&](std::string_view s) {
      const Text t{static_cast<std::uint32_t>(module.text.size()), static_cast<std::uint32_t>(s.size())};
      module.text.insert(module.text.end(), s.begin(), s.end());
      return t;
    };
    const auto dims = [&](std::span<const std::int64_t> sizes) {
      const Range range{static_cast<std::uint32_t>(module.dims.size()), static_cast<std::uint32_t>(sizes.size())};
      for (const std::int64_t size : sizes) module.dims.push_back({.value = size});
      return range;
    };
    const auto add = [&](std::pair<ValueId, bool> key, std::string_view part, const Tensor& tensor) {
      const auto [weight, transposed] = key;
      const Name name = concat("_packed_", Name::own(graph_.name(weight)), transposed ? "_transposed_" : "_", part);
      Name target = name;
      while (taken.find(target) != nullptr) target = concat("_", target);
      Value value{.name = text(name), .graph = root_graph, .dtype = tensor.dtype};
      value.sizes = dims(tensor.sizes);
      value.strides = dims(tensor.strides);
      value.device = text("cpu");
      module.values.push_back(value);
      const auto v = static_cast<ValueId>(module.values.size() - 1);
      constants.push_back({v, std::move(target), tensor});
      return GraphBuilder::value(v);
    };
    std::map<std::pair<ValueId, bool>, std::array<Argument, 4>> values;
    std::set<std::pair<ValueId, bool>> used;
    for (const Use& use : uses_) used.emplace(use.weight, use.transposed);
    for (const auto& [key, tensors] : packed_)
      if (used.contains(key))
        values[key] = {add(key, "words", tensors->words), add(key, "scales", tensors->scales),
                       tensors->offsets.storage.empty() ? GraphBuilder::none() : add(key, "offsets", tensors->offsets),
                       sums_.contains(key) ? add(key, "sums", sums_.at(key)) : GraphBuilder::none()};
    const auto call = [&](NodeId n, std::string_view target, std::span<const Arg> arguments) {
      Node& node = module.nodes[n];
      node.target = text(target);
      node.inputs = {static_cast<std::uint32_t>(module.arguments.size()), static_cast<std::uint32_t>(arguments.size())};
      for (const Arg& each : arguments) {
        module.arguments.push_back(each.argument);
        module.arguments.back().name = text(each.name);
      }
    };
    const bool is_rows = layout_ == PackedLayout::rows;
    for (const Use& use : uses_) {
      const std::pair key(use.weight, use.transposed);
      const std::array<Argument, 4>& of = values.at(key);
      const PackedWeights& layout = packed_.at(key)->layout;
      const auto optional = [](ValueId v) { return v == no_id ? GraphBuilder::none() : GraphBuilder::value(v); };
      const Argument input = GraphBuilder::value(use.input);
      if (use.is_embedding)
        call(use.node, embedding_packed,
             std::array<Arg, 7>{{{"weight", of[0]},
                                 {"scales", of[1]},
                                 {"offsets", of[2]},
                                 {"indices", input},
                                 {"num_embeddings", GraphBuilder::integer(layout.outputs)},
                                 {"embedding_dim", GraphBuilder::integer(layout.depth)},
                                 {"dtype", GraphBuilder::scalar_type(graph_.values[use.weight].dtype)}}});
      else if (use.bytes)
        call(use.node, linear_packed_bytes,
             std::array<Arg, 10>{{{"input", GraphBuilder::value(use.bytes->bytes)},
                                  {"input_scales", optional(use.bytes->scales)},
                                  {"input_zero_points", optional(use.bytes->zero_points)},
                                  {"weight", of[0]},
                                  {"scales", of[1]},
                                  {"offsets", of[2]},
                                  {"sums", of[3]},
                                  {"bias", optional(use.bias)},
                                  {"out_features", GraphBuilder::integer(layout.outputs)},
                                  {"dtype", GraphBuilder::scalar_type(graph_.values[use.input].dtype)}}});
      else
        call(use.node, is_rows ? linear_packed_rows : linear_packed,
             std::span<const Arg>(std::array<Arg, 6>{{{"input", input},
                                                      {"weight", of[0]},
                                                      {"scales", of[1]},
                                                      {"offsets", of[2]},
                                                      {"bias", optional(use.bias)},
                                                      {"out_features", GraphBuilder::integer(layout.outputs)}}})
                 .first(is_rows ? 5 : 6));
    }
    drop_unused(module);
    add_constants(out, std::move(constants));
    return out;
  }
  /// Drops nodes whose results nothing needs any more.
  void drop_unused(GraphModule& module) const {
    const GraphModuleView graph = module.view();
    std::vector<std::uint8_t> needed(graph.values.size(), 0), dropped(graph.nodes.size(), 0);
    const auto need = [&](const Argument& a) { graph.for_each_value(a, [&](ValueId v) { needed[v] = 1; }); };
    for (const Graph& each : graph.graphs)
      for (const Argument& output : graph.args(each.outputs)) need(output);
    for (NodeId n = static_cast<NodeId>(graph.nodes.size()); n-- > 0;) {
      bool any = false;
      for (const Argument& output : graph.outputs(graph.nodes[n]))
        graph.for_each_value(output, [&](ValueId v) { any = any || needed[v] != 0; });
      dropped[n] = !any && is_pure(graph, graph.nodes[n]) && graph.nodes[n].graph == root_graph ? 1 : 0;
      if (dropped[n] == 0)
        for (const Argument& input : graph.inputs(graph.nodes[n])) need(input);
    }
    drop_nodes(module, dropped);
  }

  const ExportedProgram& program_;
  GraphModuleView graph_;
  const DecomposeOptions& takers_;
  const BackendTable& backend_;
  PackedLayout layout_;
  std::vector<Name>* unpacked_;
  std::vector<std::uint8_t> constant_;                                       ///< per value
  std::map<std::pair<ValueId, bool>, std::optional<PackedTensors>> packed_;  ///< by Use::weight and transposed
  std::map<std::pair<ValueId, bool>, Tensor> sums_;  ///< of the weights of outputs, for products of bytes
  std::vector<Use> uses_;
  std::optional<bool> takes_bytes_;
  std::vector<Use> plain_;  ///< read the integers as they are
};

}  // namespace detail

std::optional<ExportedProgram> pack_weights(const ExportedProgram& program, const DecomposeOptions& takers,
                                            std::vector<Name>* unpacked, const PackOptions& options) {
  if (takers.backends.size() == 0) return std::nullopt;
  return detail::WeightPacker(program, takers, unpacked, options).run();
}

}  // namespace davit
