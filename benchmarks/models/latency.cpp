// SPDX-License-Identifier: MIT
// Runs a model for the driver of the benchmark, which asks over stdin and reads from stdout.
//
//   latency MODEL.pt2 INPUT.npy OUTPUT.npy BACKEND,BACKEND... THREADS
//
//   latency --backends     the names of all that it was built with
//
// First answers `ready`, or `failed REASON` if an output is not the recorded one. Then, per line:
//   time N W        `ns T...`: N runs, after W that are not counted
//   share N         `share total primitives reorders`, ns: medians of N runs
//   allocations N   `allocations davit library`: of N runs together
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "allocations.hpp"
#include "davit/backends/portable.hpp"
#include "davit/core/copy_tensor.hpp"
#include "davit/formats/implementation.hpp"
#include "davit/formats/npy.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/implementation.hpp"
#include "davit/lowered/backend_list.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#ifdef DAVIT_WITH_ONEDNN
#include "davit/backends/onednn.hpp"
#include "davit/backends/onednn/implementation.hpp"
#endif
#ifdef DAVIT_WITH_XNNPACK
#include "davit/backends/xnnpack.hpp"
#include "davit/backends/xnnpack/implementation.hpp"
#endif

namespace {

using namespace davit;
using Clock = std::chrono::steady_clock;

template <class... Bs>
struct ListOf {
  using type = BackendList<Bs..., portable>;
};
#if defined(DAVIT_WITH_ONEDNN) && defined(DAVIT_WITH_XNNPACK)
using Backends = ListOf<onednn, xnnpack>::type;
#elif defined(DAVIT_WITH_ONEDNN)
using Backends = ListOf<onednn>::type;
#elif defined(DAVIT_WITH_XNNPACK)
using Backends = ListOf<xnnpack>::type;
#else
using Backends = ListOf<>::type;
#endif

std::int64_t now() noexcept { return Clock::now().time_since_epoch().count(); }

/// Sums up the time in primitives, and records when one runs.
struct PrimitiveTimer {
  static constexpr bool enabled = true;
  std::int64_t began = 0;
  std::int64_t primitives = 0;
  std::int64_t reorders = 0;

  void begin_op(DebugHandle, std::string_view) noexcept {
    allocations::in_primitive() = true;
    began = now();
  }
  void end_op(DebugHandle, std::string_view name) noexcept {
    const std::int64_t took = now() - began;
    allocations::in_primitive() = false;
    primitives += took;
    if (name == "reorder") reorders += took;
  }
  void memory(DebugHandle, std::size_t) noexcept {}
};
static_assert(Tracer<PrimitiveTimer>);

[[noreturn]] void fail(const std::string& reason) {
  std::string line = reason;
  std::ranges::replace(line, '\n', ' ');
  std::cout << "failed " << line << std::endl;
  std::exit(1);
}
template <class T>
T must(Result<T> result) {
  if (!result) fail(to_string(result.error()));
  return *std::move(result);
}

[[nodiscard]] std::vector<std::uint32_t> parse_backends(std::string_view list) {
  std::vector<std::uint32_t> order;
  for (std::size_t from = 0, comma; from <= list.size(); from = comma + 1) {
    comma = std::min(list.find(',', from), list.size());
    const std::size_t index = Backends::find(list.substr(from, comma - from));
    if (index == Backends::size) fail("this program has no backend " + std::string(list.substr(from, comma - from)));
    order.push_back(static_cast<std::uint32_t>(index));
  }
  return order;
}

void run(Session& session, const EValue& input) {
  if (Result<Outputs> outputs = session.run(std::size_t{0}, std::span(&input, 1)); !outputs)
    fail(to_string(outputs.error()));
}

/// The largest difference from the recorded output, relative to its largest magnitude.
[[nodiscard]] double gap(const TensorView& actual, const Tensor& recorded) {
  const TensorView expected = recorded.view();
  if (actual.dtype != ScalarType::float32 || !std::ranges::equal(actual.sizes(), expected.sizes())) return INFINITY;
  const Tensor own = Tensor::zeros(actual.dtype, actual.sizes());
  copy_tensor(actual, own.view());
  double largest = 0;
  double difference = 0;
  for (std::size_t i = 0; i < own.view().nbytes() / sizeof(float); ++i) {
    const double a = static_cast<double>(own.view().template as<float>()[i]);
    const double b = static_cast<double>(expected.as<float>()[i]);
    largest = std::max(largest, std::fabs(b));
    difference = std::isnan(a) ? INFINITY : std::max(difference, std::fabs(a - b));
  }
  return difference / largest;
}

std::int64_t median(std::vector<std::int64_t> times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--backends")
    return std::printf("%s\n", std::string(Backends::names()).c_str()), 0;
  if (argc != 6) return std::fprintf(stderr, "latency MODEL.pt2 INPUT.npy OUTPUT.npy BACKENDS THREADS\n"), 2;
  const std::vector<std::uint32_t> order = parse_backends(argv[4]);
  const auto threads = static_cast<std::uint32_t>(std::strtoul(argv[5], nullptr, 10));
  Backends::for_each([&]<class B, std::size_t>() {
    if constexpr (requires { B::set_threads(threads); }) B::set_threads(threads);
  });
  const ExportedProgram program = must(formats::read_pt2(argv[1]));
  const Tensor input = must(formats::read_npy(argv[2]));
  const Tensor recorded = must(formats::read_npy(argv[3]));
  const LoweredProgram lowered =
      must(to_backend(program, CapabilityPartitioner<Backends>(CapabilityOptions{.order = order})));
  Session session = must(Session::make(lowered));
  PrimitiveTimer timer;
  Session traced = must(Session::make(lowered, {.tracer = TracerRef(timer)}));
  const EValue value(input.view());

  const Outputs outputs = must(session.run(std::size_t{0}, std::span(&value, 1)));
  const double relative = !outputs[0]->is_tensor() ? INFINITY : gap(outputs[0]->tensor(), recorded);
  if (!(relative <= 1e-4)) fail("the output differs from the recorded one by " + std::to_string(relative));
  std::ostringstream parts;
  for (const auto& delegate : lowered.methods()[0].delegates)
    parts << (parts.tellp() > 0 ? "," : "") << Backends::name(delegate.backend);
  std::cout << "ready gap=" << relative << " delegates=" << parts.str() << std::endl;

  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command;
    std::size_t n = 0;
    std::size_t warm = 0;
    words >> command >> n >> warm;
    std::vector<std::int64_t> times(n);
    if (command == "time") {
      for (std::size_t i = 0; i < warm; ++i) run(session, value);
      for (std::int64_t& t : times) {
        const std::int64_t began = now();
        run(session, value);
        t = now() - began;
      }
      std::cout << "ns";
      for (const std::int64_t t : times) std::cout << ' ' << t;
      std::cout << std::endl;
    } else if (command == "share") {
      std::vector<std::int64_t> outside(n), reorders(n);
      for (int i = 0; i < 3; ++i) run(traced, value);
      for (std::size_t i = 0; i < n; ++i) {
        timer = {};
        const std::int64_t began = now();
        run(traced, value);
        times[i] = now() - began;
        outside[i] = times[i] - timer.primitives;
        reorders[i] = timer.reorders;
      }
      std::cout << "share " << median(times) << ' ' << median(outside) << ' ' << median(reorders) << std::endl;
    } else if (command == "allocations") {
      for (int i = 0; i < 3; ++i) run(traced, value);
      allocations::counts().davit = 0;
      allocations::counts().library = 0;
      allocations::in_primitive() = false;
      allocations::counts().on = true;
      for (std::size_t i = 0; i < n; ++i) run(traced, value);
      allocations::counts().on = false;
      std::cout << "allocations " << allocations::counts().davit << ' ' << allocations::counts().library << std::endl;
    }
  }
}
