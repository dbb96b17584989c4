// SPDX-License-Identifier: MIT
#include "davit/testing/judge.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "../support/judged.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/testing/detail/alternating_partitioner.hpp"

using namespace judged;
using testing::AlternatingPartitioner;
using testing::ProgramRecipe;

namespace {

/// Returns a number that is off by one, where it returns numbers.
struct OffByOne : testing::renamed_backend<portable, "off_by_one"> {
  template <class Context>
  [[nodiscard]] static Status execute(const Handle& handle, std::span<const EValue> inputs, std::span<EValue> outputs,
                                      Context& context) {
    const Status done = portable::execute(handle, inputs, outputs, context);
    for (const EValue& output : outputs)
      if (output.is_tensor() && output.tensor().dtype == ScalarType::float32 && output.tensor().numel() != 0)
        output.tensor().as<float>()[0] += 1;
    return done;
  }
};

}  // namespace

TEST_CASE("judge: random programs equal an eager run, whole and dealt out at random") {  // more of them:
                                                                                         // random_programs
  using List = BackendList<Viewer, Second, portable>;
  for (std::uint64_t seed = 10000; seed < 10100; ++seed) {
    const ProgramRecipe recipe = ProgramRecipe::of(seed);
    CHECK(difference(recipe, CapabilityPartitioner<BackendList<portable>>(), {.seed = seed}) == "");
    CHECK(difference(recipe, AlternatingPartitioner<List>{.seed = seed}, {.seed = seed}) == "");
  }
}
TEST_CASE("judge: a run that is made to fail changes neither inputs nor state") {
  using List = BackendList<Failing, portable>;
  for (std::uint64_t seed = 10100; seed < 10150; ++seed)
    CHECK(difference(ProgramRecipe::of(seed), AlternatingPartitioner<List>{.seed = seed},
                     {.seed = seed, .fail_at = &Failing::fail_at}) == "");
}
TEST_CASE("judge: a backend that is off by one is seen") {
  int seen = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    if (!difference(ProgramRecipe::of(seed), CapabilityPartitioner<BackendList<OffByOne>>(), {.seed = seed}).empty())
      ++seen;
  CHECK(seen > 10);
}
TEST_CASE("judge: a bool may be a perturbed run's, and no other") {
  const auto truths = [](std::initializer_list<std::uint8_t> bytes) {
    const Tensor out =
        Tensor::zeros(ScalarType::bool_, std::vector<std::int64_t>{static_cast<std::int64_t>(bytes.size())});
    std::ranges::copy(bytes, out.view().as<std::uint8_t>());
    return out;
  };
  const Tensor expected = truths({0, 1, 0, 1}), first = truths({0, 0, 0, 1}), second = truths({0, 1, 1, 1});
  const std::vector<EValue> rounded{EValue(first), EValue(second)};
  const auto judged = [&](std::initializer_list<std::uint8_t> actual) {
    const Tensor given = truths(actual);
    return testing::detail::difference(EValue(given), EValue(expected), rounded, {}, {});
  };
  CHECK(judged({0, 1, 0, 1}) == "");
  CHECK(judged({0, 0, 1, 1}) == "");
  CHECK(judged({1, 1, 0, 1}).starts_with("1 of 4 elements differ; the first, at [0], is 1"));
  CHECK(judged({0, 1, 2, 0}).starts_with("2 of 4 elements differ; the first, at [2], is 2"));
}
TEST_CASE("judge: few programs are left out for numbers near the end of their range") {
  const auto met = [](bool with_large) {
    int programs = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      const testing::RandomProgram program(ProgramRecipe::of(seed));
      testing::EagerProgram eager(program.program(), BackendList<portable>::tables());
      eager.round_at_random(seed);
      const std::vector<Tensor> own = program.user_inputs(0);
      if (with_large && own[0].dtype == ScalarType::float32 && own[0].numel() != 0)
        own[0].view().as<float>()[0] = 1e20f;
      const std::vector<EValue> inputs(own.begin(), own.end());
      REQUIRE(eager.run(inputs));
      if (eager.met_large_numbers()) ++programs;
    }
    return programs;
  };
  CHECK(met(false) < 3);
  CHECK(met(true) > 100);
}
TEST_CASE("judge: windows that overlap are not fed to a program that writes in place") {
  CHECK(difference(ProgramRecipe::of(104474811), CapabilityPartitioner<BackendList<portable>>(), {.seed = 104474811}) ==
        "");
  constexpr std::int64_t sizes[] = {3, 2}, overlapping[] = {1, 1}, apart[] = {2, 1}, expanded[] = {0, 1};
  const auto view = [&](const std::int64_t* strides) {
    return TensorView{nullptr, sizes, strides, 2, ScalarType::float32};
  };
  CHECK(testing::detail::may_overlap_itself(view(overlapping)));
  CHECK(testing::detail::may_overlap_itself(view(expanded)));
  CHECK_FALSE(testing::detail::may_overlap_itself(view(apart)));
}

namespace {

/// Returns the caller's memory, if that holds the same elements.
struct Aliasing : testing::renamed_backend<portable, "aliasing"> {
  template <class Context>
  [[nodiscard]] static Status execute(const Handle& handle, std::span<const EValue> inputs, std::span<EValue> outputs,
                                      Context& context) {
    const Status done = portable::execute(handle, inputs, outputs, context);
    for (EValue& output : outputs)
      for (const EValue& input : inputs)
        if (output.is_tensor() && input.is_tensor() &&
            testing::Snapshot({&output, 1}) == testing::Snapshot({&input, 1}))
          output = input;
    return done;
  }
};

}  // namespace

TEST_CASE("judge: an output in the caller's memory is reported if the program copies") {
  int seen = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed)
    if (!difference(ProgramRecipe::of(seed), CapabilityPartitioner<BackendList<Aliasing>>(), {.seed = seed}).empty())
      ++seen;
  CHECK(seen > 3);
}
