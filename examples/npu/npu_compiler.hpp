// SPDX-License-Identifier: MIT
#pragma once

#include <davit/davit.hpp>
#include <davit/program/operators/matmul.hpp>
#include <davit/program/operators/node_arguments.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "device.hpp"

/// The accelerator's compiler for the host: re-encodes weights into tiles and writes the command stream. As a run-time
/// backend it simulates the stream, so that a workstation computes the chip's results.
struct npu_compiler {
  static constexpr std::string_view name = "npu";
  static constexpr std::int32_t blob_version = 1;  ///< format of the stream, as in npu.hpp
  struct CompileSpec {};
  /// A stream: NpuProgram, commands, weights. Base registers: stream, scratch, outputs, inputs.
  using Processed = std::vector<std::byte>;
  using Handle = Processed;

  static constexpr bool is_available() { return true; }

  /// npu::takes for a program that is not embedded yet.
  static const char* refuses(davit::GraphModuleView graph, davit::NodeId id) {
    const davit::operators::NodeArguments call(graph, id);
    if (call.is("aten.relu.default")) {
      const davit::NodeId before = graph.values[call.value({"self", 0})].producer;
      return before == davit::no_id || refuses_product(graph, before) != nullptr ? "it is no relu of a product"
                                                                                 : nullptr;
    }
    return refuses_product(graph, id);
  }
  static davit::Result<Processed> preprocess(const davit::Method& method, const CompileSpec&,
                                             davit::DebugHandleRecorder&) {
    return Compiler(*method.program).run();
  }
  static davit::Result<Handle> compile(const Processed& processed, const CompileSpec&) { return processed; }

  static std::size_t scratch_bytes(const Processed& stream) {
    return static_cast<std::size_t>(header(stream).scratch_bytes);
  }
  static std::vector<std::byte> save(const Processed& stream) { return stream; }
  static davit::Result<Processed> load(std::span<const std::byte> bytes) {
    if (is_sound(bytes)) return Processed(bytes.begin(), bytes.end());
    return std::unexpected(davit::Error{.code = davit::ErrorCode::corrupt_data,
                                        .backend = name,
                                        .what = "it is no command stream",
                                        .fix = "lower the program again"});
  }
  static std::vector<std::byte> save_spec(const CompileSpec&) { return {}; }
  static davit::Result<CompileSpec> load_spec(std::span<const std::byte>) { return CompileSpec{}; }

  struct Workspace {
    std::vector<davit::Tensor> results;
    std::vector<std::byte> scratch;
  };
  template <class Context>
  static davit::Status execute(const Handle& stream, std::span<const davit::EValue> inputs,
                               std::span<davit::EValue> outputs, Context& context) {
    Workspace& workspace = context.workspace();
    workspace.scratch.resize(scratch_bytes(stream));
    workspace.results.resize(outputs.size());
    NpuDevice device;
    std::size_t base = 0;
    device.base[base++] = stream.data();
    device.base[base++] = workspace.scratch.data();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      davit::Tensor& result = workspace.results[i];
      for (const NpuCommand& c : commands(stream))
        if (c.y.base == static_cast<std::int32_t>(base))
          result = davit::Tensor::zeros(davit::ScalarType::float32, std::array<std::int64_t, 2>{c.rows, c.out});
      outputs[i] = result.view();
      device.base[base++] = result.view().data;
    }
    std::vector<davit::Tensor> dense;
    for (const davit::EValue& input : inputs)
      device.base[base++] = dense.emplace_back(davit::contiguous(input.tensor())).view().data;
    device.commands = commands(stream).data();
    device.count = header(stream).commands;
    device.start();
    while (device.busy) device.tick();
    return {};
  }

 private:
  static const char* refuses_product(davit::GraphModuleView graph, davit::NodeId id) {
    const davit::operators::NodeArguments call(graph, id);
    davit::operators::MatmulView product;
    if (davit::operators::read_matmul(call, product) || !product.is_plain() || product.addend == davit::no_id)
      return "it is no product with a bias";
    for (const davit::ValueId v : {output_of(graph, id), product.left, product.right, product.addend})
      if (graph.values[v].dtype != davit::ScalarType::float32) return "it is not float32";
    if (graph.values[product.right].producer != davit::no_id || graph.values[product.addend].producer != davit::no_id)
      return "its weight is computed";
    if (call.rank(product.left) != 2 || call.rank(product.right) != 2 || call.rank(product.addend) != 1)
      return "its operands are no matrices and a bias";
    if (call.size(product.addend, 0) != call.size(product.right, product.transposed ? 0 : 1))
      return "its bias has another size";
    return call.size(product.left, 0) < 0 || call.size(product.left, 1) < 0 ? "its sizes are not known" : nullptr;
  }
  static davit::ValueId output_of(davit::GraphModuleView graph, davit::NodeId id) {
    return graph.outputs(graph.nodes[id])[0].value();
  }

  static NpuProgram header(std::span<const std::byte> stream) {
    NpuProgram program;
    std::memcpy(&program, stream.data(), sizeof program);
    return program;
  }
  static std::span<const NpuCommand> commands(std::span<const std::byte> stream) {
    return {reinterpret_cast<const NpuCommand*>(stream.data() + sizeof(NpuProgram)),
            static_cast<std::size_t>(header(stream).commands)};
  }
  /// True if all commands of a loaded stream stay inside the stream and scratch, and name registers that have tensors.
  static bool is_sound(std::span<const std::byte> stream) {
    if (stream.size() < sizeof(NpuProgram)) return false;
    const NpuProgram program = header(stream);
    const auto registers = static_cast<std::int64_t>(NpuDevice().base.size());
    const auto inside = [&](NpuAddress a, std::int64_t floats) {
      if (a.base > 1) return a.base < std::int64_t{2} + program.outputs + program.inputs && a.offset == 0;
      const std::int64_t size = a.base == 0 ? static_cast<std::int64_t>(stream.size()) : program.scratch_bytes;
      return a.base >= 0 && a.offset >= 0 && a.offset % 4 == 0 && a.offset + 4 * floats <= size;
    };
    if (program.commands < 0 || program.inputs < 0 || program.outputs < 0 ||
        std::int64_t{2} + program.inputs + program.outputs > registers)
      return false;
    if (program.scratch_bytes < 0 ||
        static_cast<std::size_t>(program.commands) > (stream.size() - sizeof program) / sizeof(NpuCommand))
      return false;
    return std::ranges::all_of(commands(stream), [&](const NpuCommand& c) {
      for (const std::int64_t size : {c.rows, c.in, c.out})
        if (size < 0 || size > 1 << 20) return false;
      const std::int64_t columns = (std::int64_t{c.out} + NpuDevice::tile - 1) / NpuDevice::tile * NpuDevice::tile;
      if (c.layout != NpuCommand::tiles && (c.layout != NpuCommand::none || c.in != c.out)) return false;
      return c.y.base > 0 && inside(c.y, std::int64_t{c.rows} * c.out) && inside(c.x, std::int64_t{c.rows} * c.in) &&
             (c.layout == NpuCommand::none ||
              (c.weight.base == 0 && c.bias.base == 0 && inside(c.weight, columns * c.in) && inside(c.bias, c.out)));
    });
  }

  class Compiler {
   public:
    explicit Compiler(const davit::ExportedProgram& program) : program_(program), graph_(program.view()) {}

    davit::Result<Processed> run() {
      std::int32_t base = 2;
      for (const davit::Argument& output : graph_.args(graph_.root().outputs)) places_[output.value()] = {base++, 0};
      header_.outputs = base - 2;
      const auto inputs = graph_.args(graph_.root().inputs);
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const davit::InputSpec& spec = program_.signature.input_specs[i];
        if (davit::kind(spec) == davit::InputKind::user_input)
          places_[inputs[i].value()] = {base++, 0};
        else
          constants_[inputs[i].value()] = program_.tensor_named(*davit::target(spec));
      }
      header_.inputs = base - 2 - header_.outputs;
      for (davit::NodeId n = 0; n < graph_.nodes.size(); ++n)
        if (davit::Result<void> written = write(n); !written) return std::unexpected(std::move(written.error()));
      return assemble();
    }

   private:
    davit::Result<void> write(davit::NodeId n) {
      if (fused_.contains(n)) return {};
      const davit::operators::NodeArguments call(graph_, n);
      davit::ValueId out = output_of(graph_, n);
      NpuCommand c;
      const auto size = [&](davit::ValueId v, std::size_t d) { return static_cast<std::int32_t>(call.size(v, d)); };
      if (call.is("aten.relu.default")) {
        const davit::ValueId x = call.value({"self", 0});
        c = {.rows = size(x, 0), .in = size(x, 1), .out = size(x, 1), .clamp = 1, .x = place(x)};
      } else {
        davit::operators::MatmulView product;
        if (davit::operators::read_matmul(call, product)) return refuse("the stream has no such operator");
        const davit::Tensor* const weight = constants_[product.right];
        const davit::Tensor* const bias = constants_[product.addend];
        if (weight == nullptr || bias == nullptr) return refuse("a weight is no constant");
        c = {.rows = size(product.left, 0),
             .in = size(product.left, 1),
             .out = size(product.addend, 0),
             .layout = NpuCommand::tiles,
             .x = place(product.left)};
        c.weight = tiled(*weight, c, product.transposed);
        c.bias = add(floats(*bias));
        if (const davit::NodeId relu = only_relu(out); relu != davit::no_id) {
          c.clamp = 1;
          out = output_of(graph_, relu);
          fused_.insert(relu);
        }
      }
      c.y = place(out);
      commands_.push_back(c);
      return {};
    }
    static std::unexpected<davit::Error> refuse(std::string_view what) {
      return std::unexpected(
          davit::Error{.code = davit::ErrorCode::unsupported_argument, .backend = name, .what = davit::Name(what)});
    }
    /// Returns the relu that is the only reader of the value; no_id if there is none.
    davit::NodeId only_relu(davit::ValueId v) const {
      davit::NodeId reader = davit::no_id;
      std::size_t count = 0;
      for (const davit::Argument& a : graph_.args(graph_.root().outputs))
        graph_.for_each_value(a, [&](davit::ValueId other) { count += other == v ? 1 : 0; });
      for (davit::NodeId n = 0; n < graph_.nodes.size(); ++n)
        for (const davit::Argument& a : graph_.inputs(graph_.nodes[n]))
          graph_.for_each_value(a, [&](davit::ValueId other) {
            if (other == v) reader = n, ++count;
          });
      return count == 1 && reader != davit::no_id && graph_.target(graph_.nodes[reader]) == "aten.relu.default"
                 ? reader
                 : davit::no_id;
    }
    /// Returns the place of a value. Allocates scratch for a value that is neither input nor output.
    NpuAddress place(davit::ValueId v) {
      const auto [at, is_new] = places_.try_emplace(v, NpuAddress{1, header_.scratch_bytes});
      if (is_new) {
        const davit::Value& value = graph_.values[v];
        std::int64_t bytes = 4;
        for (const davit::Dim& dim : graph_.dims_of(value.sizes)) bytes *= dim.value;
        header_.scratch_bytes += static_cast<std::int32_t>((bytes + 15) / 16 * 16);
      }
      return at->second;
    }
    static std::vector<float> floats(const davit::Tensor& tensor) {
      const davit::Tensor dense = davit::contiguous(tensor.view());
      const float* const first = dense.view().as<float>();
      return {first, first + dense.numel()};
    }
    NpuAddress add(const std::vector<float>& numbers) {
      const NpuAddress at{0, static_cast<std::int32_t>(4 * weights_.size())};  // after the commands: see assemble
      weights_.insert(weights_.end(), numbers.begin(), numbers.end());
      while (weights_.size() % 4 != 0) weights_.push_back(0);
      return at;
    }
    NpuAddress tiled(const davit::Tensor& weight, const NpuCommand& c, bool transposed) {
      const std::vector<float> from = floats(weight);
      const std::int32_t tiles = (c.out + NpuDevice::tile - 1) / NpuDevice::tile;
      std::vector<float> to(static_cast<std::size_t>(tiles * c.in * NpuDevice::tile));
      for (std::int32_t j = 0; j < c.out; ++j)
        for (std::int32_t k = 0; k < c.in; ++k)
          to[static_cast<std::size_t>((j / NpuDevice::tile * c.in + k) * NpuDevice::tile + j % NpuDevice::tile)] =
              from[static_cast<std::size_t>(transposed ? j * c.in + k : k * c.out + j)];
      return add(to);
    }
    Processed assemble() {
      header_.commands = static_cast<std::int32_t>(commands_.size());
      const std::size_t first = (sizeof header_ + commands_.size() * sizeof(NpuCommand) + 15) / 16 * 16;
      for (NpuCommand& c : commands_)
        if (c.layout == NpuCommand::tiles)
          for (NpuAddress* a : {&c.weight, &c.bias}) a->offset += static_cast<std::int32_t>(first);
      Processed stream(first + 4 * weights_.size());
      std::memcpy(stream.data(), &header_, sizeof header_);
      if (!commands_.empty())
        std::memcpy(stream.data() + sizeof header_, commands_.data(), commands_.size() * sizeof(NpuCommand));
      if (!weights_.empty()) std::memcpy(stream.data() + first, weights_.data(), 4 * weights_.size());
      return stream;
    }

    const davit::ExportedProgram& program_;
    davit::GraphModuleView graph_;
    std::map<davit::ValueId, const davit::Tensor*> constants_;
    std::map<davit::ValueId, NpuAddress> places_;
    std::set<davit::NodeId> fused_;
    std::vector<NpuCommand> commands_;
    std::vector<float> weights_;
    NpuProgram header_;
  };
};
static_assert(davit::check_backend<npu_compiler>());
