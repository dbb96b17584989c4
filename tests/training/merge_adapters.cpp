// SPDX-License-Identifier: MIT
#include "davit/training/merge_adapters.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "../support/draft.hpp"
#include "../support/error_in.hpp"
#include "davit/core/segments.hpp"

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

TEST_CASE("adapters of both names of tied weights add up") {
  ExportedProgram p = program();
  p.state_dict[1].name = "k.weight";
  const NamedTensor adapters[] = {{"q.lora_A", a}, {"q.lora_B", b}, {"k.lora_A", a}, {"k.lora_B", b}};
  CHECK(merge_adapters(p, adapters, 0.5) == std::size_t{2});
  const std::vector<float> wanted{1 + 10, 2, 3 + 20, 4 + 20, 5, 6 + 40};
  CHECK(values(p, "q.weight") == wanted);
  CHECK(values(p, "k.weight") == wanted);
}

TEST_CASE("a merge that is not finite, not whole or not certain is an error, and the program stays") {
  ExportedProgram p = program();
  const auto fails = [&](std::vector<NamedTensor> adapters, double scale = 1) {
    const Error error = error_in(merge_adapters(p, adapters, scale));
    CHECK(error.stage == Stage::load);
    CHECK(values(p, "q.weight") == std::vector<float>{1, 2, 3, 4, 5, 6});
    return error;
  };
  const std::vector<NamedTensor> good{{"q.lora_A", a}, {"q.lora_B", b}};
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const double scale : {infinity, -infinity, nan}) {
    const Error error = fails(good, scale);
    CHECK(error.code == ErrorCode::invalid_argument);
    CHECK(error.where == "scale");
  }
  CHECK(fails(good, 1e38).code == ErrorCode::out_of_range);
  p.state_dict.push_back({"h.weight", Tensor::zeros(ScalarType::float16, std::vector<std::int64_t>{2, 3})});
  Error error = fails({{"h.lora_A", a}, {"h.lora_B", b}}, 3000);
  CHECK(error.code == ErrorCode::out_of_range);
  CHECK(error.what == "an element of the sum is no finite float16");
  const auto with = [&](std::string_view name, const Tensor& tensor) {
    std::vector<NamedTensor> list = good;
    list.push_back({Name::own(name), tensor});
    return fails(list);
  };
  for (const std::string_view name : {"q.lora_A", "q.lora_A.weight", "q.lora_A.default.weight"}) {
    error = with(name, a);
    CHECK(error.code == ErrorCode::invalid_argument);
    CHECK(error.what == concat("'q.lora_A' and '", name, "' are the same factor"));
  }
  for (const std::string_view name : {"q.lora_magnitude_vector", "q.lora_magnitude_vector.default.weight",
                                      "q.lora_A.other.weight", "q.lora_B.bias", "e.lora_embedding_A"}) {
    error = with(name, a);
    CHECK(error.code == ErrorCode::unsupported_argument);
    CHECK(error.where == concat("adapters, '", name, "'"));
  }
}

TEST_CASE("adapters whose elements are not there, or share memory, are errors that name them") {
  ExportedProgram p = program();
  Tensor none = a, beyond = a, no_strides = a, short_storage = a, expanded = a, other = b;
  none.storage = {};
  beyond.storage_offset = 1;
  no_strides.strides = {};
  short_storage.storage = a.storage.part(0, 4);
  for (const Tensor& bad : {none, beyond, no_strides, short_storage}) {
    const NamedTensor adapters[] = {{"q.lora_A", bad}, {"q.lora_B", b}};
    const Error error = error_in(merge_adapters(p, adapters, 1));
    CHECK(error.code == ErrorCode::invalid_argument);
    CHECK(error.where == "adapter of 'q.weight'");
    CHECK(error.what == concat("'q.lora_A': ", not_stored));
  }
  expanded.sizes = {std::int64_t{1} << 44, 3};
  expanded.strides = {0, 1};
  other.sizes = {2, std::int64_t{1} << 44};
  other.strides = {1, 0};
  const NamedTensor adapters[] = {{"q.lora_A", expanded}, {"q.lora_B", other}};
  const Error error = error_in(merge_adapters(p, adapters, 1));
  CHECK(error.code == ErrorCode::invalid_argument);
  CHECK(error.what == "'q.lora_A': its elements share memory: it is expanded");
  CHECK(values(p, "q.weight") == std::vector<float>{1, 2, 3, 4, 5, 6});
}
