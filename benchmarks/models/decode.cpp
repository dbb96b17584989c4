// SPDX-License-Identifier: MIT
// Decodes token after token; the benchmark's driver sends requests to stdin and reads stdout.
//
//   decode DECODER.pt2 LOGITS.npy BACKEND,BACKEND... THREADS
//
// First prints `ready` with the bytes of the weights, of the caches, of the elements that a step changed in them, and
// of the arena; or `failed REASON` if logits differ from the recorded ones. Then it answers each line of stdin:
//   time N W   `ns T...`: N steps, after W steps that are not timed
//   read N     `ns T...`: N sequential reads of as many bytes as the weights have
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backends/onednn.hpp"
#include "davit/backends/onednn/implementation.hpp"
#include "davit/backends/portable.hpp"
#include "davit/core/copy_tensor.hpp"
#include "davit/core/scratch.hpp"
#include "davit/formats/implementation.hpp"
#include "davit/formats/npy.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/implementation.hpp"
#include "davit/lowered/backend_list.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"

namespace {

using namespace davit;
using Backends = BackendList<onednn, portable>;
using Clock = std::chrono::steady_clock;
using Wide = float __attribute__((vector_size(64), aligned(4), may_alias));

[[noreturn]] void fail(const std::string& reason) {
  std::cout << "failed " << reason << std::endl;
  std::exit(1);
}
template <class T>
T must(Result<T> result) {
  if (!result) fail(to_string(result.error()));
  return *std::move(result);
}
std::int64_t now() noexcept { return Clock::now().time_since_epoch().count(); }

/// The decoder, one step after the other.
class Decoding {
 public:
  explicit Decoding(const LoweredProgram& lowered) : session_(must(Session::make(lowered))) {}
  std::span<const float> step(std::int64_t i) {
    token_ = (3 * i + 1) % 4096;
    position_ = i % 1024;
    const std::int64_t two[] = {1, 1}, strides[] = {1, 1};
    const EValue inputs[] = {TensorView{&token_, two, strides, 2, ScalarType::int64},
                             TensorView{&position_, two, strides, 1, ScalarType::int64}};
    outputs_ = must(session_.run(0, inputs));
    return must((*outputs_)[0].as<float>());
  }
  [[nodiscard]] const Session& session() const noexcept { return session_; }

 private:
  Session session_;
  std::int64_t token_ = 0, position_ = 0;
  std::optional<Outputs> outputs_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return std::fprintf(stderr, "decode DECODER.pt2 LOGITS.npy BACKENDS THREADS\n"), 2;
  std::vector<std::uint32_t> order;
  std::istringstream names(argv[3]);
  for (std::string name; std::getline(names, name, ',');)
    order.push_back(static_cast<std::uint32_t>(Backends::find(name)));
  onednn::set_threads(static_cast<std::uint32_t>(std::strtoul(argv[4], nullptr, 10)));
  const ExportedProgram program = must(formats::read_pt2(argv[1]));
  std::size_t weights = 0;
  for (const NamedTensor& entry : program.state_dict)
    if (!std::string_view(entry.name).starts_with("cache")) weights += entry.tensor.view().nbytes();
  Decoding decoding(must(to_backend(program, CapabilityPartitioner<Backends>(CapabilityOptions{.order = order}))));

  const Tensor recorded = must(formats::read_npy(argv[2]));
  const std::int64_t steps = recorded.view().size(0), width = recorded.numel() / steps;
  double gap = 0;
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::span<const float> logits = decoding.step(i);
    const float* const expected = recorded.view().as<float>() + i * width;
    double largest = 0, difference = 0;
    for (std::size_t k = 0; k < logits.size(); ++k) {
      largest = std::max(largest, std::fabs(static_cast<double>(expected[k])));
      difference = std::max(difference, std::fabs(static_cast<double>(logits[k]) - static_cast<double>(expected[k])));
    }
    gap = std::max(gap, difference / largest);
  }
  if (!(gap <= 1e-4)) fail("the logits differ from the recorded ones by " + std::to_string(gap));
  std::vector<Tensor> before;
  std::size_t state = 0, changed = 0;
  for (const NamedTensor& entry : decoding.session().state()) {
    before.push_back(Tensor::zeros(entry.tensor.dtype, entry.tensor.sizes));
    copy_tensor(entry.tensor.view(), before.back().view());
    state += entry.tensor.view().nbytes();
  }
  (void)decoding.step(steps);
  for (std::size_t s = 0; s < before.size(); ++s)
    for (std::int64_t i = 0; i < before[s].numel(); ++i)
      changed += before[s].view().as<float>()[i] != decoding.session().state()[s].tensor.view().as<float>()[i]
                     ? sizeof(float)
                     : 0;
  std::cout << "ready gap=" << gap << " weights=" << weights << " caches=" << state << " changed=" << changed
            << " arena=" << decoding.session().plan(0).arena_bytes << std::endl;

  Scratch memory;  // in scratch, as a copy by davit would be, with pages of the same size
  if (!memory.reserve(weights / 512 * 512)) fail("no memory");
  const std::span<float> numbers(reinterpret_cast<float*>(memory.span().data()), memory.span().size() / sizeof(float));
  std::ranges::fill(numbers, 1.0f);
  std::int64_t at = steps + 1;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command;
    std::size_t n = 0, warm = 0;
    words >> command >> n >> warm;
    std::vector<std::int64_t> times;
    volatile float kept = 0;
    for (std::size_t i = 0; i < n + warm; ++i) {
      const std::int64_t began = now();
      if (command == "time") {
        (void)decoding.step(at++);
      } else {
        Wide sums[8]{};
        for (std::size_t k = 0; k < numbers.size(); k += 128)
          for (std::size_t j = 0; j < 8; ++j) sums[j] += *reinterpret_cast<const Wide*>(numbers.data() + k + 16 * j);
        for (const Wide& sum : sums) kept = kept + sum[0];
      }
      if (i >= warm) times.push_back(now() - began);
    }
    std::cout << "ns";
    for (const std::int64_t t : times) std::cout << ' ' << t;
    std::cout << std::endl;
  }
}
