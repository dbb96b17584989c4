// SPDX-License-Identifier: MIT
#include "read_program.hpp"
#include "runner.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends.hpp"
#include "choose_partitioner.hpp"
#include "core_ir.hpp"
#include "davit/autotune/autotune_partitioner.hpp"
#include "davit/autotune/measuring_partitioner.hpp"
#include "davit/backend/program_body.hpp"
#include "davit/formats/file_kind.hpp"
#include "davit/formats/checkpoint.hpp"
#include "davit/formats/package.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/lowering/partitioned_graph.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#include "redirected_partitioner.hpp"
#include "tool_tracer.hpp"

namespace tool {

using namespace davit;

struct Runner::Sessions {
  std::unique_ptr<ToolTracer> tracer;  ///< null: not traced
  Session session;
  std::size_t method_index = 0;  ///< index of the method to run

  [[nodiscard]] static Result<Runner> start(Result<LoweredProgram> program, const LoweringChoice& choice, bool trace,
                                            std::string_view file = "package") {
    if (!program) return std::unexpected(std::move(program.error()));
    if (program->methods().empty())
      return std::unexpected(Error{.code = ErrorCode::invalid_argument,
                                   .stage = Stage::load,
                                   .where = Name::own(file),
                                   .what = "it holds tensors and no method: a file of weights, or a saved state",
                                   .fix = "name the package of the program; this file may be its weights"});
    const Result<std::size_t> method = program->find_method(choice.method.empty() ? "forward" : choice.method);
    if (!method && !choice.method.empty()) return std::unexpected(method.error());
    auto tracer = trace ? std::make_unique<ToolTracer>() : nullptr;
    SessionOptions options{.limits = choice.limits};
    if (trace) options.tracer.emplace(*tracer);
    Result<Session> session = Session::make(*std::move(program), options);
    if (!session) return std::unexpected(std::move(session.error()));
    return Runner(std::make_unique<Sessions>(Sessions{std::move(tracer), *std::move(session), method.value_or(0)}));
  }
  [[nodiscard]] const LoweredMethod& method() const { return session.program().methods()[method_index]; }
};

namespace {

/// Calls `use(partitioner)` with the chosen partitioner. Errors: an unknown name; errors of `use`.
template <class Use>
[[nodiscard]] auto with_partitioner(const LoweringChoice& choice, Use&& use)
    -> decltype(use(CapabilityPartitioner<Backends>())) {
  Result<std::vector<std::uint32_t>> order = parse_backends(choice.backends.empty() ? "portable" : choice.backends);
  if (!order) return std::unexpected(std::move(order.error()));
  const std::size_t redirect = Backends::find(choice.redirect);
  if (!choice.redirect.empty() && redirect == Backends::size)
    return std::unexpected(Error{.code = ErrorCode::not_found,
                                 .stage = Stage::partition,
                                 .where = "--reference",
                                 .what = concat("there is no backend '", choice.redirect, "'"),
                                 .fix = concat("this program was compiled with: ", Backends::names())});
  const auto redirected = [&]<class P>(const P& partitioner) {
    if (choice.redirect.empty()) return use(partitioner);
    return use(testing::RedirectedPartitioner<P>{partitioner, static_cast<std::uint32_t>(redirect)});
  };
  if (choice.partitioner != "choose") {
    if (!choice.costs->file.empty() || !choice.costs->save.empty())
      return std::unexpected(Error{.code = ErrorCode::invalid_argument,
                                   .stage = Stage::partition,
                                   .where = choice.costs->file.empty() ? "--save-costs" : "--costs",
                                   .what = "only the partitioner that chooses by costs has a table of them",
                                   .fix = "add --partitioner choose"});
    return choose_partitioner<Backends>(choice.partitioner.empty() ? "capability" : choice.partitioner, *order,
                                        redirected);
  }
  const Result<CostTable*> table = choice.costs->table(choice.threads);
  if (!table) return std::unexpected(table.error());
  const AutotuneOptions options{.order = *order};
  if (choice.costs->measures()) return redirected(MeasuringPartitioner<Backends>(**table, options));
  return redirected(AutotunePartitioner<Backends>(**table, options));
}

/// The program of a partition, if its backend keeps one; else null.
[[nodiscard]] const ProgramBody* body_of(const LoweredDelegate& delegate) {
  const ProgramBody* body = nullptr;
  Backends::for_each([&]<class B, std::size_t I>() {
    if constexpr (requires(const typename B::Processed& p) { p.body->graph.view(); })
      if (delegate.backend == I && delegate.processed != nullptr)
        body = static_cast<const typename B::Processed*>(delegate.processed.get())->body.get();
  });
  return body;
}
/// Adds the nodes of a partition to a report, with their places in the model's source where the package names them.
void add_nodes(PartitionReport& report, const ProgramBody& body, std::uint32_t partition, const DebugMap& debug_map) {
  const auto first = static_cast<NodeId>(report.nodes.size());
  const std::vector<std::uint32_t> partitions(body.graph.nodes.size(), partition);
  std::vector<PartitionReport::Node> rows = davit::detail::node_rows(body.graph.view(), partitions);
  for (std::size_t n = 0; n < rows.size(); ++n) {
    for (NodeId& input : rows[n].inputs) input += first;
    rows[n].place = no_id;
    DebugInfo info;
    if (n < body.handles.size() && debug_map.find(body.handles[n], info)) {
      rows[n].place = static_cast<std::uint32_t>(report.places.size());
      report.places.push_back({Name::own(info.stack_trace), Name::own(info.nn_module_stack)});
    }
    report.nodes.push_back(std::move(rows[n]));
  }
  report.partitions[partition].nodes = rows.size();
}

}  // namespace

Result<void> check_choice(const LoweringChoice& choice) {
  return with_partitioner(choice, [](const auto&) { return Result<void>(); });
}

Result<void> check_lowered(const LoweringChoice& choice, const std::string& file) {
  const std::pair<const char*, bool> of_lowering[] = {{"--backends", !choice.backends.empty()},
                                                      {"--partitioner", !choice.partitioner.empty()},
                                                      {"--costs", !choice.costs->file.empty()},
                                                      {"--save-costs", !choice.costs->save.empty()},
                                                      {"--ir", !choice.ir.empty()},
                                                      {"--fast-math", choice.fast_math},
                                                      {"--full-delegation", choice.full_delegation}};
  for (const auto& [option, given] : of_lowering)
    if (given)
      return std::unexpected(
          Error{.code = ErrorCode::invalid_argument,
                .stage = Stage::load,
                .where = option,
                .what = concat(file, " is lowered already, for the backends that davit inspect names"),
                .fix = "leave the option out, or give the .pt2 file"});
  return {};
}

Result<Runner> Runner::lower(std::span<const ProgramMethod> methods, const LoweringChoice& choice, bool trace,
                             Diagnostics* diagnostics) {
  set_threads(choice.threads);
  set_fast_math(choice.fast_math);
  const LowerOptions options{.shared_constants = choice.shared_constants == "duplicate" ? SharedConstants::duplicate
                                                 : choice.shared_constants == "refuse"  ? SharedConstants::refuse
                                                                                        : SharedConstants::share,
                             .require_full_delegation = choice.full_delegation,
                             .keep_originals = choice.keep_originals};
  std::vector<ProgramMethod> lowered_methods(methods.begin(), methods.end());
  std::vector<ExportedProgram> core(choice.ir == "core" ? methods.size() : 0);
  for (std::size_t m = 0; m < core.size(); ++m) {
    Result<ExportedProgram> made = core_ir(*methods[m].program);
    if (!made) return std::unexpected(std::move(made.error()));
    core[m] = *std::move(made);
    lowered_methods[m].program = &core[m];
  }
  Result<LoweredProgram> lowered = with_partitioner(
      choice, [&](const auto& partitioner) { return to_backend(lowered_methods, partitioner, options, diagnostics); });
  if (!lowered) return std::unexpected(std::move(lowered.error()));
  if (Result<void> written = choice.costs->write(); !written) return std::unexpected(std::move(written.error()));
  return Sessions::start(std::move(lowered), choice, trace);
}
Result<Runner> Runner::lower(const ExportedProgram& program, const LoweringChoice& choice, bool trace,
                             Diagnostics* diagnostics) {
  const ProgramMethod method{"forward", &program};
  return lower(std::span(&method, 1), choice, trace, diagnostics);
}
Result<Runner> Runner::load(const std::string& file, const LoweringChoice& choice, bool trace) {
  Result<std::vector<NamedTensor>> given;
  if (!weights.empty()) {
    given = formats::read_state(weights);
    if (!given) return std::unexpected(std::move(given.error()));
  }
  formats::LoadOptions with;
  if (!weights.empty()) with.weights = *given;
  return load(file, choice, with, trace);
}
Result<Runner> Runner::load(const std::string& file, const LoweringChoice& choice, const formats::LoadOptions& options,
                            bool trace) {
  set_threads(choice.threads);
  return Sessions::start(formats::load_program<Backends>(file, options), choice, trace, file);
}
Result<Runner> Runner::load(const SharedBytes& package, const LoweringChoice& choice,
                            const formats::LoadOptions& options) {
  set_threads(choice.threads);
  return Sessions::start(formats::load_program<Backends>(package, options), choice, false);
}

Result<Runner> Runner::of(const LoweredProgram& program, const LoweringChoice& choice, bool trace) {
  return Sessions::start(program, choice, trace);
}
Result<Runner> Runner::open(const std::string& file, const LoweringChoice& choice, bool trace,
                            Diagnostics* diagnostics) {
  if (formats::is_package(file) || file.ends_with(".davit")) {
    if (Result<void> none = check_lowered(choice, file); !none) return std::unexpected(std::move(none.error()));
    return load(file, choice, trace);
  }
  const Result<ExportedProgram> program = read_program(file, reading(choice.limits));
  if (!program) return std::unexpected(program.error());
  return lower(*program, choice, trace, diagnostics);
}

Runner::Runner(std::unique_ptr<Sessions> sessions) noexcept : sessions_(std::move(sessions)) {}
Runner::Runner(Runner&&) noexcept = default;
Runner& Runner::operator=(Runner&&) noexcept = default;
Runner::~Runner() = default;

Result<Outputs> Runner::run(std::span<const EValue> inputs) {
  return sessions_->session.run(method().name.view(), inputs);
}
const LoweredProgram& Runner::program() const { return sessions_->session.program(); }
const LoweredMethod& Runner::method() const { return sessions_->method(); }
std::span<const NamedTensor> Runner::state() const { return sessions_->session.state(); }
Name Runner::plan() const {
  return sessions_->session.plan(sessions_->method_index).report(sessions_->method().parent.view());
}
std::size_t Runner::arena_bytes() const { return sessions_->session.plan(sessions_->method_index).arena_bytes; }
std::vector<PartitionReport> Runner::reports() const {
  std::vector<PartitionReport> reports;
  for (const LoweredMethod& method : program().methods()) {
    PartitionReport& report = reports.emplace_back();
    report.method = method.name;
    for (const LoweredDelegate& delegate : method.delegates)
      report.partitions.push_back({.tag = delegate.tag,
                                   .backend = Name(program().backends().name(delegate.backend)),
                                   .inputs = delegate.interface.inputs.size(),
                                   .outputs = delegate.interface.outputs.size()});
  }
  return reports;
}
Result<void> Runner::save(const std::string& file, formats::SaveOptions options) const {
  return formats::save_program(sessions_->session.program(), file, options);
}
Result<void> Runner::save_state(const std::string& file) const { return save(file, {.state = state()}); }
Result<void> Runner::profile(std::span<const EValue> inputs, std::span<PartitionReport> reports) {
  using Clock = std::chrono::steady_clock;
  PartitionReport& report = reports[sessions_->method_index];
  std::unordered_map<std::string, std::vector<double>>
      times;  // microseconds per run, by tag, or by tag + newline + node
  const bool nodes_known = !report.nodes.empty();
  const auto end = Clock::now() + std::chrono::seconds(2);
  for (int i = 0; i < 2 || (i < 30 && Clock::now() < end); ++i) {
    clear_trace();
    if (const Result<Outputs> outputs = run(inputs); !outputs) {
      if (i > 1) break;  // for example because the state is full
      return std::unexpected(outputs.error());
    }
    std::unordered_map<std::string, double> sums;
    std::vector<const formats::ChromeTracer::Event*> operators;  // operators of the next call to end
    for (const formats::ChromeTracer::Event& event : sessions_->tracer->events()) {
      if (event.backend.empty()) {
        operators.push_back(&event);
        continue;
      }
      sums[event.name] += event.duration;
      const auto partition =
          std::ranges::find(report.partitions, event.name, [](const auto& p) { return p.tag.view(); });
      for (const auto* each : std::exchange(operators, {})) {
        DebugInfo info;
        const bool found = program().debug_map().find(each->handle, info);
        const std::string node = found ? std::string(info.node) : "debug handle " + std::to_string(each->handle);
        const auto [sum, fresh] = sums.try_emplace(event.name + "\n" + node, 0.0);
        sum->second += each->duration;
        if (i == 0 && fresh && !nodes_known && partition != report.partitions.end())
          report.nodes.push_back({.name = Name::own(node),
                                  .target = Name::own(found ? info.target : std::string_view(each->name)),
                                  .partition = static_cast<std::uint32_t>(partition - report.partitions.begin())});
      }
    }
    for (const auto& [what, sum] : sums)
      if (i > 0) times[what].push_back(sum);
  }
  const auto median_ns = [&](const std::string& what) {
    const auto at = times.find(what);
    if (at == times.end()) return UINT64_MAX;
    std::ranges::sort(at->second);
    return static_cast<std::uint64_t>(at->second[at->second.size() / 2] * 1000);
  };
  for (PartitionReport::Partition& partition : report.partitions) partition.ns = median_ns(std::string(partition.tag));
  for (PartitionReport::Node& node : report.nodes)
    if (node.partition < report.partitions.size())
      node.ns = median_ns(std::string(report.partitions[node.partition].tag) + "\n" + std::string(node.name));
  const LoweredMethod& method = sessions_->method();
  report.memory = sessions_->session.plan(sessions_->method_index).memory(method.schedule, method.parent.view());
  report.memory.sizes = symbol_sizes_text(method.interface, inputs);
  return {};
}
std::vector<PartitionReport> Runner::contents() const {
  std::vector<PartitionReport> reports;
  for (std::size_t m = 0; m < program().methods().size(); ++m) {
    const std::vector<LoweredDelegate>& delegates = program().methods()[m].delegates;
    PartitionReport& report = reports.emplace_back(partition_report(program(), m));
    for (std::uint32_t d = 0; d < delegates.size(); ++d)
      if (const ProgramBody* body = body_of(delegates[d]); body != nullptr) {
        for (const Tensor& constant : body->constants) report.partitions[d].constant_bytes += constant.view().nbytes();
        add_nodes(report, *body, d, program().debug_map());
      }
  }
  return reports;
}
void Runner::record_calls() {
  if (sessions_->tracer != nullptr) sessions_->tracer->record_calls();
}
std::vector<DelegateCall> Runner::take_calls() {
  if (sessions_->tracer == nullptr) return {};
  std::vector<DelegateCall> calls = std::exchange(sessions_->tracer->calls(), {});
  std::unordered_map<std::string_view, const LoweredDelegate*> delegates;
  for (const LoweredDelegate& delegate : sessions_->method().delegates)
    delegates.emplace(delegate.tag.view(), &delegate);
  for (DelegateCall& call : calls) {
    const auto at = delegates.find(call.tag.view());
    if (at == delegates.end()) continue;
    call.backend = Name(Backends::name(at->second->backend));
    for (const OutputPort& port : at->second->interface.outputs) call.names.push_back(port.name);
  }
  return calls;
}
void Runner::clear_trace() {
  if (sessions_->tracer != nullptr) sessions_->tracer->clear();
}
Result<void> Runner::write_trace(const std::string& file) const {
  if (sessions_->tracer == nullptr) return {};
  return sessions_->tracer->write(file, sessions_->session.program().debug_map());
}

}  // namespace tool
