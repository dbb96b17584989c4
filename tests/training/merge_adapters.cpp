// SPDX-License-Identifier: MIT
#include "davit/training/merge_adapters.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "../support/draft.hpp"
#include "../support/error_in.hpp"

using namespace davit;
using support::Draft;
using support::elements;
using support::error_in;

namespace {

/// A linear layer `q` of 2 outputs and 3 inputs, whose weight has a second name `tied`.
ExportedProgram program() {
  Draft d;
  const ValueId w = d.parameter("q.weight", programs::tensor({2, 3}, {1, 2, 3, 4, 5, 6}));
  d.output(d.add("z", d.user("x", {2, 3}), w));
  ProgramTables tables = d.finish();
  tables.state_dict.push_back({"tied", tables.state_dict[0].tensor});
  return tables;
}
std::vector<float> values(const ExportedProgram& program, std::string_view name) {
  return elements(EValue(program.tensor_named(name)->view()));
}
const Tensor a = programs::tensor({1, 3}, {1, 0, 2}), b = programs::tensor({2, 1}, {10, 20});

}  // namespace

TEST_CASE("an adapter is merged into its weight, and into the weight's second name") {
  for (const auto& [of_a, of_b] : {std::pair<std::string_view, std::string_view>{"q.lora_A.weight", "q.lora_B.weight"},
                                   {"q.lora_A.default.weight", "q.lora_B.default.weight"},
                                   {"q.lora_A", "q.lora_B"}}) {
    CAPTURE(of_a);
    ExportedProgram p = program();
    const NamedTensor adapters[] = {{Name::own(of_a), a}, {"other", b}, {Name::own(of_b), b}};
    CHECK(merge_adapters(p, adapters, 0.5) == std::size_t{2});
    const std::vector<float> wanted{1 + 5, 2, 3 + 10, 4 + 10, 5, 6 + 20};
    CHECK(values(p, "q.weight") == wanted);
    CHECK(values(p, "tied") == wanted);
  }
  ExportedProgram p = program();
  const NamedTensor adapters[] = {{"base_model.model.q.lora_A.weight", a}, {"base_model.model.q.lora_B.weight", b}};
  CHECK(merge_adapters(p, adapters, 0, "base_model.model.") == std::size_t{2});
  CHECK(values(p, "q.weight") == std::vector<float>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("weights of 16 bits are rounded once") {
  ExportedProgram p = program();
  Tensor half = Tensor::zeros(ScalarType::bfloat16, std::vector<std::int64_t>{2, 3});
  half.view().as<BFloat16>()[0] = BFloat16(256.0F);
  p.state_dict[0].tensor = half;
  const NamedTensor adapters[] = {{"q.lora_A", a}, {"q.lora_B", b}};
  CHECK(merge_adapters(p, adapters, 0.5) == std::size_t{1});
  CHECK(static_cast<float>(p.state_dict[0].tensor.view().as<BFloat16>()[0]) == 260);  // 261 is no bfloat16
  CHECK(static_cast<float>(p.state_dict[0].tensor.view().as<BFloat16>()[2]) == 10);
}

TEST_CASE("adapters that do not fit are errors that name them, and the program stays") {
  ExportedProgram p = program();
  const auto fails = [&](std::vector<NamedTensor> adapters) {
    const Error error = error_in(merge_adapters(p, adapters, 1));
    CHECK(error.stage == Stage::load);
    CHECK(values(p, "q.weight") == std::vector<float>{1, 2, 3, 4, 5, 6});
    return error;
  };
  CHECK(fails({}).code == ErrorCode::not_found);
  CHECK(fails({{"q.weight", a}}).code == ErrorCode::not_found);
  Error error = fails({{"q.lora_A", a}});
  CHECK(error.code == ErrorCode::not_found);
  CHECK(error.what == "there is no 'q.lora_B.weight'");
  error = fails({{"q.lora_A", a}, {"q.lora_B", b}, {"k.lora_A", a}, {"k.lora_B", b}});
  CHECK(error.code == ErrorCode::not_found);
  CHECK(error.what == "the program has no parameter 'k.weight'");
  error = fails({{"q.lora_A", b}, {"q.lora_B", b}});
  CHECK(error.code == ErrorCode::invalid_shape);
  CHECK(error.where == "adapter of 'q.weight'");
  CHECK(
      fails({{"q.lora_A", a}, {"q.lora_B", Tensor::zeros(ScalarType::int64, std::vector<std::int64_t>{2, 1})}}).code ==
      ErrorCode::invalid_dtype);
  p.state_dict.push_back({"n.weight", Tensor::zeros(ScalarType::int8, std::vector<std::int64_t>{2, 3})});
  CHECK(fails({{"n.lora_A", a}, {"n.lora_B", b}}).code == ErrorCode::invalid_dtype);
}
