// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "davit/formats/file_kind.hpp"
#include "davit/formats/mapped_file.hpp"
#include "davit/program/size_text.hpp"
#include "files.hpp"
#include "inputs.hpp"
#include "loss_page.hpp"
#include "progress.hpp"
#include "read_program.hpp"
#include "runner.hpp"

namespace tool {

namespace {

using namespace davit;

/// A lowered training program: of a joint graph, or one that an earlier training saved, which goes on.
[[nodiscard]] Result<Runner> open_training(const TrainCommand& options) {
  const TrainingChoice& choice = options.training;
  if (formats::is_package(options.model)) {
    const std::pair<const char*, bool> of_program[] = {{"--optimizer", !choice.optimizer.empty()},
                                                       {"--momentum", choice.momentum.has_value()},
                                                       {"--nesterov", choice.nesterov},
                                                       {"--weight-decay", choice.weight_decay.has_value()},
                                                       {"--freeze", !choice.frozen.empty()},
                                                       {"--accumulate", choice.accumulate != 1}};
    for (const auto& [option, given] : of_program)
      if (given)
        return refuse(ErrorCode::invalid_argument, Name::own(option),
                      concat(options.model, " is a training program already, with its optimizer"),
                      "leave the option out, or train the joint graph");
    return Runner::open(options.model, options.lowering);
  }
  const Result<ExportedProgram> joint = read_program(options.model, reading(options.lowering.limits));
  if (!joint) return std::unexpected(joint.error());
  const Result<ExportedProgram> program = training_of(*joint, choice);
  if (!program) return std::unexpected(program.error());
  return Runner::lower(*program, options.lowering);
}

/// The samples, and how batches of them are made.
class Batches {
 public:
  /// Errors: data that are no arrays, or not as many as the program's inputs; a batch that does not fit.
  [[nodiscard]] static Result<Batches> make(std::vector<Input> data, const MethodInterface& interface,
                                            std::int64_t batch) {
    Batches out;
    std::vector<const InputPort*> ports;
    for (const InputPort& port : interface.inputs)
      if (port.role == InputRole::user && !port.constant) ports.push_back(&port);
    const bool trains =
        !ports.empty() && ports.back()->type.tag == EValue::Tag::tensor && ports.back()->type.dims.empty() &&
        ports.back()->type.dtype == ScalarType::float32 && ports.size() > 1 &&
        std::ranges::any_of(interface.outputs, [](const OutputPort& o) { return o.kind == OutputKind::loss_output; });
    if (!trains)
      return refuse(ErrorCode::invalid_program, "program",
                    "it is no training program: it lacks a loss or a learning rate",
                    "give a joint graph, or what davit train wrote");
    ports.pop_back();
    if (data.size() != ports.size())
      return refuse(
          ErrorCode::invalid_argument, "--data",
          concat("the program takes ", describe_inputs(interface), ", and ", data.size(), " arrays are given"),
          "give one .npy file for each input but the last, which is the learning rate");
    const InputPort* first_static = nullptr;
    for (std::size_t i = 0; i < data.size(); ++i) {
      const auto where = concat("--data, '", ports[i]->name, "'");
      if (!data[i].value.is_tensor() || data[i].tensor.sizes.empty() || ports[i]->type.dims.empty())
        return refuse(ErrorCode::invalid_argument, where, "it is no array of samples",
                      "give a .npy file whose first dimension counts samples");
      const std::int64_t samples = data[i].tensor.sizes[0];
      if (i == 0) out.samples_ = samples;
      if (samples != out.samples_)
        return refuse(ErrorCode::invalid_shape, where,
                      concat("it has ", samples, " samples, and the first array ", out.samples_),
                      "give as many of each");
      if (data[i].tensor.dtype != ports[i]->type.dtype)
        return refuse(ErrorCode::invalid_dtype, where,
                      concat("its elements are ", name_of(data[i].tensor.dtype), ", and the program takes ",
                             name_of(ports[i]->type.dtype)),
                      "convert it: numpy's array.astype");
      const Dim& dim = ports[i]->type.dims[0];
      if (dim.is_static()) {
        if (first_static != nullptr && first_static->type.dims[0].value != dim.value)
          return refuse(ErrorCode::invalid_shape, where,
                        concat("the program's inputs have ", first_static->type.dims[0].value, " and ", dim.value,
                               " samples in a batch"),
                        "export the model so that each input's first dimension counts samples");
        first_static = ports[i];
      }
      for (const MethodInterface::SymbolRange& range : interface.ranges)
        if (!dim.is_static() && range.symbol == dim.expr) {
          out.least_ = std::max(out.least_, range.min);
          out.most_ = std::min(out.most_, range.max);
        }
    }
    if (first_static != nullptr) {
      const std::int64_t fixed = first_static->type.dims[0].value;
      if (batch != 0 && batch != fixed)
        return refuse(ErrorCode::invalid_argument, concat("--batch ", batch),
                      concat("the joint graph was exported for batches of ", fixed),
                      concat("give --batch ", fixed, ", or export it with another batch or a dynamic one"));
      out.least_ = out.most_ = out.batch_ = fixed;
    } else {
      out.batch_ = batch == 0 ? std::min<std::int64_t>(32, out.samples_) : batch;
      if (out.batch_ < out.least_ || out.batch_ > out.most_)
        return refuse(ErrorCode::out_of_range, concat("--batch ", out.batch_),
                      concat("the joint graph was exported for ", range_text("batch", out.least_, out.most_)),
                      "give one of these");
    }
    if (out.batch_ < 1 || out.batch_ > out.samples_)
      return refuse(ErrorCode::invalid_argument, concat("--batch ", out.batch_),
                    concat("there are ", out.samples_, " samples"), "give more samples, or a smaller batch");
    out.data_ = std::move(data);
    out.order_.resize(static_cast<std::size_t>(out.samples_));
    return out;
  }

  /// Samples at the end of an epoch that no batch of the program takes.
  [[nodiscard]] std::int64_t left_out() const noexcept {
    const std::int64_t rest = samples_ % batch_;
    return rest < least_ ? rest : 0;
  }
  [[nodiscard]] std::int64_t batch() const noexcept { return batch_; }
  [[nodiscard]] std::size_t steps() const noexcept {
    return static_cast<std::size_t>(samples_ / batch_ + (samples_ % batch_ != 0 && left_out() == 0 ? 1 : 0));
  }

  /// The order of the next epoch: that of the files, or with a generator that of torch.randperm.
  void begin_epoch(std::optional<std::mt19937>& generator) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    for (std::size_t i = 0; generator && i + 1 < order_.size(); ++i)
      std::swap(order_[i], order_[i + (*generator)() % (order_.size() - i)]);
  }
  /// The arguments of a step but the learning rate, valid until the next call; nothing if there is no memory.
  [[nodiscard]] bool gather(std::size_t step, std::vector<EValue>& arguments) {
    const std::size_t first = step * static_cast<std::size_t>(batch_);
    const std::size_t count = std::min(static_cast<std::size_t>(batch_), order_.size() - first);
    arguments.clear();
    rows_.resize(data_.size());
    for (std::size_t i = 0; i < data_.size(); ++i) {
      const Tensor& all = data_[i].tensor;
      std::vector<std::int64_t> sizes = all.sizes;
      sizes[0] = static_cast<std::int64_t>(count);
      if (rows_[i].sizes != sizes) rows_[i] = Tensor::zeros(all.dtype, sizes);
      const std::size_t bytes = all.view().nbytes() / order_.size();
      if (rows_[i].storage.size() < bytes * count) return false;
      for (std::size_t row = 0; row < count; ++row)
        if (bytes != 0)
          std::memcpy(rows_[i].storage.writable() + row * bytes,
                      static_cast<const std::byte*>(all.view().data) + order_[first + row] * bytes, bytes);
      arguments.emplace_back(rows_[i].view());
    }
    return true;
  }

 private:
  std::vector<Input> data_{};
  std::vector<Tensor> rows_{};
  std::vector<std::size_t> order_{};
  std::int64_t samples_ = 0;
  std::int64_t batch_ = 0;
  std::int64_t least_ = 1;         ///< samples in a batch
  std::int64_t most_ = INT64_MAX;  ///< the same
};

/// The loss among what a run returned.
[[nodiscard]] Result<double> loss_of(const Outputs& outputs, const MethodInterface& interface) {
  const auto at = std::ranges::find(interface.outputs, OutputKind::loss_output, &OutputPort::kind);
  const EValue& value = outputs.all()[static_cast<std::size_t>(at - interface.outputs.begin())];
  if (value.is_tensor() && value.tensor().numel() == 1) {
    const TensorView loss = value.tensor();
    if (loss.dtype == ScalarType::float32) return static_cast<double>(*static_cast<const float*>(loss.data));
    if (loss.dtype == ScalarType::float64) return *static_cast<const double*>(loss.data);
  }
  return refuse(ErrorCode::unsupported_argument, "loss", "it is no float32 or float64 number",
                "let forward() return such a loss: loss.float()");
}

[[nodiscard]] Result<void> train_program(const TrainCommand& options) {
  const Files files = Files()
                          .reads_all({options.model}, options.data)
                          .uses(options.lowering)
                          .writes("-o", options.output)
                          .writes("--html", options.html);
  if (Result<void> apart = files.check(); !apart) return apart;
  Result<std::vector<Input>> data = parse_inputs(options.data);
  if (!data) return std::unexpected(std::move(data.error()));
  Progress progress(printable(concat("lowering ", options.model)));
  Result<Runner> runner = open_training(options);
  progress.show({});
  if (!runner) return std::unexpected(std::move(runner.error()));
  const MethodInterface& interface = runner->method().interface;
  reinterpret_as_bfloat16(*data, interface.inputs);
  Result<Batches> batches = Batches::make(*std::move(data), interface, options.batch);
  if (!batches) return std::unexpected(std::move(batches.error()));
  if (const std::int64_t rest = batches->left_out(); rest != 0)
    std::fprintf(stderr, "davit: the last %lld samples of each epoch are left out: they make no batch of %lld\n",
                 static_cast<long long>(rest), static_cast<long long>(batches->batch()));
  Tensor rate = Tensor::zeros(ScalarType::float32, {});
  if (rate.storage.empty())
    return refuse(ErrorCode::out_of_memory, "learning rate", "no memory", "train a smaller model");
  *rate.view().as<float>() = static_cast<float>(options.learning_rate);
  std::optional<std::mt19937> generator;
  if (options.shuffle) generator.emplace(static_cast<std::uint32_t>(*options.shuffle));
  using Clock = std::chrono::steady_clock;
  Clock::time_point shown = Clock::now();
  std::vector<EValue> arguments;
  std::vector<double> losses;
  std::size_t step = 0;
  bool warned = false;
  for (std::size_t epoch = 0; epoch < options.epochs; ++epoch) {
    batches->begin_epoch(generator);
    for (std::size_t i = 0; i < batches->steps(); ++i) {
      if (!batches->gather(i, arguments))
        return refuse(ErrorCode::out_of_memory, "--data", "no memory for a batch", "give a smaller --batch");
      arguments.emplace_back(rate.view());
      const Result<Outputs> outputs = runner->run(arguments);
      if (!outputs) return std::unexpected(outputs.error());
      const Result<double> loss = loss_of(*outputs, interface);
      if (!loss) return std::unexpected(loss.error());
      ++step;
      if (!options.html.empty()) losses.push_back(*loss);
      if (!std::isfinite(*loss) && !std::exchange(warned, true)) {
        progress.show({});
        std::fprintf(stderr, "davit: warning: the loss of step %zu is %g; training goes on (a smaller --lr may help)\n",
                     step, *loss);
      }
      if (step % options.log == 0) {
        progress.show({});
        print("step=%zu loss=%.9g\n", step, *loss);
      } else if (const Clock::time_point now = Clock::now(); now - shown > std::chrono::milliseconds(100)) {
        shown = now;
        progress.show(davit::printable(concat("epoch ", epoch + 1, "/", options.epochs, ", step ", step, ", loss ")) +
                      std::to_string(*loss));
      }
    }
  }
  progress.show({});
  if (!options.html.empty()) {
    if (Result<void> written =
            formats::write_file(options.html, loss_page(concat("training of ", options.model), losses));
        !written)
      return written;
    print_written(options.html);
  }
  if (options.output.empty()) return {};
  if (Result<void> saved = runner->save_state(options.output); !saved) return saved;
  print_written(options.output);
  return {};
}

}  // namespace

int train(const TrainCommand& options) {
  const Result<void> status = train_program(options);
  if (status) return 0;
  std::fprintf(stderr, "davit: %s\n", to_string(status.error()).c_str());
  return 2;
}

}  // namespace tool
