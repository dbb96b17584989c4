// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "davit/autotune/autotune_partitioner.hpp"
#include "davit/autotune/time_runs.hpp"
#include "davit/lowering/all_node_partitioner.hpp"
#include "davit/lowering/cut_program.hpp"
#include "davit/lowering/lower_program.hpp"

namespace davit {

namespace detail {

/// A partitioner that returns a given plan.
struct PlanPartitioner {
  BackendTables backends;
  const RegionPlan* plan;
  std::span<const std::uint32_t> order;

  [[nodiscard]] Result<PartitionResult> partition(const Method& method) const {
    return apply_plan(backends, method.view(), *plan, order, false);
  }
};
/// A partitioner that offers every node to one backend.
struct OneBackend {
  BackendTables backends;
  std::uint32_t backend;

  [[nodiscard]] Result<PartitionResult> partition(const Method& method) const {
    return assign_nodes(backends, method.view(), std::vector<std::uint32_t>(method.view().nodes.size(), backend));
  }
};

/// Lowers a program and makes a session for it that stops long loops.
template <class P>
[[nodiscard]] Result<Session> session_of(BackendTables backends, const ExportedProgram& program, const P& partitioner,
                                         const LowerOptions& options) {
  const ProgramMethod method{"forward", &program};
  const PartitionCall call{"forward", &partitioner, [](const void* self, const Method& each) {
                             return static_cast<const P*>(self)->partition(each);
                           }};
  Result<LoweredProgram> lowered = lower_program(backends, std::span(&method, 1), std::span(&call, 1), options);
  if (!lowered) return error_of(std::move(lowered));
  return Session::make(*std::move(lowered), {.limits = {.max_loop_iterations = 1000}});
}

/// Extracts a group of nodes as the program of a partition. No path between two of the nodes may leave the group.
[[nodiscard]] inline ExportedProgram cut_nodes(const ExportedProgram& program, std::span<const NodeId> nodes) {
  const GraphModuleView graph = program.view();
  PartitionTags tags(graph);
  tags.names.push_back("region");
  for (const NodeId n : nodes) tags.tag_node(n, 0);
  const QuotientGraph quotient = contract(graph, tags.nodes, 1);
  const std::vector<std::uint32_t> order = topological_order(quotient).order;
  return ProgramCutter(program, tags, quotient, order, SharedConstants::share).submodule(0);
}

[[nodiscard]] inline std::size_t constant_bytes(const ExportedProgram& program) {
  std::size_t bytes = 0;
  for (const auto* tensors : {&program.state_dict, &program.constants})
    for (const NamedTensor& each : *tensors) bytes += each.tensor.storage.size();
  return bytes;
}

/// Adds the missing costs of one program to a cost table. See measure_costs.
template <class Clock>
class CostMeasurement {
 public:
  CostMeasurement(BackendTables backends, const Method& method, std::vector<std::uint32_t> order,
                  const AutotuneOptions& options, CostTable& table, const TimingOptions& timing)
      : backends_(backends),
        program_(*method.program),
        order_(std::move(order)),
        table_(table),
        timing_(timing),
        choice_(make_choice(backends, method, order_, options.regions)),
        bytes_(constant_bytes(program_)),
        begin_(Clock::now()) {}

  void run() {
    if (order_.size() < 2) return;
    measure_regions();
    measure_preferred_plans();
    for (int round = 0; round < 8; ++round) {
      if (!measure_joined_regions()) break;
    }
    for (int round = 0; round < 4; ++round) {
      if (!measure_plans()) break;
      measure_joined_regions();
    }
  }

 private:
  static constexpr std::size_t batch_bytes = std::size_t{512} << 20;  ///< constants of programs that are timed together
  static constexpr std::size_t batch_size = 64;
  static constexpr std::uint32_t optimism_percent = 85;  ///< joined regions are tried if they would win at this cost

  struct Job {
    std::vector<NodeId> nodes;
    RegionKey key;
    std::uint32_t backend = 0;  ///< index in order of preference
  };

  [[nodiscard]] bool late() const { return Clock::now() - begin_ > std::chrono::milliseconds(timing_.total_ms); }

  void add(std::vector<Job>& jobs, std::vector<NodeId> nodes, RegionKey key, std::uint32_t backend) const {
    if (table_.find(key, choice_.backends()[backend]) != nullptr) return;
    for (const Job& job : jobs)
      if (job.key == key && job.backend == backend) return;
    jobs.push_back({std::move(nodes), key, backend});
  }
  /// Measures every region on every backend that takes it, backend by backend as a program would run.
  void measure_regions() {
    std::vector<Job> jobs;
    for (std::uint32_t b = 0; b < choice_.backends().size(); ++b)
      for (std::uint32_t r = 0; r < choice_.regions().count(); ++r)
        if (choice_.takes(b, r)) add(jobs, choice_.sorted(r, r + 1), choice_.key(r, r + 1), b);
    measure(jobs, true);
  }
  /// Measures the partitions of plans that prefer one backend.
  void measure_preferred_plans() {
    std::vector<Job> jobs;
    for (const RegionChoice::SingleBackendPlan& whole : choice_.single_backend_plans()) {
      std::vector<std::vector<NodeId>> nodes(whole.keys.size());
      for (NodeId n = 0; n < whole.plan.group_of_node.size(); ++n)
        if (whole.plan.group_of_node[n] != no_id) nodes[whole.plan.group_of_node[n]].push_back(n);
      for (std::size_t g = 0; g < nodes.size(); ++g)
        add(jobs, std::move(nodes[g]), whole.keys[g], whole.plan.backend_of_group[g]);
    }
    measure(jobs, false);
  }
  /// Measures the joined regions of the best covers that the table lacks. False if there are none.
  bool measure_joined_regions() {
    std::vector<Job> jobs;
    for (const std::uint32_t percent : {std::uint32_t{100}, optimism_percent}) {
      const Cover cover =
          cheapest_cover(choice_.regions(), static_cast<std::uint32_t>(order_.size()), choice_.longest(),
                         table_.border_of(choice_.program_key()), RegionCosts(choice_, table_, percent));
      for (const CoverStep& step : cover.steps)
        if (step.last - step.first > 1)
          add(jobs, choice_.sorted(step.first, step.last), choice_.key(step.first, step.last), step.backend);
    }
    const bool any = !jobs.empty() && !late();
    measure(jobs, false);
    return any;
  }

  /// Lowers and times jobs in batches. When time runs out, the rest is recorded as not_run if `note_not_run`, else left
  /// out.
  void measure(std::span<Job> jobs, bool note_not_run) {
    while (!jobs.empty()) {
      if (late()) {
        for (const Job& job : jobs)
          if (note_not_run) note(job, CostOutcome::not_run);
        return;
      }
      std::vector<TimedProgram> programs;
      std::vector<const Job*> of_program;
      std::size_t bytes = 0;
      while (!jobs.empty() && programs.size() < batch_size && bytes < batch_bytes) {
        if (lower(jobs.front(), programs, bytes)) of_program.push_back(&jobs.front());
        jobs = jobs.subspan(1);
      }
      time_runs<Clock>(programs, timing_);
      for (std::size_t i = 0; i < programs.size(); ++i)
        note(*of_program[i], programs[i].ns == no_cost ? CostOutcome::not_run : CostOutcome::measured, programs[i].ns);
    }
  }
  void note(const Job& job, CostOutcome outcome, std::uint64_t ns = 0) {
    table_.set({.region = job.key,
                .backend = Name::own(choice_.backends()[job.backend]),
                .ns = outcome == CostOutcome::measured ? ns : 0,
                .outcome = outcome,
                .what = describe_nodes(choice_.graph(), job.nodes)});
  }
  /// Lowers the program of a job and appends it to `programs`. On failure records that in the table and returns false.
  bool lower(const Job& job, std::vector<TimedProgram>& programs, std::size_t& bytes) {
    const ExportedProgram submodule = cut_nodes(program_, job.nodes);
    Result<Session> session = std::unexpected(Error{});
    if (backends_[order_[job.backend]].is_available())
      session = session_of(backends_, submodule, OneBackend{backends_, order_[job.backend]},
                           {.require_full_delegation = true});
    if (!session) {
      note(job, CostOutcome::refused);
      return false;
    }
    Result<SyntheticInputs> inputs = synthetic_inputs(submodule, timing_.seed);
    if (!inputs) {
      note(job, CostOutcome::not_run);
      return false;
    }
    const std::size_t own = constant_bytes(submodule);
    bytes += own;
    programs.emplace_back(*std::move(session), *std::move(inputs), job.key.bits, bytes_ - std::min(own, bytes_));
    return true;
  }

  /// Times the candidates as whole programs, and raises the border cost if the times require it. Returns true if the
  /// choice may have changed.
  bool measure_plans() {
    PlanChoice plans = choose_plan(program_, choice_, table_);
    const auto unknown = [](const PlanCandidate& c) { return c.total == no_cost; };
    if (std::ranges::none_of(plans.candidates, unknown)) return false;
    std::vector<TimedProgram> programs;
    for (const PlanCandidate& c : plans.candidates) {
      Result<Session> session =
          session_of(backends_, program_, PlanPartitioner{backends_, &c.plan, order_}, {.validate = false});
      Result<SyntheticInputs> inputs = synthetic_inputs(program_, timing_.seed);
      if (!session || !inputs) return false;
      programs.emplace_back(*std::move(session), *std::move(inputs), std::uint64_t{0}, std::size_t{0});
    }
    time_runs<Clock>(programs, timing_);
    for (std::size_t i = 0; i < programs.size(); ++i) {
      PlanCandidate& c = plans.candidates[i];
      c.total = programs[i].ns;
      if (c.total == no_cost) continue;
      table_.set({.plan = c.key, .ns = c.total, .what = describe(c)});
    }
    return learn_border(plans.candidates);
  }
  [[nodiscard]] Name describe(const PlanCandidate& c) const {
    return concat(c.preferred == no_id ? Name("by region") : concat(choice_.backends()[c.preferred], " first"), ", ",
                  choice_.graph().nodes.size(), " nodes in ", c.keys.size(), " partitions");
  }

  /// Raises the border cost if the plan with the lowest sum is not the fastest: its borders cost more than assumed.
  bool learn_border(std::span<const PlanCandidate> candidates) {
    const PlanCandidate& by_region = candidates.back();
    if (by_region.preferred != no_id || by_region.total == no_cost) return false;
    const PlanCandidate* best = nullptr;
    for (const PlanCandidate& c : candidates.first(candidates.size() - 1))
      if (c.total != no_cost && (best == nullptr || c.total < best->total)) best = &c;
    if (best == nullptr || best->total > by_region.total || best->keys.size() >= by_region.keys.size()) return false;
    const std::uint64_t lost = by_region.total - best->total;
    const std::uint64_t promised = best->sum != no_cost && best->sum > by_region.sum ? best->sum - by_region.sum : 0;
    const RegionKey program = choice_.program_key();
    table_.set({.program = program,
                .ns = table_.border_of(program) + (lost + promised) / (by_region.keys.size() - best->keys.size()) + 1});
    return true;
  }

  BackendTables backends_;
  const ExportedProgram& program_;
  std::vector<std::uint32_t> order_;
  CostTable& table_;
  TimingOptions timing_;
  RegionChoice choice_;
  std::size_t bytes_;
  typename Clock::time_point begin_;
};

}  // namespace detail

/// Measures on this machine all costs that an AutotunePartitioner with these options needs for a program and that the
/// table lacks.
///
/// Every region is extracted, lowered and run alone with synthetic inputs, on every available backend that takes it.
/// Then follow neighbouring regions whose joining may pay, and the best plans for the whole program. Regions that
/// cannot be lowered or run are recorded as such. A complete table stays unchanged. Errors: those of
/// AutotuneOptions::order.
template <class List, class Clock = std::chrono::steady_clock>
[[nodiscard]] Result<void> measure_costs(const Method& method, CostTable& table, const AutotuneOptions& options = {},
                                         const TimingOptions& timing = {}) {
  Result<std::vector<std::uint32_t>> order = detail::autotune_order(List::tables(), options.order);
  if (!order) return error_of(std::move(order));
  detail::CostMeasurement<Clock>(List::tables(), method, *std::move(order), options, table, timing).run();
  return {};
}

}  // namespace davit
