// SPDX-License-Identifier: MIT
// Sessions of one lowered program run at the same time from eight threads, each of which also lowers the program, saves
// and loads the lowered program, and runs it. Made for ThreadSanitizer, which checks davit's own code: portable uses
// two threads a session, other backends use one, because ThreadSanitizer does not understand how libgomp and
// pthreadpool pass work to their threads.
//   threads BACKEND [shared]    shared: all threads run one session, a race that ThreadSanitizer must report
#include <cstdint>
#include <cstdio>
#include <latch>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "davit/backends/portable.hpp"
#include "davit/implementation.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#include "davit/testing/detail/snapshot.hpp"
#include "support/net.hpp"
#include "support/saved_program.hpp"
#ifdef WITH_ONEDNN
#include "davit/backends/onednn.hpp"
#include "davit/backends/onednn/implementation.hpp"
#endif
#ifdef WITH_XNNPACK
#include "davit/backends/xnnpack.hpp"
#include "davit/backends/xnnpack/implementation.hpp"
#endif

namespace {

using namespace davit;

/// conv, norm, relu, a norm in training (its statistics are state), pool, linear.
[[nodiscard]] ExportedProgram network(support::Net& n) {
  const auto w = n.weight("w", {16, 8, 3, 3}, 0.2);
  const auto m = n.weight("mm", {4, 16}, 0.2);
  const auto x = n.input("x", {1, 8, 16, 16});  // enough for two threads to share
  const auto c = n.relu("r", n.norm("n", n.conv("c", x, w, {1, 16, 16, 16}, 1, 1), {1, 16, 16, 16}), {1, 16, 16, 16});
  const auto average = n.draft.buffer("average", support::Net::numbers({16})),
             variance = n.draft.buffer("variance", support::Net::numbers({16}, 0.5, 1));
  const auto trained = n.op("aten.batch_norm.default", "trained", {1, 16, 16, 16},
                            {{"input", n.v(c)},
                             {"weight", {}},
                             {"bias", {}},
                             {"running_mean", n.v(average)},
                             {"running_var", n.v(variance)},
                             {"training", GraphBuilder::boolean(true)},
                             {"momentum", GraphBuilder::real(0.1)},
                             {"eps", GraphBuilder::real(1e-5)},
                             {"cudnn_enabled", GraphBuilder::boolean(false)}});
  const auto mean = n.op("aten.mean.dim", "mean", {1, 16},
                         {{"self", n.v(n.add("sum", c, trained, {1, 16, 16, 16}))}, {"dim", n.ints({-1, -2})}});
  return n.finish({n.op("aten.linear.default", "l", {1, 4}, {{"input", n.v(mean)}, {"weight", n.v(m)}})});
}

/// The work of one thread: lowers, saves, loads and runs its own program.
template <class B>
[[nodiscard]] bool lowers_and_loads(const typename B::CompileSpec& spec, const std::vector<EValue>& sample,
                                    const testing::Snapshot& right) {
  support::Net n;
  const auto lowered = to_backend<B>(network(n), spec);
  if (!lowered) return false;
  const auto loaded = support::loaded<B>(support::saved(*lowered));
  if (!loaded) return false;
  auto session = Session::make(*loaded);
  if (!session) return false;
  const auto results = session->run(0, sample);
  return results && testing::Snapshot(results->all()) == right;
}

template <class B>
[[nodiscard]] bool runs_concurrently(const typename B::CompileSpec& spec, bool shared) {
  support::Net n;
  const ExportedProgram program = network(n);
  const std::vector<EValue> sample = n.sample();
  const auto lowered = to_backend<B>(program, spec);
  if (!lowered) return std::puts(to_string(lowered.error()).c_str()), false;
  Session first = *Session::make(*lowered);
  const auto expected = first.run(0, sample);
  if (!expected) return std::puts(to_string(expected.error()).c_str()), false;
  const testing::Snapshot right(expected->all());
  std::vector<std::uint8_t> good(8, 1);
  std::latch all_started(8);
  {
    std::vector<std::jthread> threads;
    for (std::uint8_t& ok : good)
      threads.emplace_back([&, shared] {
        Session own = *Session::make(*lowered);
        Session& session = shared ? first : own;
        all_started.arrive_and_wait();
        for (int i = 0; i < 15; ++i) {
          const auto results = session.run(0, sample);
          if (!results || testing::Snapshot(results->all()) != right) ok = 0;
        }
        for (int i = 0; i < 2; ++i)
          if (!lowers_and_loads<B>(spec, sample, right)) ok = 0;
      });
  }
  bool all = true;
  for (const std::uint8_t ok : good) all = all && ok != 0;
  std::printf("%.*s: %s\n", static_cast<int>(B::name.size()), B::name.data(), all ? "well" : "another result");
  return all;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view backend = count > 1 ? arguments[1] : "";
  const bool shared = count > 2 && std::string_view(arguments[2]) == "shared";
#ifdef WITH_ONEDNN
  if (backend == "onednn") return runs_concurrently<onednn>({.threads = 1}, shared) ? 0 : 1;
#endif
#ifdef WITH_XNNPACK
  if (backend == "xnnpack") {
    bool good = true;
    for (const std::uint32_t engines : {1u, 2u, 8u})
      good = runs_concurrently<xnnpack>({.threads = 1, .concurrent_runs = engines}, shared) && good;
    return good ? 0 : 1;
  }
#endif
  if (backend == "portable") return runs_concurrently<portable>({.threads = 2}, shared) ? 0 : 1;
  return std::puts("usage: threads BACKEND [shared]"), 2;
}
