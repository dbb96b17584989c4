// SPDX-License-Identifier: MIT
#include "davit/program/program_bytes.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "../support/draft.hpp"
#include "davit/program/check_tables.hpp"
#include "davit/program/graph_equal.hpp"

using namespace davit;
using support::Draft;

namespace {

struct Saved {
  SegmentWriter segments;
  ByteWriter out;
  [[nodiscard]] SegmentReader reader() const {
    std::vector<SharedBytes> all;
    for (const std::span<const std::byte> segment : segments.segments()) all.push_back(SharedBytes::copy_of(segment));
    return SegmentReader(std::move(all));
  }
};

/// A program with an element of every kind.
ExportedProgram everything() {
  Draft d;
  const ValueId t = d.token("t");
  const ValueId w = d.parameter("w", 2);
  const ValueId b = d.buffer("b", 3);
  const ValueId n = d.buffer("n", 4, false);
  const ValueId k = d.constant("k", 5);
  d.program.signature.input_specs.push_back(
      InputToCustomObjSpec{CustomObjArgument{"object", "__torch__.Queue"}, "queue"});
  d.b.input(GraphBuilder::value(d.b.declare(
      {.name = d.b.text("object"), .class_fqn = d.b.text("__torch__.Queue"), .kind = ValueKind::custom_obj})));
  const ValueId x = d.user("x", d.b.symbol("s0"));
  d.program.signature.input_specs.push_back(UserInputSpec{ConstantArgument{"flag", true}});
  d.b.input(GraphBuilder::boolean(true));
  d.program.signature.input_specs.push_back(UserInputSpec{ConstantArgument{"mode", Name("fast")}});
  d.b.input(d.b.string("fast"));
  d.metadata = d.b.metadata(programs::trace_of_add, "L__self__,,M");
  const auto [next, sum] = d.effect("next", "sum", t, w, 1.5);
  d.output_token(next);
  d.mutate_buffer("b", d.add("new_b", b, sum));
  d.mutate_input("x", d.neg("new_x", x));
  d.output(d.mul("y", n, k));
  d.output(GraphBuilder::real(2.5), 2.5);
  d.program.custom_objects.push_back(
      {"queue", "__torch__.Queue", SharedBytes::copy_of(std::vector<std::byte>(9, std::byte{4}))});
  d.program.range_constraints = {{"s0", 2, 8}, {"s1", std::nullopt, 4}, {"s2", 1, std::nullopt}, {"s3", {}, {}}};
  d.program.guards = {.nodes = {{.op = GuardOp::storage_offset, .a = 0}, {.op = GuardOp::logical_not, .a = 0}},
                      .roots = {1}};
  d.program.opset_version = {{"aten", 10}, {"my", 3}};
  d.program.schema_major = 8;
  d.program.schema_minor = 4;
  d.program.dialect = Dialect::training;
  d.program.torch_version = "2.8.0";
  d.program.signature.unlisted_state = {"n", "w"};
  return d.finish();
}

}  // namespace

TEST_CASE("constants of every kind survive; an unknown kind turns the reader bad") {
  for (const ConstantValue& value : {ConstantValue{}, ConstantValue{std::int64_t{-3}}, ConstantValue{2.5},
                                     ConstantValue{true}, ConstantValue{Name("text")}}) {
    ByteWriter out;
    write_constant(out, value);
    ByteReader in(out.written());
    CHECK(read_constant(in) == value);
    CHECK((in.ok() && in.at_end()));
  }
  ByteWriter out;
  out.number(std::uint8_t{9});
  ByteReader in(out.written());
  (void)read_constant(in);
  CHECK(!in.ok());
}

TEST_CASE("a program survives: graph, signature, tensors, objects, ranges, versions") {
  const ExportedProgram program = everything();
  Saved saved;
  write_program(saved.out, program, saved.segments);
  const SegmentReader reader = saved.reader();
  ByteReader in(saved.out.written());
  const auto read = read_program(in, reader);
  REQUIRE(read);
  CHECK(in.at_end());
  CHECK(graph_equal(read->view(), program.view(), {.metadata = true}));
  CHECK(read->signature == program.signature);
  REQUIRE(read->state_dict.size() == 2);
  REQUIRE(read->constants.size() == 2);
  for (const std::string_view name : {"w", "b", "n", "k"})
    CHECK(*read->tensor_named(name)->view().as<float>() == *program.tensor_named(name)->view().as<float>());
  REQUIRE(read->custom_objects.size() == 1);
  CHECK(read->custom_objects[0].class_fqn == "__torch__.Queue");
  CHECK(read->custom_objects[0].state.size() == 9);
  REQUIRE(read->range_constraints.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(read->range_constraints[i].symbol == program.range_constraints[i].symbol);
    CHECK(read->range_constraints[i].min == program.range_constraints[i].min);
    CHECK(read->range_constraints[i].max == program.range_constraints[i].max);
  }
  CHECK(read->guards == program.guards);
  CHECK(read->opset_version[1].version == 3);
  CHECK(read->schema_minor == 4);
  CHECK(read->dialect == Dialect::training);
  CHECK(read->torch_version == "2.8.0");
  Saved again;
  write_program(again.out, *read, again.segments);
  CHECK(again.out.written() == saved.out.written());
}

TEST_CASE("truncated and damaged programs are errors or programs, and never crash") {
  const ExportedProgram program = everything();
  Saved saved;
  write_program(saved.out, program, saved.segments);
  const SegmentReader reader = saved.reader();
  const std::vector<std::byte>& bytes = saved.out.written();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ByteReader in{std::span(bytes).first(size)};
    const auto read = read_program(in, reader);
    if (read)
      FAIL_CHECK("the first " << size << " bytes");
    else if (read.error().code != ErrorCode::corrupt_data)
      FAIL_CHECK(to_string(read.error()));
  }
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (const std::byte flip : {std::byte{1}, std::byte{0x80}, std::byte{0xff}}) {
      std::vector<std::byte> damaged = bytes;
      damaged[at] ^= flip;
      ByteReader in(damaged);
      const auto read = read_program(in, reader);
      if (read && (!check_tables(read->view()) || read->dialect > Dialect::other)) FAIL_CHECK("byte " << at);
    }
}

TEST_CASE("an object whose segment is not there is an error") {
  const ExportedProgram program = everything();
  Saved saved;
  write_program(saved.out, program, saved.segments);
  ByteReader in(saved.out.written());
  CHECK(!read_program(in, SegmentReader()));
}
