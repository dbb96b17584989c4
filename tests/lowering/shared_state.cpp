// SPDX-License-Identifier: MIT
#include "davit/lowering/shared_state.hpp"

#include <doctest/doctest.h>

#include <span>
#include <string>
#include <utility>

#include "../support/draft.hpp"
#include "davit/backends/portable.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"

using namespace davit;
using support::Draft;

namespace {

/// Two buffers over the elements [0, 4) and [first, first + 4) of one storage; one of them is written, and one read.
Result<void> checked(std::int64_t first, bool writes, bool reads_other = true) {
  Draft d;
  Tensor a = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{8});
  a.sizes = {4};
  Tensor b = a;
  b.storage_offset = first;
  const ValueId one = d.buffer("a", a), other = d.buffer("b", b);
  const ValueId x = d.user("x", {4});
  const ValueId sum = d.add("sum", writes ? one : x, x);
  if (writes) d.mutate_buffer("a", sum);
  d.output(d.neg("out", reads_other ? other : x));
  return detail::check_shared_storage(d.finish());
}

}  // namespace

TEST_CASE("a tensor that a program changes shares no memory with a tensor that it reads by another name") {
  for (const std::int64_t first : {0, 1, 3}) {
    const Result<void> shared = checked(first, true);
    REQUIRE(!shared);
    CHECK(shared.error().where == "'a' and 'b'");
    CHECK(shared.error().what == "they share memory, and the program changes it");
  }
  CHECK(checked(4, true).has_value());
  CHECK(checked(0, false).has_value());
  CHECK(checked(0, true, false).has_value());
}

namespace {

/// A method that adds to buffer "b", or only reads it.
ExportedProgram method_with(Tensor b, bool writes) {
  Draft d;
  const ValueId v = d.buffer("b", std::move(b));
  const ValueId sum = d.add("sum", v, 1.0);
  if (writes) d.mutate_buffer("b", sum);
  d.output(sum);
  return d.finish();
}

}  // namespace

TEST_CASE("methods that share state by name have it with one dtype, one size and one initial value, or are refused") {
  const auto lowered = [](const ExportedProgram& a, const ExportedProgram& b) {
    const ProgramMethod methods[] = {{"one", &a}, {"two", &b}};
    const auto made =
        to_backend(std::span<const ProgramMethod>(methods), CapabilityPartitioner<BackendList<portable>>());
    return made ? std::string() : to_string(made.error());
  };
  const Tensor ones = programs::tensor({2}, {1, 1});
  Tensor strided = programs::tensor({4}, {1, 0, 1, 0});
  strided.sizes = {2};
  strided.strides = {2};
  const std::string fix = "; export the methods from one module, or give the buffers other names";
  for (const bool second_writes : {false, true}) {
    CHECK(lowered(method_with(ones, true), method_with(strided, second_writes)) == "");
    CHECK(lowered(method_with(ones, true), method_with(programs::tensor({3}, {1, 1, 1}), second_writes)) ==
          "preprocess: state b: methods share state by name: 'one' has it as float32 [2], 'two' has it as float32 [3]" +
              fix);
    CHECK(lowered(method_with(ones, true), method_with(programs::tensor({2}, {1, 2}), second_writes)) ==
          "preprocess: state b: methods 'one' and 'two' share it by name, and have other initial values for it" + fix);
  }
  for (const bool second_writes : {false, true}) {
    Draft d;
    const ValueId b = d.buffer("b", Tensor::zeros(ScalarType::int64, std::vector<std::int64_t>{2}));
    const ValueId sum = d.b.tensor("sum", ScalarType::int64, {2});
    d.node("aten.neg.default", {d.b.value(b)}, {sum});
    if (second_writes) d.mutate_buffer("b", sum);
    d.output(sum);
    CHECK(lowered(method_with(ones, true), d.finish()) ==
          "preprocess: state b: methods share state by name: 'one' has it as float32 [2], 'two' has it as int64 [2]" +
              fix);
  }
  CHECK(lowered(method_with(ones, false), method_with(ones, true)) == "");
  CHECK(lowered(method_with(programs::tensor({2}, {1, 2}), false), method_with(ones, true)) != "");
  CHECK(lowered(method_with(programs::tensor({3}, {1, 1, 1}), false), method_with(ones, false)) ==
        "");  // constants, which no method changes
}
