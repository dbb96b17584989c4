// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "davit/runtime/session.hpp"
#include "davit/testing/backend_laws.hpp"
#include "davit/testing/detail/snapshot.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"
#include "support/reference.hpp"

namespace support {

/// The name of the only partition that a list's partitioner makes of a program; empty if it makes more or none.
template <class List>
[[nodiscard]] davit::Name only_partition(const davit::ExportedProgram& program) {
  const auto parts = davit::CapabilityPartitioner<List>().partition(davit::Method{"forward", &program});
  return parts && parts->delegations.size() == 1 ? parts->tags.names[0] : davit::Name();
}

/// Describes differences of a backend's outputs from portable's, and broken laws; empty if there are none.
template <class B>
[[nodiscard]] std::string faults_of(const davit::ExportedProgram& program, std::span<const davit::EValue> sample,
                                    davit::testing::Tolerance tolerance, const typename B::CompileSpec& spec = {}) {
  std::string text;
  const davit::testing::SampleInputs samples[] = {sample};
  (void)davit::testing::check_backend_laws<B>(program, spec, samples, [&](std::string_view law, std::string_view what) {
    text += std::string(law) + ": " + std::string(what) + "\n";
  });
  const auto lowered = davit::to_backend<B>(program, spec);
  if (!lowered) return text + to_string(lowered.error());
  davit::Session session = *davit::Session::make(*lowered);
  const auto results = session.run(0, sample);
  if (!results) return text + to_string(results.error());
  return text + differs_from_portable(program, sample, results->all(), tolerance);
}

/// Runs sessions of one program in `threads` threads at the same time; returns the number of runs that failed or gave
/// another result than the first.
[[nodiscard]] inline int wrong_concurrent_runs(const davit::LoweredProgram& program,
                                               std::span<const davit::EValue> sample, std::size_t threads, int runs) {
  davit::Session first = *davit::Session::make(program);
  const auto expected = first.run(0, sample);
  if (!expected) return -1;
  const davit::testing::Snapshot right(expected->all());
  std::vector<int> wrong(threads, 0);
  {
    std::vector<std::jthread> workers;
    for (int& count : wrong)
      workers.emplace_back([&count, &program, &sample, &right, runs] {
        davit::Session session = *davit::Session::make(program);
        for (int i = 0; i < runs; ++i) {
          const auto results = session.run(0, sample);
          count += !results || davit::testing::Snapshot(results->all()) != right ? 1 : 0;
        }
      });
  }
  int sum = 0;
  for (const int count : wrong) sum += count;
  return sum;
}

/// Loads, compiles and runs the saved partitions of a program with each of their bytes damaged in turn, and truncated.
/// Every step may return an Error, and nothing may crash; returns the number of successful runs.
[[nodiscard]] inline int run_damaged(const davit::LoweredProgram& program, std::span<const davit::EValue> sample) {
  const davit::LoweredDelegate& delegate = program.methods()[0].delegates[0];
  const davit::BackendTables backends = program.backends();
  const davit::BackendTable& backend = backends[delegate.backend];
  davit::SegmentWriter segments;
  const std::vector<std::byte> whole = backend.save(delegate.processed.get(), segments);
  std::vector<davit::SharedBytes> kept;
  for (const std::span<const std::byte> segment : segments.segments())
    kept.push_back(davit::SharedBytes::copy_of(segment));
  const davit::SegmentReader reader(std::move(kept));
  int ran = 0;
  const auto try_bytes = [&](const std::vector<std::byte>& bytes) {
    auto processed = backend.load(bytes, reader);
    if (!processed) return;
    auto handle = backend.compile(processed->get(), delegate.spec.get());
    if (!handle) return;
    auto parts = std::make_shared<davit::LoweredProgram::Parts>(program.parts());
    parts->methods[0].delegates[0].processed = *std::move(processed);
    parts->methods[0].delegates[0].handle = *std::move(handle);
    auto session = davit::Session::make(davit::LoweredProgram(std::move(parts), program.shared_debug_map()));
    if (session) ran += session->run(0, sample).has_value() ? 1 : 0;
  };
  constexpr std::byte masks[] = {std::byte{0x01}, std::byte{0x80}, std::byte{0xff}, std::byte{0x02}, std::byte{0x40}};
  std::vector<std::byte> bytes = whole;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= masks[i % std::size(masks)];
    try_bytes(bytes);
    bytes[i] = whole[i];
  }
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    bytes.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    try_bytes(bytes);
  }
  return ran;
}

}  // namespace support
