// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/program/name_map.hpp"
#include "davit/runtime/call_frame.hpp"

namespace davit {

bool reuse_tensor(Tensor& tensor, ScalarType dtype, std::span<const std::int64_t> sizes, std::uint64_t max_bytes) {
  if (tensor.dtype == dtype && std::ranges::equal(tensor.sizes, sizes) && tensor.view().is_contiguous()) return true;
  const std::int64_t count = checked_numel(sizes);
  if (count < 0 || static_cast<std::uint64_t>(count) * size_of(dtype) > max_bytes) return false;
  Tensor fresh = Tensor::zeros(dtype, sizes);
  if (fresh.storage.writable() == nullptr && count > 0) return false;
  tensor = std::move(fresh);
  return true;
}

Result<std::vector<NamedTensor>> copy_state(std::span<const NamedTensor> initial, std::uint64_t max_bytes) {
  std::vector<NamedTensor> state;
  for (const NamedTensor& entry : initial) {
    Tensor copy;
    if (!reuse_tensor(copy, entry.tensor.dtype, entry.tensor.sizes, max_bytes))
      return std::unexpected(Error{.code = ErrorCode::out_of_memory,
                                   .stage = Stage::execute,
                                   .where = concat("buffer '", entry.name, "'"),
                                   .what = "no memory for a copy of its initial value",
                                   .fix = "run fewer sessions, or a smaller model"});
    max_bytes -= copy.storage.size();
    copy_tensor(entry.tensor.view(), copy.view());
    state.push_back({entry.name, std::move(copy)});
  }
  return state;
}

bool own_memory(Tensor& buffer) {
  if (!buffer.storage.is_shared()) return true;
  SharedBytes own = SharedBytes::copy_of(buffer.storage.bytes());
  if (own.empty()) return false;
  buffer.storage = std::move(own);
  return true;
}

namespace detail {

[[nodiscard]] bool replaces_state(OutputKind kind) noexcept {
  return kind == OutputKind::buffer_mutation || kind == OutputKind::parameter_mutation;
}
/// Index of a list by name, built at the first look-up.
template <class List, class NameOf>
class LazyNameIndex {
 public:
  LazyNameIndex(const List& list, NameOf name_of) : list_(list), name_of_(name_of) {}
  /// Returns the first entry called `name`, or no_id.
  [[nodiscard]] std::uint32_t first(std::string_view name) { return id(index().first(name)); }
  [[nodiscard]] std::uint32_t last(std::string_view name) { return id(index().last(name)); }

 private:
  [[nodiscard]] static std::uint32_t id(std::size_t at) noexcept {
    return at == NameIndex::not_found ? no_id : static_cast<std::uint32_t>(at);
  }
  [[nodiscard]] const NameIndex& index() {
    if (!std::exchange(built_, true)) index_ = NameIndex(list_, name_of_);
    return index_;
  }
  const List& list_;
  NameOf name_of_;
  NameIndex index_;
  bool built_ = false;
};

}  // namespace detail

CallFrame::CallFrame(const Name& method, std::string_view backend, const MethodInterface& interface,
                     std::span<NamedTensor> state)
    : method_(&method), backend_(backend), interface_(&interface), symbols_(interface.exprs), guards_(interface) {
  inputs_.resize(interface.inputs.size());
  outputs_.resize(interface.outputs.size());
  detail::LazyNameIndex states(state, [](const NamedTensor& entry) { return entry.name.view(); });
  detail::LazyNameIndex users(interface.inputs, [](const InputPort& port) {
    return port.role == InputRole::user ? port.name.view() : std::string_view();
  });
  for (const InputPort& port : interface.inputs) {
    state_of_input_.push_back(port.role == InputRole::state ? states.first(port.target) : no_id);
    gathers_ = gathers_ || port.role == InputRole::state || port.constant.has_value() || port.written;
    input_checks_.add(port.type, port.constant.has_value());
    if (port.type.expr != no_id) input_checks_.leave();
  }
  if (guards_.any()) input_checks_.leave();
  find_written();
  for (const OutputPort& port : interface.outputs) {
    const std::uint32_t of_state = detail::replaces_state(port.kind) ? states.first(port.target) : no_id;
    std::uint32_t of_input = port.kind == OutputKind::user_input_mutation ? users.last(port.target) : no_id;
    if (of_input != no_id && interface.inputs[of_input].role != InputRole::user) of_input = no_id;
    state_of_output_.push_back(of_state);
    input_of_output_.push_back(of_input);
    writes_back_ = writes_back_ || of_state != no_id || of_input != no_id;
    output_checks_.add(port.type, false);
  }
  const std::size_t own =
      interface.outputs.size() - std::min<std::size_t>(interface.added_mutations, interface.outputs.size());
  const std::span<const OutputPort> listed = std::span(interface.outputs).first(own);
  detail::LazyNameIndex mutations(listed, [](const OutputPort& port) {
    return detail::replaces_state(port.kind) || port.kind == OutputKind::user_input_mutation ? port.name.view()
                                                                                             : std::string_view();
  });
  for (std::uint32_t i = 0; i < own && writes_back_; ++i)
    if (const OutputPort& port = interface.outputs[i]; port.is_returned() && !port.name.empty())
      if (const std::uint32_t of = mutations.first(port.name.view());
          of != no_id && (state_of_output_[of] != no_id || input_of_output_[of] != no_id))
        returned_mutations_.emplace_back(i, of);
}

Result<void> CallFrame::gather(std::span<const EValue> user, std::span<const NamedTensor> state) {
  const std::vector<InputPort>& ports = interface_->inputs;
  std::size_t wanted = 0;
  std::size_t fixed = 0;
  bool omits_last = true;  // the omitted inputs are the last ones, and all are fixed
  for (const InputPort& port : ports) {
    if (port.role != InputRole::user) continue;
    omits_last = omits_last && (wanted < user.size() || port.constant.has_value());
    ++wanted;
    fixed += port.constant ? 1 : 0;
  }
  omits_last = omits_last && user.size() < wanted;
  const bool omits_fixed = user.size() + fixed == wanted && !omits_last;
  if (user.size() != wanted && !omits_fixed && !omits_last) return std::unexpected(wrong_count(user.size()));
  std::size_t next = 0;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (state_of_input_[i] != no_id) {
      inputs_[i] = EValue(state[state_of_input_[i]].tensor.view());
    } else if (ports[i].constant && (omits_fixed || next == user.size())) {
      inputs_[i] = constant_value(*ports[i].constant);
    } else {
      inputs_[i] = user[next++];
      if (ports[i].constant && !same_constant(inputs_[i], *ports[i].constant))
        return std::unexpected(error(ErrorCode::invalid_argument,
                                     concat("argument '", ports[i].name, "' of ", *method_, "()"),
                                     "the program was exported for one value of this argument, and this is another",
                                     "leave the argument out, or export the program for the value you need"));
    }
  }
  for (InPlaceInput& written : written_)
    if (!copy_in(written)) return std::unexpected(no_memory());
  return {};
}

Result<std::vector<EValue>> CallFrame::arrange(std::span<const EValue> args, std::span<const NamedValue> kwargs) const {
  std::vector<EValue> all;
  std::vector<bool> taken(kwargs.size(), false);
  const NameIndex names(kwargs, [](const NamedValue& kwarg) { return std::string_view(kwarg.name); });
  const auto bad = [&](Name what) {
    return std::unexpected(error(ErrorCode::invalid_argument, {}, std::move(what), call_it_as()));
  };
  for (const InputPort& port : interface_->inputs) {
    if (port.role != InputRole::user) continue;
    const bool positional = all.size() < args.size();
    const EValue* given = positional ? &args[all.size()] : nullptr;
    if (const std::size_t k = names.first(port.name); k != NameIndex::not_found) {
      if (given != nullptr || names.last(port.name) != k)
        return bad(concat(*method_, "() got two values for argument '", port.name, "'"));
      given = &kwargs[k].value;
      taken[k] = true;
    }
    if (given == nullptr && port.constant) {
      all.push_back(constant_value(*port.constant));
    } else if (given == nullptr) {
      for (const NamedValue& kwarg : kwargs)  // an unknown name may be this one, misspelt
        if (std::ranges::none_of(interface_->inputs, [&](const InputPort& each) {
              return each.role == InputRole::user && each.name == kwarg.name;
            }))
          return bad(concat(*method_, "() has no argument '", kwarg.name, "'"));
      return bad(concat(*method_, "() is missing value for argument '", port.name, "'"));
    } else {
      all.push_back(*given);
    }
  }
  if (args.size() > all.size())
    return bad(concat(*method_, "() expected at most ", all.size(), " argument(s) but received ", args.size()));
  for (std::size_t k = 0; k < kwargs.size(); ++k)
    if (!taken[k]) return bad(concat(*method_, "() has no argument '", kwargs[k].name, "'"));
  return all;
}

Result<bool> CallFrame::check_inputs(std::span<const EValue> user, std::span<const EValue> inputs) {
  if (inputs.size() != interface_->inputs.size()) return std::unexpected(wrong_count(user.size()));
  symbols_.reset();
  symbols_.settle();
  const auto check = [&] { return check_input_values(*method_, backend_, *interface_, inputs, symbols_); };
  if (Result<void> checked = check(); !checked) return error_of(std::move(checked));
  if (Result<void> bound = bind_symbols(*method_, backend_, *interface_, inputs, symbols_); !bound)
    return error_of(std::move(bound));
  if (Result<void> checked = check(); !checked) return error_of(std::move(checked));
  const bool changed = sizes_.changed(interface_->inputs, inputs);
  if (Result<void> held = guards_.check(*method_, backend_, inputs, changed); !held) {
    sizes_.forget();
    return error_of(std::move(held));
  }
  return changed;
}

Result<void> CallFrame::own_state(std::span<NamedTensor> state) {
  bool moved = false;
  for (const std::uint32_t index : state_of_output_) {
    if (index == no_id || !state[index].tensor.storage.is_shared()) continue;
    if (!own_memory(state[index].tensor))
      return std::unexpected(error(ErrorCode::out_of_memory, concat("buffer '", state[index].name, "'"),
                                   "no memory for a copy: a fork of the session shares the buffer",
                                   "keep fewer forks, or a smaller model"));
    moved = moved_ = true;
  }
  for (std::size_t i = 0; i < inputs_.size() && moved; ++i)
    if (state_of_input_[i] != no_id &&
        std::ranges::find(state_of_output_, state_of_input_[i]) != state_of_output_.end())
      inputs_[i] = EValue(state[state_of_input_[i]].tensor.view());
  return {};
}

bool CallFrame::own_written(std::span<NamedTensor> state) {
  for (InPlaceInput& written : written_) {
    written.is_same = false;
    const std::uint32_t index = state_of_input_[written.input];
    if (index == no_id || !state[index].tensor.storage.is_shared()) continue;
    const MemoryRange to = memory_range(written.to);
    const auto bytes = static_cast<std::size_t>(to.end - to.begin);
    written.is_same = bytes == 0 || std::memcmp(written.own.span().data(), to.begin, bytes) == 0;
    if (written.is_same) continue;
    if (!own_memory(state[index].tensor)) return false;
    moved_ = true;
    written.to = state[index].tensor.view();
  }
  return true;
}

Result<void> CallFrame::check_outputs() const {
  return check_output_values(*method_, backend_, *interface_, outputs_, symbols_);
}

Result<void> CallFrame::write_back(std::span<const EValue> inputs, std::span<NamedTensor> state) {
  writes_.clear();
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (const EValue to = destination(i, inputs, state); to.is_tensor() && !is_there(outputs_[i], to.tensor()))
      writes_.push_back({&outputs_[i], to.tensor(), &interface_->outputs[i].target});
  for (const Write& write : writes_)
    if (!write.value->is_tensor() || write.value->tensor().dtype != write.to.dtype ||
        !std::ranges::equal(write.value->tensor().sizes(), write.to.sizes()))
      return std::unexpected(
          error(ErrorCode::invalid_shape, concat("outputs of ", *method_, "()"),
                concat("the new value of '", *write.target, "' has other sizes or another dtype than the old one"),
                "export the program again"));
  used_copies_ = 0;
  memory_.clear();
  for (const Write& write : writes_) memory_.add(memory_range(write.to));
  memory_.expect(outputs_.size());
  for (std::size_t i = 0; i < outputs_.size() && !memory_.empty(); ++i)
    if (!keep(outputs_[i], memory_)) return std::unexpected(no_memory());
  if (!keep_mutations(inputs) || !own_written(state)) return std::unexpected(no_memory());
  for (const Write& write : writes_) {
    copy_tensor(write.value->tensor(), write.to);
    if (state_of_output_[static_cast<std::size_t>(write.value - outputs_.data())] != no_id)
      *write.value = EValue(write.to);
  }
  for (const auto& [output, mutation] : returned_mutations_)
    if (outputs_[output].is_tensor() && callers_.meet(memory_range(outputs_[output].tensor())))
      outputs_[output] = destination(mutation, inputs, state);
  copy_out();
  return {};
}

bool CallFrame::keep_mutations(std::span<const EValue> inputs) {
  const auto of_input = [&](const Write& write) {
    return input_of_output_[static_cast<std::size_t>(write.value - outputs_.data())] != no_id;
  };
  callers_.clear();
  if (returned_mutations_.empty() && std::ranges::none_of(writes_, of_input)) return true;
  for (std::size_t k = 0; k < inputs.size(); ++k)
    if (inputs[k].is_tensor() && interface_->inputs[k].role == InputRole::user)
      callers_.add(memory_range(inputs[k].tensor()));
  callers_.expect(writes_.size() + returned_mutations_.size());
  return std::ranges::all_of(writes_,
                             [&](const Write& write) { return !of_input(write) || keep(*write.value, callers_); });
}

bool CallFrame::is_there(const EValue& value, const TensorView& to) noexcept {
  return value.is_tensor() && value.tensor().data == to.data && value.tensor().dtype == to.dtype &&
         std::ranges::equal(value.tensor().sizes(), to.sizes()) &&
         std::ranges::equal(value.tensor().strides(), to.strides());
}

std::vector<CallFrame::Update> CallFrame::updates() const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> inputs;  // (state, input), sorted
  for (std::uint32_t i = 0; i < state_of_input_.size(); ++i)
    if (state_of_input_[i] != no_id) inputs.emplace_back(state_of_input_[i], i);
  std::ranges::sort(inputs);
  std::vector<Update> all;
  for (std::uint32_t o = 0; o < state_of_output_.size(); ++o)
    for (const auto& [state, input] :
         std::ranges::equal_range(inputs, state_of_output_[o], {}, &std::pair<std::uint32_t, std::uint32_t>::first))
      all.push_back({input, o});
  return all;
}

std::vector<MemoryRange> CallFrame::changed_state(std::span<const NamedTensor> state) const {
  std::vector<MemoryRange> all;
  for (const std::uint32_t index : state_of_output_)
    if (index != no_id) all.push_back(memory_range(state[index].tensor.view()));
  return all;
}

bool CallFrame::copy_in(InPlaceInput& written) {
  EValue& input = inputs_[written.input];
  written.to = {};
  if (!input.is_tensor()) return true;
  written.to = input.tensor();
  const MemoryRange from = memory_range(written.to);
  const auto bytes = static_cast<std::size_t>(from.end - from.begin);
  if (!written.own.reserve(bytes)) return false;
  if (bytes != 0) std::memcpy(written.own.span().data(), from.begin, bytes);
  input.tensor().data = written.own.span().data();
  return true;
}

void CallFrame::copy_out() {
  lent_.clear();
  for (const InPlaceInput& written : written_) {
    const MemoryRange to = memory_range(written.to);
    TensorView own = written.to;
    own.data = written.own.span().data();
    if (to.begin == to.end || own.data == nullptr) continue;
    if (!written.is_same) copy_tensor(own, written.to);
    lent_.push_back({memory_range(own), static_cast<std::byte*>(written.to.data)});
  }
  if (lent_.empty()) return;
  std::ranges::sort(lent_, {}, [](const WorkingCopy& lent) { return lent.own.begin; });  // copies never overlap
  for (EValue& output : outputs_) {
    if (!output.is_tensor()) continue;
    const MemoryRange made = memory_range(output.tensor());
    const auto after =
        std::ranges::partition_point(lent_, [&](const WorkingCopy& lent) { return lent.own.begin < made.end; });
    if (after == lent_.begin() || !overlap((after - 1)->own, made)) continue;
    output.tensor().data = (after - 1)->to + (static_cast<std::byte*>(output.tensor().data) - (after - 1)->own.begin);
  }
}

Error CallFrame::wrong_count(std::size_t given) const {
  std::size_t wanted = 0;
  const InputPort* missing = nullptr;
  for (const InputPort& port : interface_->inputs) {
    if (port.role != InputRole::user) continue;
    if (wanted++ >= given && missing == nullptr && !port.constant) missing = &port;
  }
  return error(ErrorCode::invalid_argument, {},
               missing != nullptr
                   ? concat(*method_, "() is missing value for argument '", missing->name, "'")
                   : concat(*method_, "() expected at most ", wanted, " argument(s) but received ", given),
               call_it_as());
}

void CallFrame::find_written() {
  const std::vector<InputPort>& ports = interface_->inputs;
  std::vector<std::string_view> replaced;
  for (const OutputPort& port : interface_->outputs)
    if (detail::replaces_state(port.kind)) replaced.push_back(port.target);
  std::ranges::sort(replaced);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (!ports[i].written &&
        (state_of_input_[i] == no_id || std::ranges::binary_search(replaced, ports[i].target.view())))
      continue;
    written_.push_back({i, {}, {}});
    writes_back_ = true;
  }
  lent_.reserve(written_.size());
}

Error CallFrame::error(ErrorCode code, Name where, Name what, Name fix) const {
  return Error{.code = code,
               .stage = Stage::execute,
               .backend = Name(backend_),
               .where = std::move(where),
               .what = std::move(what),
               .fix = std::move(fix)};
}

Error CallFrame::no_memory() const {
  return error(ErrorCode::out_of_memory, concat("outputs of ", *method_, "()"), "no memory for a copy of an output",
               "run with smaller inputs");
}

EValue CallFrame::destination(std::size_t i, std::span<const EValue> inputs,
                              std::span<const NamedTensor> state) const noexcept {
  if (state_of_output_[i] != no_id) return EValue(state[state_of_output_[i]].tensor.view());
  if (input_of_output_[i] != no_id) return inputs[input_of_output_[i]];
  return {};
}

bool CallFrame::keep(EValue& value, const MemoryRanges& changed) {
  if (!value.is_tensor() || !changed.meet(memory_range(value.tensor()))) return true;
  if (used_copies_ == copies_.size()) copies_.emplace_back();
  Tensor& copy = copies_[used_copies_];
  if (!reuse_tensor(copy, value.tensor().dtype, value.tensor().sizes())) return false;
  copy_tensor(value.tensor(), copy.view());
  value = EValue(copy.view());
  ++used_copies_;
  return true;
}

}  // namespace davit
