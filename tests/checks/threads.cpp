// SPDX-License-Identifier: MIT
// Sessions of one lowered program run at the same time from several threads, for every backend that is compiled in. For
// ThreadSanitizer, which sees davit's own code: backends compute with one thread each, since it does not understand how
// libgomp and pthreadpool hand work to their threads. With an argument all threads share one session, which is wrong.
#include <cstdint>
#include <cstdio>
#include <latch>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#include "davit/testing/snapshot.hpp"
#include "support/net.hpp"
#ifdef WITH_ONEDNN
#include "davit/backends/onednn.hpp"
#endif
#ifdef WITH_XNNPACK
#include "davit/backends/xnnpack.hpp"
#endif
#ifdef WITH_PORTABLE
#include "davit/backends/portable.hpp"
#endif

namespace {

using namespace davit;

/// conv, norm, relu, pool, linear.
[[nodiscard]] ExportedProgram network(support::Net& n) {
  const auto w = n.weight("w", {16, 8, 3, 3}, 0.2);
  const auto m = n.weight("mm", {4, 16}, 0.2);
  const auto x = n.input("x", {1, 8, 8, 8});
  const auto c = n.relu("r", n.norm("n", n.conv("c", x, w, {1, 16, 8, 8}, 1, 1), {1, 16, 8, 8}), {1, 16, 8, 8});
  const auto mean = n.op("aten.mean.dim", "mean", {1, 16}, {{"self", n.v(c)}, {"dim", n.ints({-1, -2})}});
  return n.finish({n.op("aten.linear.default", "l", {1, 4}, {{"input", n.v(mean)}, {"weight", n.v(m)}})});
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
  std::vector<std::uint8_t> good(4, 1);
  std::latch all_started(4);
  {
    std::vector<std::jthread> threads;
    for (std::uint8_t& ok : good)
      threads.emplace_back([&ok, &lowered, &sample, &right, &first, &all_started, shared] {
        Session own = *Session::make(*lowered);
        Session& session = shared ? first : own;
        all_started.arrive_and_wait();
        for (int i = 0; i < 30; ++i) {
          const auto results = session.run(0, sample);
          if (!results || testing::Snapshot(results->all()) != right) ok = 0;
        }
      });
  }
  bool all = true;
  for (const std::uint8_t ok : good) all = all && ok != 0;
  std::printf("%.*s: %s\n", static_cast<int>(B::name.size()), B::name.data(), all ? "well" : "another result");
  return all;
}

}  // namespace

int main(int count, char**) {
  const bool shared = count > 1;
  bool good = true;
#ifdef WITH_ONEDNN
  good = runs_concurrently<onednn>({.threads = 1}, shared) && good;
#endif
#ifdef WITH_XNNPACK
  for (const std::uint32_t engines : {1u, 2u, 8u})
    good = runs_concurrently<xnnpack>({.threads = 1, .concurrent_runs = engines}, shared) && good;
#endif
#ifdef WITH_PORTABLE
  good = runs_concurrently<portable>({}, shared) && good;
#endif
  return good ? 0 : 1;
}
