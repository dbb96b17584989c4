// SPDX-License-Identifier: MIT
// Run-time kernels of the portable backend on float32 and int64: `kernels` prints the least nanoseconds that a call of
// each case took. Under valgrind's callgrind, whose client requests must be known, it writes the instructions of one
// call of each instead. Run by benchmarks/kernels.sh, which compares two checkouts.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backends/portable/run_time/op_table.hpp"
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#endif

namespace {

using namespace davit;
using portable_kernels::KernelCall;
using portable_kernels::KernelMemory;
using portable_kernels::OpRow;
using portable_kernels::OutputPlace;
using Sizes = std::vector<std::int64_t>;

/// Tensors that live as long as the program.
class Tensors {
 public:
  /// Small nonzero numbers, or indices below `limit`. `turned` swaps the strides of the last two dimensions.
  [[nodiscard]] EValue make(ScalarType type, const Sizes& sizes, bool turned = false, std::int64_t limit = 0) {
    Own& own = all_.emplace_back();
    own.sizes = sizes;
    own.strides.resize(sizes.size());
    contiguous_strides(sizes, own.strides);
    if (turned) {
      std::swap(own.sizes[sizes.size() - 1], own.sizes[sizes.size() - 2]);
      std::swap(own.strides[sizes.size() - 1], own.strides[sizes.size() - 2]);
    }
    own.view = {nullptr, own.sizes.data(), own.strides.data(), static_cast<std::uint8_t>(sizes.size()), type};
    const std::int64_t count = own.view.numel();
    own.data.resize(own.view.nbytes() + 8);
    own.view.data = own.data.data();
    for (std::int64_t i = 0; i < count; ++i) {
      state_ = state_ * 6364136223846793005u + 1442695040888963407u;
      const auto some = static_cast<std::int64_t>(state_ >> 40);
      const std::int64_t number = limit != 0 ? some % limit : some % 19 - 9 + (some % 19 == 9 ? 1 : 0);
      if (type == ScalarType::float32)
        own.view.as<float>()[i] = static_cast<float>(number) * 0.25f;
      else if (type == ScalarType::bool_)
        own.view.as<bool>()[i] = some % 2 != 0;
      else
        own.view.as<std::int64_t>()[i] = number;
    }
    return {own.view};
  }
  [[nodiscard]] EValue list(std::vector<EValue> items) {
    return {std::span<const EValue>(lists_.emplace_back(std::move(items)))};
  }

 private:
  struct Own {
    Sizes sizes;
    Sizes strides;
    std::vector<std::byte> data;
    TensorView view;
  };
  std::deque<Own> all_;
  std::deque<std::vector<EValue>> lists_;
  std::uint64_t state_ = 1;
};

struct Case {
  std::string name;
  const OpRow* row;
  std::vector<EValue> arguments;
};

class Cases {
 public:
  void add(std::string_view op, std::string_view what, std::vector<EValue> arguments) {
    const std::string target = "aten." + std::string(op);
    const OpRow* row = portable_kernels::find_op(target);
    if (row == nullptr) std::printf("no operator %s\n", target.c_str()), std::exit(1);
    all_.push_back({std::string(op) + "/" + std::string(what), row, std::move(arguments)});
  }
  [[nodiscard]] std::span<const Case> all() const noexcept { return all_; }

 private:
  std::vector<Case> all_;
};

/// Output places and memory for consecutive calls, as in a session.
class Caller {
 public:
  void run(const Case& c) {
    KernelCall call(c.arguments, outputs_, places_, memory_);
    if (c.row->kernel(call) != ErrorCode::ok)
      std::printf("%s fails: %s\n", c.name.c_str(), call.why == nullptr ? "" : call.why), std::exit(1);
  }
  Caller() {
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      places_[i] = {dims_[i].data(), dims_[i].data() + max_rank, max_rank, bytes_[i].data(), bytes_[i].size()};
  }

 private:
  std::array<EValue, 3> outputs_{};
  std::array<std::array<std::int64_t, 2 * max_rank>, 3> dims_{};
  std::array<std::vector<std::byte>, 3> bytes_{std::vector<std::byte>(1 << 20), std::vector<std::byte>(1 << 20),
                                               std::vector<std::byte>(1 << 20)};
  std::array<OutputPlace, 3> places_{};
  KernelMemory memory_;
};

/// 4096 elements unless the name has a number.
void add_elementwise(Cases& cases, Tensors& t, ScalarType type, const std::string& name) {
  const EValue x = t.make(type, {64, 64});
  const EValue y = t.make(type, {64, 64});
  const EValue turned = t.make(type, {64, 64}, true);
  const EValue row = t.make(type, {64});
  const EValue column = t.make(type, {64, 1});
  cases.add("add.Tensor", name + ",8", {t.make(type, {8}), t.make(type, {8}), 1});
  cases.add("add.Tensor", name + ",256", {t.make(type, {256}), t.make(type, {256}), 1});
  cases.add("add.Tensor", name + ",100000", {t.make(type, {100000}), t.make(type, {100000}), 1});
  cases.add("add.Tensor", name + ",number", {x, 3, 1});
  cases.add("add.Tensor", name + ",scaled", {x, y, 2});
  cases.add("add.Tensor", name + ",row", {x, row, 1});
  cases.add("add.Tensor", name + ",column", {x, column, 1});
  cases.add("add.Tensor", name + ",turned", {x, turned, 1});
  cases.add("add.Tensor", name + ",channels", {t.make(type, {4, 16, 8, 8}), t.make(type, {16, 1, 1}), 1});
  cases.add("add.Tensor", name + ",rows of 3", {t.make(type, {1365, 3}), t.make(type, {3}), 1});
  for (const char* op : {"sub.Tensor", "mul.Tensor", "div.Tensor", "remainder.Tensor", "maximum.default", "eq.Tensor",
                         "gt.Tensor", "logical_and.default"}) {
    if (std::string_view(op) == "sub.Tensor")
      cases.add(op, name, {x, y, 1});
    else
      cases.add(op, name, {x, y});
    if (!std::string_view(op).starts_with("sub")) cases.add(op, name + ",number", {x, 3});
  }
  cases.add("div.Tensor_mode", name + ",floor", {x, y, "floor"});
  cases.add("pow.Tensor_Scalar", name + ",2", {x, 2});
  cases.add("clamp.default", name, {x, -1, 2});
  cases.add("where.self", name, {t.make(ScalarType::bool_, {64, 64}), x, y});
  for (const char* op :
       {"abs", "neg", "relu", "sign", "logical_not", "exp", "sigmoid", "tanh", "sqrt", "floor", "hardswish", "isnan"})
    cases.add(std::string(op) + ".default", name, {x});
  cases.add("neg.default", name + ",turned", {turned});
  cases.add("hardtanh.default", name, {x, -1, 1});
  cases.add("_to_copy.default", name + " to float64", {x, static_cast<int>(ScalarType::float64)});
  cases.add("_to_copy.default", name + " to bool", {x, static_cast<int>(ScalarType::bool_)});
}

void add_reductions(Cases& cases, Tensors& t, ScalarType type, const std::string& name) {
  const EValue x = t.make(type, {64, 64});
  const EValue cube = t.make(type, {16, 16, 16});
  for (const int dim : {0, 1}) {
    const std::string of = name + ",dim " + std::to_string(dim);
    cases.add("sum.dim_IntList", of, {x, t.list({dim}), false, {}});
    cases.add("amax.default", of, {x, t.list({dim}), false});
    cases.add("argmax.default", of, {x, t.list({dim}), false});
    cases.add("max.dim", of, {x, dim, false});
    cases.add("cumsum.default", of, {x, dim, {}});
    cases.add("any.dim", of, {x, dim, false});
  }
  cases.add("sum.dim_IntList", name + ",dims 0 and 2", {cube, t.list({0, 2}), false, {}});
  cases.add("sum.dim_IntList", name + ",1024 of 4", {t.make(type, {1024, 4}), t.list({1}), false, {}});
  cases.add("sum.default", name, {x, {}});
  cases.add("prod.default", name, {x, {}});
  if (type != ScalarType::float32) return;
  cases.add("mean.dim", name, {cube, t.list({1, 2}), false, {}});
  cases.add("var.correction", name, {x, t.list({1}), 1, false});
}

void add_moves(Cases& cases, Tensors& t, ScalarType type, const std::string& name) {
  const EValue x = t.make(type, {64, 64});
  const EValue turned = t.make(type, {64, 64}, true);
  const EValue rows = t.make(ScalarType::int64, {64}, false, 64);
  const EValue places = t.make(ScalarType::int64, {64, 64}, false, 64);
  cases.add("clone.default", name, {x});
  cases.add("clone.default", name + ",turned", {turned});
  cases.add("cat.default", name + ",dim 0", {t.list({x, x}), 0});
  cases.add("cat.default", name + ",dim 1", {t.list({x, x}), 1});
  cases.add("stack.default", name, {t.list({x, x}), 2});
  cases.add("flip.default", name, {x, t.list({1})});
  cases.add("repeat.default", name, {t.make(type, {16, 16}), t.list({4, 4})});
  cases.add("roll.default", name, {x, t.list({5}), t.list({1})});
  cases.add("constant_pad_nd.default", name, {x, t.list({1, 1, 1, 1}), 0});
  cases.add("slice_scatter.default", name, {x, t.make(type, {32, 64}), 0, 0, 64, 2});
  cases.add("embedding.default", name, {x, rows});
  cases.add("index_select.default", name, {x, 1, rows});
  cases.add("index.Tensor", name + ",rows", {x, t.list({rows})});
  cases.add("index.Tensor", name + ",elements", {t.make(type, {64}), t.list({places})});
  cases.add("index_put.default", name, {x, t.list({rows}), t.make(type, {64, 64}), false});
  cases.add("index_put.default", name + ",added", {x, t.list({rows}), t.make(type, {64, 64}), true});
  cases.add("gather.default", name + ",dim 0", {x, 0, places});
  cases.add("gather.default", name + ",dim 1", {x, 1, places});
  cases.add("scatter.src", name, {x, 1, places, x});
  cases.add("scatter_add.default", name, {x, 1, places, x});
  cases.add("masked_scatter.default", name, {x, t.make(ScalarType::bool_, {64, 64}), t.make(type, {4096})});
  cases.add("nonzero.default", name, {x});
  cases.add("sort.default", name, {x, 1, false});
  cases.add("topk.default", name, {x, 8, 1, true, true});
  cases.add("full.default", name, {t.list({64, 64}), 3, static_cast<int>(type)});
  cases.add("arange.start_step", name, {0, 4096, 1, static_cast<int>(type)});
}

void add_layers(Cases& cases, Tensors& t, ScalarType type, const std::string& name) {
  const EValue x = t.make(type, {64, 64});
  const EValue image = t.make(type, {1, 8, 16, 16});
  const EValue ones = t.list({1, 1});
  cases.add("mm.default", name, {x, t.make(type, {64, 64})});
  cases.add("mm.default", name + ",1 row", {t.make(type, {1, 64}), x});
  cases.add("linear.default", name, {x, t.make(type, {32, 64}), t.make(type, {32})});
  cases.add("linear.default", name + ",1 row", {t.make(type, {1, 64}), x, t.make(type, {64})});
  cases.add("convolution.default", name,
            {image, t.make(type, {8, 8, 3, 3}), t.make(type, {8}), ones, ones, ones, false, t.list({0, 0}), 1});
  cases.add("max_pool2d.default", name, {image, t.list({2, 2}), t.list({2, 2}), t.list({0, 0}), ones, false});
  if (type != ScalarType::float32) return;
  cases.add("convolution.default", name + ",depthwise",
            {image, t.make(type, {8, 1, 3, 3}), {}, ones, ones, ones, false, t.list({0, 0}), 8});
  cases.add("_softmax.default", name, {x, 1, false});
  cases.add("native_layer_norm.default", name, {x, t.list({64}), t.make(type, {64}), t.make(type, {64}), 1e-5});
  cases.add("upsample_nearest2d.vec", name, {image, t.list({32, 32}), {}});
}

/// The least nanoseconds of a call, in batches that are long enough for the clock.
[[nodiscard]] double min_nanoseconds(Caller& caller, const Case& c) {
  using Clock = std::chrono::steady_clock;
  double least = 1e30;
  int calls = 1;
  for (int batch = 0; batch < 12; ++batch) {
    const auto start = Clock::now();
    for (int i = 0; i < calls; ++i) caller.run(c);
    const double spent = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    least = std::min(least, spent / calls);
    calls = std::clamp(static_cast<int>(2e5 / least), 1, 20000);
  }
  return least;
}

}  // namespace

int main() {
  Tensors tensors;
  Cases cases;
  for (const auto& [type, name] : {std::pair{ScalarType::float32, "float32"}, std::pair{ScalarType::int64, "int64"}}) {
    add_elementwise(cases, tensors, type, name);
    add_reductions(cases, tensors, type, name);
    add_moves(cases, tensors, type, name);
    add_layers(cases, tensors, type, name);
  }
  Caller caller;
  for (const Case& c : cases.all()) {
    caller.run(c);
#ifdef CALLGRIND_ZERO_STATS
    if (RUNNING_ON_VALGRIND) {
      CALLGRIND_ZERO_STATS;
      caller.run(c);
      CALLGRIND_DUMP_STATS_AT(c.name.c_str());
      continue;
    }
#endif
    std::printf("%.1f\t%s\n", min_nanoseconds(caller, c), c.name.c_str());
    std::fflush(stdout);
  }
}
