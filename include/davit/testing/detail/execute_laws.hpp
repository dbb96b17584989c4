// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/backend_table.hpp"
#include "davit/core/segments.hpp"
#include "davit/core/tensor.hpp"
#include "davit/formats/package.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/prepare_delegate.hpp"
#include "davit/testing/detail/law_case.hpp"

namespace davit::testing::detail {

/// damaged: truncated bytes give a handle or an Error with a reason; both functions must return.
template <Backend B>
  requires SavesProcessed<B>
void check_damaged(LawCase<B>& c, const LoweredProgram& program) {
  if (program.methods()[0].delegates.empty()) return;
  constexpr const BackendTable& table = backend_table<B>;
  SegmentWriter writer;
  const std::vector<std::byte> blob = table.save(&processed_of<B>(program.methods()[0].delegates[0]), writer);
  std::vector<SharedBytes> segments;
  for (const std::span<const std::byte> each : writer.segments()) segments.push_back(SharedBytes::copy_of(each));
  const SegmentReader reader(std::move(segments));
  const auto explained = [&](const Error& error, std::size_t size) {
    if (error.code == ErrorCode::ok || error.what.empty())
      c.broken("damaged", "the error for ", size, " of ", blob.size(),
               " bytes has no code or does not say what is wrong");
  };
  const std::size_t step = std::max<std::size_t>(1, blob.size() / 64);
  for (std::size_t size = 0; size < blob.size(); size += step) {
    const std::vector<std::byte> part(blob.begin(), blob.begin() + static_cast<std::ptrdiff_t>(size));
    const Result<BackendObject> processed = table.load(part, reader);
    if (!processed) {
      explained(processed.error(), size);
      continue;
    }
    const Result<BackendObject> handle = table.compile(processed->get(), &c.spec);
    if (!handle) explained(handle.error(), size);
  }
}

/// saved, pure, damaged: a loaded program behaves as the saved one.
template <Backend B>
  requires SavesProcessed<B>
void check_saving(LawCase<B>& c, const LoweredProgram& program) {
  const auto save = [](const LoweredProgram& each) { return formats::save_program(each, {.debug_map = false}); };
  const Result<std::vector<std::byte>> bytes = save(program);
  if (!bytes) return c.broken("saved", "it cannot be saved: ", to_name(bytes.error()));
  const Result<LoweredProgram> again = to_backend<B>(c.program, c.spec);
  if (!again || save(*again) != bytes) c.broken("pure", "lowering twice gave different bytes");
  const Result<LoweredProgram> loaded = formats::load_program(program.backends(), SharedBytes::copy_of(*bytes));
  if (!loaded) return c.broken("saved", "the saved bytes do not load: ", to_name(loaded.error()));
  if (save(*loaded) != bytes) c.broken("saved", "the loaded form saves as other bytes");
  c.same_results("saved", *loaded, "a loaded program");
  check_damaged(c, program);
}

enum class Destinations : std::uint8_t { none, fitting, small };

/// A destination for an output; a `small` one declares a first dimension that is one shorter than the memory.
class Destination {
 public:
  Destination(const PortType& type, bool small) : dtype_(type.dtype) {
    for (const Dim& d : type.dims) sizes_.push_back(d.value);
    whole_ = Tensor::zeros(dtype_, sizes_);
    if (small && !sizes_.empty() && sizes_[0] > 0) --sizes_[0];
    strides_.resize(sizes_.size());
    contiguous_strides(sizes_, strides_);
  }
  [[nodiscard]] TensorView view() const noexcept {
    return {whole_.view().data, sizes_.data(), strides_.data(), static_cast<std::uint8_t>(sizes_.size()), dtype_};
  }
  [[nodiscard]] bool is_smaller() const noexcept { return view().nbytes() < whole_.storage.size(); }
  /// True if no byte behind it was written.
  [[nodiscard]] bool is_clean() const noexcept {
    return std::ranges::all_of(whole_.storage.bytes().subspan(view().nbytes()),
                               [](std::byte b) { return b == std::byte{}; });
  }

 private:
  ScalarType dtype_;
  std::vector<std::int64_t> sizes_, strides_;
  Tensor whole_;
};

/// functional, inputs, destination: calls execute directly, with and without destinations, for methods that are one
/// partition without state.
template <Backend B>
void check_execute(LawCase<B>& c, const LoweredProgram& program) {
  const LoweredMethod& method = program.methods()[0];
  if (method.delegates.size() != 1) return;
  const LoweredDelegate& delegate = method.delegates[0];
  const auto& handle = handle_of<B>(delegate);
  for (const InputPort& port : method.interface.inputs)
    if (port.role != InputRole::user || port.constant) return;
  const auto index_of = [](const auto& ports, std::string_view name) {
    std::size_t i = 0;
    while (i < ports.size() && ports[i].name != name) ++i;
    return i;
  };
  for (std::size_t i = 0; i < c.samples.size(); ++i) {
    std::vector<EValue> inputs;
    for (const InputPort& port : delegate.interface.inputs) {
      const std::size_t at = index_of(method.interface.inputs, port.name);
      if (at == method.interface.inputs.size()) return;
      inputs.push_back(c.samples[i][at]);
    }
    for (const Destinations given : {Destinations::none, Destinations::fitting, Destinations::small}) {
      workspace_of<B> workspace{};
      Scratch scratch;
      const Snapshot before(inputs);
      std::vector<EValue> outputs(delegate.interface.outputs.size());
      std::vector<Destination> destinations;
      destinations.reserve(outputs.size());
      for (std::size_t k = 0; given != Destinations::none && k < outputs.size(); ++k) {
        const PortType& type = delegate.interface.outputs[k].type;
        if (type.tag != EValue::Tag::tensor || !std::ranges::all_of(type.dims, &Dim::is_static)) continue;
        destinations.emplace_back(type, given == Destinations::small);
        outputs[k] = destinations.back().view();
      }
      if (given == Destinations::small && std::ranges::none_of(destinations, &Destination::is_smaller)) continue;
      if (Result<void> prepared = prepare_delegate(backend_table<B>, &handle, inputs, outputs, &workspace, scratch);
          !prepared) {
        if (given == Destinations::small) continue;
        return c.broken("outputs", "prepare: ", to_name(prepared.error()));
      }
      NullTracer tracer;
      NoReport report;
      ExecuteContext<NullTracer, NoReport, workspace_of<B>> context(tracer, report, workspace, scratch.span());
      const Status status = B::execute(handle, inputs, std::span<EValue>(outputs), context);
      for (const Destination& each : destinations)
        if (!each.is_clean())
          return c.broken("destination", "execute wrote behind a destination that is smaller than the output");
      const auto is_destination = [&](const EValue& output) {
        return output.is_tensor() && std::ranges::any_of(destinations, [&](const Destination& each) {
                 return each.view().data == output.tensor().data;
               });
      };
      if (given == Destinations::small && (!status || std::ranges::any_of(outputs, is_destination))) continue;
      if (!status) return c.broken("functional", "execute without a session failed: ", name_of(status.error().code()));
      if (Snapshot(inputs) != before) c.broken("inputs", "execute changed its inputs");
      std::vector<EValue> answered;  // the method's results
      for (const OutputPort& port : method.interface.outputs) {
        const std::size_t at = index_of(delegate.interface.outputs, port.name);
        if (at == outputs.size()) return;
        answered.push_back(outputs[at]);
      }
      if (!c.mutates_inputs() && Snapshot(answered) != c.expected[i])
        c.broken(given == Destinations::none ? "functional" : "destination",
                 "execute without a session gave another result");
    }
  }
}

}  // namespace davit::testing::detail
