// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "davit/backends/onednn/elementwise.hpp"
#include "davit/backends/onednn/int8.hpp"
#include "davit/backends/onednn/int8_fusion.hpp"
#include "davit/backends/onednn/kernel_call.hpp"
#include "davit/backends/onednn/movement.hpp"
#include "davit/backends/onednn/normalization.hpp"
#include "davit/backends/onednn/op_table.hpp"
#include "davit/backends/onednn/pooling.hpp"
#include "davit/backends/onednn/products.hpp"
#include "davit/backends/onednn/threads.hpp"
#include "davit/core/copy_tensor.hpp"

namespace davit::onednn_ops {

namespace detail {

/// Emits a base with its epilogue; false if the library has no primitive for that.
[[nodiscard]] inline bool emit_with_epilogue(Builder& b, const ChainView& chain) {
  const Operation& op = *chain.base;
  switch (op.kind) {
    case OpKind::convolution: return emit_convolution(b, chain);
    case OpKind::linear: return emit_linear(b, chain);
    case OpKind::matmul: return emit_matmul(b, chain);
    case OpKind::binary: return emit_binary(b, chain);
    case OpKind::pool: emit_pool(b, op); return true;
    case OpKind::eltwise: emit_eltwise(b, op); return true;
    case OpKind::batch_norm: return emit_batch_norm(b, chain);
    case OpKind::layer_norm: emit_layer_norm(b, op); return true;
    case OpKind::expand: emit_expand(b, op); return true;
    case OpKind::resample: emit_resample(b, op); return true;
    case OpKind::concat: emit_concat(b, op); return true;
    case OpKind::view: emit_view(b, op); return true;
    case OpKind::permute: emit_permute(b, op); return true;
    case OpKind::slice: emit_slice(b, op); return true;
    case OpKind::pad: emit_pad(b, op); return true;
    case OpKind::fill: emit_fill(b, op); return true;
    case OpKind::kernel: emit_kernel(b, op); return true;
    case OpKind::convert: emit_convert(b, op); return true;
    case OpKind::int8_product: emit_int8_product(b, op); return true;
    case OpKind::int8_sum: emit_int8_sum(b, op); return true;
  }
  return false;
}

inline void release_inputs(Builder& b, const Operation& op, ValueId made_inside = no_id) {
  for (const ValueId v : op.inputs)
    if (v != no_id && v != made_inside) b.release(v);
}

}  // namespace detail

/// Emits a base with as much of its epilogue as one primitive takes; returns the number of operations of the epilogue
/// taken. Throws dnnl::error if there is no primitive even without an epilogue.
inline std::size_t emit_chain(Builder& b, ChainView chain) {
  for (const std::span<const Operation* const> all = chain.epilogue;;
       chain.epilogue = all.first(chain.epilogue.size() - 1)) {
    if (detail::emit_with_epilogue(b, chain)) break;
    if (chain.epilogue.empty()) throw dnnl::error(dnnl_unimplemented, "no primitive for this operation");
  }
  ValueId v = chain.start();
  detail::release_inputs(b, *chain.base);
  if (chain.norm != nullptr) detail::release_inputs(b, *chain.norm, chain.base->outputs[0]);
  for (const Operation* op : chain.epilogue) {
    detail::release_inputs(b, *op, v);
    v = op->outputs[0];
  }
  return chain.epilogue.size();
}

/// Compiles a partition to a Code.
class Compiler {
 public:
  /// `partition`: a PackedConstants number, if the partition has several codes; else 0.
  explicit Compiler(std::shared_ptr<const ProgramBody> body, std::uint64_t partition = 0)
      : body_(std::move(body)),
        graph_(body_->graph.view()),
        code_(std::make_shared<Code>()),
        builder_(graph_, *code_, false, partition),
        defined_(graph_.values.size(), false) {
    code_->body = body_;
  }

  /// `checks`: the values to check, if they are known. Errors: unsupported_operator, invalid_program, failed, with the
  /// library's message.
  [[nodiscard]] Result<std::shared_ptr<const Code>> run(const CodeOptions& options,
                                                        const std::vector<ValueCheck>* checks = nullptr) {
    options_ = options;
    code_->threads = options.threads;
    ThreadScope scope(options.threads);
    scope_ = &scope;
    try {
      if (Result<void> read = read_nodes(); !read) return error_of(std::move(read));
      if (Result<void> placed = place_inputs(); !placed) return error_of(std::move(placed));
      if (options.exact) {
        checks_ = checks != nullptr ? *checks : find_value_checks(*body_, false, runs_as_kernel);
        code_->always_falls_back = constants_are_lost(*body_, checks_);
      }
      emit_all();
      return finish();
    } catch (const dnnl::error& e) {
      return std::unexpected(
          Error{.code = e.status == dnnl_out_of_memory ? ErrorCode::out_of_memory : ErrorCode::failed,
                .stage = Stage::compile,
                .debug_handle = at_,
                .what = concat("oneDNN: ", std::string_view(e.what())),
                .fix = "name another backend for this node"});
    }
  }

 private:
  [[nodiscard]] static Error invalid(Name where, Name what) {
    return Error{.code = ErrorCode::invalid_program,
                 .stage = Stage::compile,
                 .where = std::move(where),
                 .what = std::move(what),
                 .fix = "save the program again"};
  }

  [[nodiscard]] Result<void> read_nodes() {
    const Graph& root = graph_.root();
    for (const Argument& input : graph_.args(root.inputs))
      if (input.is_value()) defined_[input.value()] = true;
    for (std::uint32_t n = 0; n < root.nodes.count; ++n) {
      const NodeId id = root.nodes.first + n;
      if (makes_numbers(graph_, graph_.nodes[id])) continue;  // known sizes
      Operation op;
      if (const char* wrong = describe_node(graph_, id, op))
        return std::unexpected(Error{.code = ErrorCode::unsupported_operator,
                                     .stage = Stage::compile,
                                     .debug_handle = body_->handles[id],
                                     .where = concat("operator ", graph_.target(graph_.nodes[id])),
                                     .what = Name(std::string_view(wrong)),
                                     .fix = "name another backend for this node"});
      for (const ValueId v : op.inputs)
        if (v != no_id && !defined_[v])
          return std::unexpected(invalid(concat("value '", graph_.name(v), "'"), "it is used before it is defined"));
      for (const ValueId v : op.outputs) {
        if (defined_[v]) return std::unexpected(invalid(concat("value '", graph_.name(v), "'"), "it is defined twice"));
        defined_[v] = true;
      }
      operations_.push_back(std::move(op));
    }
    return {};
  }

  /// Assigns a place to every graph input that an operation uses.
  [[nodiscard]] Result<void> place_inputs() {
    std::vector<bool> needed(graph_.values.size(), false);
    for (const Operation& op : operations_)
      for (const ValueId v : op.inputs)
        if (v != no_id) needed[v] = true;
    source_.resize(graph_.values.size());
    std::size_t i = 0;
    std::uint32_t constants = 0;
    for (const Argument& input : graph_.args(graph_.root().inputs)) {
      const InputRole role = body_->roles[i++];
      const ValueId v = input.is_value() ? input.value() : no_id;
      if (role == InputRole::constant) {
        const std::uint32_t index = constants++;
        if (v == no_id) continue;
        source_[v] = {Output::Kind::constant, index};
        if (!needed[v]) continue;
        if (Result<void> placed = place_constant(v, body_->constants[index]); !placed) return placed;
      } else if (role == InputRole::user || role == InputRole::state) {
        const auto index = static_cast<std::uint32_t>(code_->inputs.size());
        code_->inputs.push_back({.value = v});
        if (v == no_id) continue;
        source_[v] = {Output::Kind::input, index};
        if (!needed[v]) continue;
        const MemoryDesc md = plain_of(graph_, v);
        const std::uint32_t storage = builder_.add_storage(StorageKind::input, md.get_size(), index);
        builder_.place(v, {md, storage});
        code_->inputs[index].storage = storage;
      }
    }
    return {};
  }
  [[nodiscard]] Result<void> place_constant(ValueId v, const Tensor& tensor) {
    const Dims sizes = builder_.sizes(v);
    const TensorView view = tensor.view();
    const MemoryDesc md = plain_of(graph_, v);
    const std::size_t element = size_of(tensor.dtype);
    bool fits = tensor.dtype == graph_.values[v].dtype && tensor.sizes.size() == graph_.values[v].sizes.count;
    for (std::size_t d = 0; fits && d < tensor.sizes.size(); ++d) fits = tensor.sizes[d] == sizes[d];
    const std::int64_t extent = storage_extent(tensor.sizes, tensor.strides, tensor.storage_offset, element);
    if (!fits || tensor.strides.size() != tensor.sizes.size() || extent < 0 ||
        static_cast<std::size_t>(extent) > tensor.storage.size())
      return std::unexpected(invalid(concat("constant '", graph_.name(v), "'"),
                                     "it does not have the sizes or the dtype that the graph declares"));
    if (view.is_contiguous()) {
      builder_.place(
          v, builder_.add_constant(md, tensor.storage, static_cast<std::size_t>(tensor.storage_offset) * element));
      return {};
    }
    const Place copy = builder_.add_constant(md);
    const Dims strides = row_major_strides(sizes);
    TensorView to = view;
    to.data = builder_.constant_data(copy);
    to.strides_data = strides.data();
    copy_tensor(view, to);
    builder_.place(v, copy);
    return {};
  }

  void emit_all() {
    const auto constant_of = [&](ValueId v) {
      return source_[v].kind == Output::Kind::constant ? &body_->constants[source_[v].index] : nullptr;
    };
    if (options_.int8_kernels) Int8Fusion(graph_, operations_, constant_of, checks_).run();
    const std::vector<Chain> chains = make_chains(
        graph_, operations_, [&](const Operation& base, const Operation& norm) { return folds(builder_, base, norm); },
        checks_);
    for (const Chain& chain : chains) {
      count_uses(operations_[chain.base], no_id);
      ValueId v = operations_[chain.base].outputs[0];
      for (const std::uint32_t i : chain.epilogue) {
        count_uses(operations_[i], v);
        v = operations_[i].outputs[0];
      }
    }
    for (const Argument& output : graph_.args(graph_.root().outputs))
      graph_.for_each_value(output, [&](ValueId v) { builder_.expect_use(v, 2); });
    std::vector<const Operation*> epilogue;
    for (const Chain& chain : chains) {
      epilogue.clear();
      for (const std::uint32_t i : chain.epilogue) epilogue.push_back(&operations_[i]);
      const Operation& base = operations_[chain.base];
      if (options_.exact) check_operands(base, epilogue);
      emit(&base, epilogue);
      if (options_.exact) check_results(epilogue.empty() ? base : *epilogue.back());
    }
  }
  /// Checks operands before their first use.
  void check_operands(const Operation& base, std::span<const Operation* const> epilogue) {
    builder_.begin_step(body_->handles[base.node], base.name, 1);
    const auto check_inputs = [&](const Operation& op) {
      for (const ValueId v : op.inputs)
        if (v != no_id && source_[v].kind != Output::Kind::literal) check(v);
    };
    check_inputs(base);
    for (const Operation* const op : epilogue) check_inputs(*op);
  }
  void check_results(const Operation& op) {
    for (const ValueId v : op.outputs) check(v);
  }
  /// Checks a value once, if it needs a check.
  void check(ValueId v) {
    if (checks_[v] == ValueCheck::none) return;
    checks_[v] = ValueCheck::none;
    const Place& at = builder_.place_of(v);
    const bool dense = blocking_of(at.md).known && at.md.get_size() == plain(dims_of(at.md), type_of(at.md)).get_size();
    const Place looked = dense ? at : builder_.row_major(at);
    if (!builder_.is_constant(looked) || !passes_guard(looked)) builder_.add_check(looked);
  }
  /// Checks a constant at compile time.
  [[nodiscard]] bool passes_guard(const Place& constant) {
    const std::byte* const at = builder_.constant_data(constant);
    const auto look = [&](const auto* x) {
      return all_pass_guard(x, static_cast<std::int64_t>(constant.md.get_size() / sizeof *x));
    };
    return type_of(constant.md) == DataType::bf16 ? look(reinterpret_cast<const BFloat16*>(at))
                                                  : look(reinterpret_cast<const float*>(at));
  }
  /// Operations of the epilogue that the primitive cannot take become a chain of their own.
  void emit(const Operation* base, std::span<const Operation* const> rest) {
    while (true) {
      if (Operation known; depends_on_constants(*base, known)) {
        begin_step(*base);
        emit_kernel(builder_, known);
        detail::release_inputs(builder_, *base);
        if (rest.empty()) return;
        builder_.expect_use(base->outputs[0]);
        base = rest[0];
        rest = rest.subspan(1);
        continue;
      }
      ChainView view{.base = base};
      if (base->kind == OpKind::convolution && !rest.empty() && rest[0]->kind == OpKind::batch_norm) {
        view.norm = rest[0];
        rest = rest.subspan(1);
      }
      begin_step(*base);
      if (takes_epilogue(*view.base)) view.epilogue = rest;
      view.epilogue = rest.first(emit_chain(builder_, view));
      if (view.epilogue.size() == rest.size()) return;
      builder_.expect_use(view.result());
      rest = rest.subspan(view.epilogue.size());
      base = rest[0];
      rest = rest.subspan(1);
    }
  }
  void begin_step(const Operation& op) {
    at_ = body_->handles[op.node];
    const int threads = is_small(op) ? 1 : code_->threads;
    scope_->use(threads);
    builder_.begin_step(at_, op.name, threads);
  }
  /// True for arithmetic on constants, such as the sizes of a call: `known` is its kernel call, which runs at compile
  /// time.
  [[nodiscard]] bool depends_on_constants(const Operation& op, Operation& known) const {
    if (op.kind != OpKind::eltwise && op.kind != OpKind::binary && op.kind != OpKind::concat) return false;
    if (!std::ranges::all_of(op.inputs, [&](ValueId v) { return v == no_id || builder_.is_constant(v); })) return false;
    known = Operation();
    known.node = op.node;
    return describe_kernel(NodeArguments(graph_, op.node), known) == nullptr;
  }
  /// True if starting and joining several threads takes longer than the work on one: some microseconds.
  [[nodiscard]] bool is_small(const Operation& op) const {
    const std::int64_t elements = op.outputs.empty() ? 0 : count_of(builder_.sizes(op.outputs[0]));
    const bool product = op.kind == OpKind::convolution || op.kind == OpKind::int8_product ||
                         op.kind == OpKind::linear || op.kind == OpKind::matmul;
    if (!product) return elements < 1 << 14 && (op.inputs.empty() || count_of(builder_.sizes(op.inputs[0])) < 1 << 14);
    const Dims weight = builder_.sizes(op.inputs[1]);
    const std::int64_t terms = op.kind == OpKind::convolution || op.kind == OpKind::int8_product
                                   ? count_of(weight) / weight[0]
                               : op.kind == OpKind::linear ? weight[op.transposed ? 1 : 0]
                                                           : weight[weight.size() - 2];
    return elements < 1 << 17 && elements * terms < 1 << 17;
  }
  void count_uses(const Operation& op, ValueId made_inside) {
    for (const ValueId v : op.inputs)
      if (v != no_id && v != made_inside) builder_.expect_use(v);
  }

  [[nodiscard]] Result<std::shared_ptr<const Code>> finish() {
    for (const Argument& a : graph_.args(graph_.root().outputs)) {
      Output output{.literal = a};
      if (a.is_value() && source_[a.value()].kind != Output::Kind::literal) {
        output = source_[a.value()];
      } else if (a.is_value() && graph_.values[a.value()].kind == ValueKind::tensor && defined_[a.value()]) {
        output = {.kind = Output::Kind::made,
                  .index = builder_.claim_output(a.value(), static_cast<std::uint32_t>(code_->outputs.size()))};
        output.dtype = graph_.values[a.value()].dtype;
        output.dims = {static_cast<std::uint32_t>(code_->dims.size()), graph_.values[a.value()].sizes.count};
        Dims sizes = builder_.sizes(a.value());
        sizes.resize(output.dims.count);
        const Dims strides = row_major_strides(sizes);
        code_->dims.insert(code_->dims.end(), sizes.begin(), sizes.end());
        code_->dims.insert(code_->dims.end(), strides.begin(), strides.end());
      } else if (a.is_value() || a.is_list()) {
        return std::unexpected(invalid("graph outputs", "an output is neither a tensor, nor an input, nor a number"));
      }
      code_->outputs.push_back(output);
    }
    for (InputPort& port : code_->inputs)
      if (port.storage != no_id) stage_input(port);
    finish_storages();
    return std::shared_ptr<const Code>(std::move(code_));
  }
  /// Reserves a copy of an input, for inputs that are not contiguous.
  void stage_input(InputPort& port) {
    const Storage own = code_->storages[port.storage];
    if (own.first == no_id) return;
    port.copy = builder_.add_storage(StorageKind::scratch, own.bytes);
    code_->storages[port.copy].first = 0;
    code_->storages[port.copy].last = own.last;
  }
  /// Extends the lifetimes of storages with parts over their parts' lifetimes; outputs live to the end.
  void finish_storages() {
    const auto end = static_cast<std::uint32_t>(code_->steps.size());
    for (Storage& s : code_->storages) {
      if (s.output != no_id) s.last = end;
      for (std::uint32_t p = s.parent; p != no_id; p = code_->storages[p].parent) {
        code_->storages[p].first = std::min(code_->storages[p].first, s.first);
        code_->storages[p].last = std::max(code_->storages[p].last, s.last);
      }
    }
    code_->places_of.resize(code_->storages.size());
    for (std::uint32_t p = 0; p < code_->places.size(); ++p) {
      code_->roots.push_back(code_->root_of(code_->places[p]).first);
      code_->places_of[code_->roots.back()].push_back(p);
    }
  }

  std::shared_ptr<const ProgramBody> body_;
  GraphModuleView graph_;
  std::shared_ptr<Code> code_;
  Builder builder_;
  std::vector<bool> defined_;
  std::vector<Operation> operations_;
  std::vector<Output> source_;      ///< per value: the graph input behind it
  std::vector<ValueCheck> checks_;  ///< per value: the check that remains
  CodeOptions options_;
  DebugHandle at_ = no_debug_handle;
  ThreadScope* scope_ = nullptr;
};

/// Returns nullptr if the library has a primitive for the operation with all operands in row-major order; else the
/// reason.
[[nodiscard]] inline const char* try_operation(GraphModuleView graph, const Operation& op) {
  Code code;
  Builder builder(graph, code, true);
  try {
    for (const ValueId v : op.inputs) {
      if (v == no_id) continue;
      builder.expect_use(v);
      const MemoryDesc md = plain_of(graph, v);
      builder.place(v, {md, builder.add_storage(StorageKind::input, md.get_size())});
    }
    for (const ValueId v : op.outputs) builder.expect_use(v, 2);
    emit_chain(builder, {.base = &op});
  } catch (const dnnl::error&) {
    return "oneDNN has no primitive for it";
  }
  return nullptr;
}

}  // namespace davit::onednn_ops
