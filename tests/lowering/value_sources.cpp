// SPDX-License-Identifier: MIT
#include "davit/lowering/value_sources.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "../support/draft.hpp"

using namespace davit;
using support::Draft;

TEST_CASE("constants, state, and passed values") {
  Draft d;
  const ValueId w = d.parameter("w", 2);
  const ValueId b = d.buffer("b", 1);
  const ValueId u = d.buffer("u", 1);
  const ValueId k = d.constant("k", 3);
  const ValueId x = d.user("x");
  const ValueId s = d.add("s", d.mul("m", x, w), d.add("c", b, k));
  d.mutate_buffer("b", s);
  d.output(d.add("r", s, u));
  ExportedProgram program = d.finish();
  program.signature.unlisted_state.push_back("u");
  const std::vector<ValueSource> sources = value_sources(program);
  CHECK(sources[w] == ValueSource::constant);
  CHECK(sources[k] == ValueSource::constant);
  CHECK(sources[b] == ValueSource::state);
  CHECK(sources[u] == ValueSource::state);
  CHECK(sources[x] == ValueSource::passed);
  CHECK(sources[s] == ValueSource::passed);
}

TEST_CASE("a node that depends on constants alone is constant; later values are known, too") {
  Draft d;
  const ValueId w = d.parameter("w", 2);
  const ValueId x = d.user("x");
  const ValueId c = d.neg("c", w);
  const ValueId m = d.mul("m", x, c);
  d.output(m);
  const ExportedProgram program = d.finish();
  const GraphModuleView graph = program.view();
  std::vector<ValueSource> sources = value_sources(program);
  sources.resize(2);  // of w and x: later values are new
  CHECK(sources[w] == ValueSource::constant);
  CHECK_FALSE(note_source(graph, graph.nodes[1], sources));
  CHECK(sources.size() == graph.values.size());
  CHECK(note_source(graph, graph.nodes[0], sources));
  CHECK(sources[c] == ValueSource::constant);
  CHECK(sources[m] == ValueSource::passed);
  CHECK(sources[x] == ValueSource::passed);
}

TEST_CASE("a program without held values, in constant evaluation too") {
  constexpr auto check = [] {
    Draft d;
    d.output(d.neg("n", d.user("x")));
    return value_sources(d.finish()) == std::vector<ValueSource>(2, ValueSource::passed);
  };
  static_assert(check());
  CHECK(check());
}
