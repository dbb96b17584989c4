// SPDX-License-Identifier: MIT
// Random programs give the same results whole and cut at random.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "../support/filling_backend.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/lowering/quotient_graph.hpp"

using namespace davit;
using support::A, support::B, support::C, support::Draft, support::Toys;

namespace {

using Filling = support::filling_backend<0>;
using Other = support::filling_backend<2>;
using Mixed = BackendList<Filling, B, Other>;
using Whole = BackendList<support::toy_backend<3>>;

/// Random numbers, equal on every machine.
struct Random {
  std::uint64_t state = 1;
  std::uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
  }
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(next() % limit); }
  bool one_in(std::size_t n) { return below(n) == 0; }
};

/// Writes a program of up to 24 nodes over vectors of 3: operators of one and two outputs, constants, buffers that
/// change, user inputs that change, and sometimes a cond.
class RandomProgram {
 public:
  explicit RandomProgram(Random& random) : random_(random) {}

  ExportedProgram make() {
    std::vector<ValueId> buffers;
    for (std::size_t i = random_.below(3); i > 0; --i) values_.push_back(d_.parameter(concat("w", i), vector()));
    const std::size_t changed = random_.below(3);
    for (std::size_t i = 0; i < changed; ++i) buffers.push_back(buffer(concat("b", i)));
    values_.insert(values_.end(), buffers.begin(), buffers.end());
    users_ = 1 + random_.below(3);
    for (std::size_t i = 0; i < users_; ++i) values_.push_back(d_.user(concat("x", i), {3}));
    const std::size_t inputs = values_.size();
    for (std::size_t i = 1 + random_.below(24); i > 0; --i) add_node();
    for (std::size_t i = 0; i < changed; ++i)
      if (values_.size() > inputs)
        d_.mutate_buffer(concat("b", i), values_[inputs + random_.below(values_.size() - inputs)]);
    if (random_.one_in(3) && values_.size() > inputs) d_.mutate_input("x0", values_.back());
    for (std::size_t i = 1 + random_.below(4); i > 0; --i) d_.output(values_[random_.below(values_.size())]);
    return d_.finish();
  }
  [[nodiscard]] std::size_t users() const { return users_; }

 private:
  Tensor vector() { return programs::tensor({3}, {number(), number(), number()}); }
  float number() { return static_cast<float>(random_.below(200)) / 8 - 12; }
  ValueId buffer(const Name& name) {
    d_.program.signature.input_specs.push_back(InputToBufferSpec({name}, name, true));
    const ValueId v = d_.b.input(name, ScalarType::float32, {3});
    d_.program.state_dict.push_back({name, vector()});
    return v;
  }
  ValueId some() { return values_[random_.below(values_.size())]; }
  Name fresh() { return concat("n", count_++); }
  ValueId node(ValueId x, ValueId y) {
    switch (random_.below(6)) {
      case 0: return d_.add(fresh(), x, y);
      case 1: return d_.sub(fresh(), x, y);
      case 2: return d_.mul(fresh(), x, 0.5);
      case 3: return d_.neg(fresh(), x);
      case 4: return d_.relu(fresh(), y);
      default: return d_.add(fresh(), x, 1.25);
    }
  }
  void add_node() {
    if (random_.one_in(8)) {
      const Name first = fresh();
      const auto [sum, difference] = d_.both(first, fresh(), some(), some());
      values_.push_back(sum);
      if (random_.one_in(2)) values_.push_back(difference);
    } else if (random_.one_in(24)) {
      values_.push_back(cond());
    } else {
      values_.push_back(node(some(), some()));
    }
  }
  ValueId cond() {
    const ValueId x = some();
    const ValueId y = some();
    const GraphId yes = d_.branch(fresh(), 2, [&](auto in) { return node(node(in[0], in[1]), in[1]); }, {3});
    const GraphId no =
        d_.branch(fresh(), 2, [&](auto in) { return random_.one_in(3) ? in[0] : node(in[1], in[0]); }, {3});
    const ValueId out = d_.like(x, fresh());
    d_.node("higher_order.cond",
            {d_.b.boolean(random_.one_in(2)), d_.b.subgraph(yes), d_.b.subgraph(no), d_.b.tensors({x, y})}, {out});
    return out;
  }

  Random& random_;
  Draft d_;
  std::vector<ValueId> values_;
  std::size_t users_ = 0;
  std::size_t count_ = 0;
};

/// Outputs of three runs and the state after them.
std::vector<float> history(const LoweredProgram& lowered, std::size_t users) {
  Session session = *Session::make(lowered);
  std::vector<Tensor> tensors;
  std::vector<EValue> inputs;
  for (std::size_t i = 0; i < users; ++i)
    tensors.push_back(programs::tensor({3}, {static_cast<float>(i) + 0.3f, -2.7f, 1.0f / 3}));
  for (const Tensor& tensor : tensors) inputs.emplace_back(tensor.view());
  std::vector<float> all;
  const auto note = [&](const EValue& value) {
    const std::vector<float> elements = support::elements(value);
    all.insert(all.end(), elements.begin(), elements.end());
  };
  for (int i = 0; i < 3; ++i) {
    const auto outputs = session.run(0, inputs);
    if (!outputs) return {};
    for (const EValue& output : outputs->all()) note(output);
    for (const EValue& input : inputs) note(input);
    for (const NamedTensor& entry : session.state()) note(entry.tensor.view());
  }
  if (!session.plan(0).is_sound()) return {};
  return all;
}
bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return !a.empty() && a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("1,000 random programs, cut at random into acyclic partitions, give the same bits as uncut") {
  const Toys toys;
  Filling::reset();
  Other::reset();
  Filling::scratch_size = 40;
  Other::scratch_size = 200;
  Filling::overwrites = Other::overwrites = true;
  Random random{0x9e3779b97f4a7c15u};
  std::size_t partitions = 0;
  int wrong = 0;
  for (int graph = 0; graph < 1000 && wrong < 5; ++graph) {
    RandomProgram writer(random);
    const ExportedProgram program = writer.make();
    A::state = B::state = C::state = {};
    A::state.refused_nodes = random.next();
    B::state.refused_nodes = random.next() & random.next();
    const CapabilityPartitioner<Mixed> partitioner;
    const auto cut = partitioner.partition({"forward", &program});
    REQUIRE(cut);
    const auto count = static_cast<std::uint32_t>(cut->tags.names.size());
    partitions += count;
    const bool acyclic = topological_order(contract(program.view(), cut->tags.nodes, count)).cycle.empty();
    const auto whole = to_backend(program, CapabilityPartitioner<Whole>());
    const auto lowered =
        to_backend(program, partitioner,
                   {.shared_constants = random.one_in(2) ? SharedConstants::share : SharedConstants::duplicate});
    if (acyclic && whole && lowered && same_bits(history(*whole, writer.users()), history(*lowered, writer.users())))
      continue;
    ++wrong;
    FAIL_CHECK(
        "program " << graph << ": "
                   << (lowered ? std::string(acyclic ? "other results" : "a cycle") : to_string(lowered.error())));
  }
  CHECK(partitions > 3000);
  CHECK(Filling::destinations > 1000);
  CHECK(Filling::over_inputs > 100);
  Filling::reset();
  Other::reset();
}
