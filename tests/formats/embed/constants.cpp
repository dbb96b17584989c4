// SPDX-License-Identifier: MIT
#include "davit/formats/embed/constants.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <vector>

namespace {

using namespace davit;
using formats::EmbedConstants;

template <class T>
Tensor numbers(ScalarType type, std::vector<std::int64_t> sizes) {
  Tensor tensor = Tensor::zeros(type, sizes);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.view().as<T>()[i] = static_cast<T>(i + 1);
  return tensor;
}

}  // namespace

TEST_CASE("small constants of rank 1 are arrays, equal ones share one") {
  EmbedConstants constants("model");
  const Tensor a = numbers<float>(ScalarType::float32, {6});
  CHECK(constants.add("a", a, WeightLayout::contiguous).text == "davit::ConstantData::in_array(model::a)");
  CHECK(constants.add("b", a, WeightLayout::contiguous).text == "davit::ConstantData::in_array(model::a)");
  CHECK(constants.arrays().find("std::array<float, 6> a{") != std::string::npos);
  CHECK(constants.arrays().find(" b{") == std::string::npos);
  CHECK(constants.blob().empty());
}

TEST_CASE("small matrices go to the blob") {
  EmbedConstants constants("model");
  CHECK(constants.add("a", numbers<float>(ScalarType::float32, {2, 3}), WeightLayout::contiguous).text ==
        "davit::ConstantData::in_blob(davit::ScalarType::float32, 6, 0)");
  CHECK(constants.arrays().empty());
}

TEST_CASE("large constants are aligned in the blob, equal ones are kept once") {
  EmbedConstants constants("model");
  const Tensor a = numbers<std::int8_t>(ScalarType::int8, {5001});
  const Tensor b = numbers<std::int8_t>(ScalarType::int8, {1, 4999});
  CHECK(constants.add("a", a, WeightLayout::contiguous).text ==
        "davit::ConstantData::in_blob(davit::ScalarType::int8, 5001, 0)");
  CHECK(constants.add("b", b, WeightLayout::contiguous).text ==
        "davit::ConstantData::in_blob(davit::ScalarType::int8, 4999, 5008)");
  CHECK(constants.add("c", a, WeightLayout::contiguous).text ==
        "davit::ConstantData::in_blob(davit::ScalarType::int8, 5001, 0)");
  CHECK(constants.blob().size() == 5008 + 5008);
}

TEST_CASE("a constant without elements has a place in the blob, which is then not empty") {
  EmbedConstants constants("model");
  CHECK(constants.add("none", numbers<float>(ScalarType::float32, {0, 3}), WeightLayout::contiguous).text ==
        "davit::ConstantData::in_blob(davit::ScalarType::float32, 0, 0)");
  CHECK(!constants.blob().empty());
}

TEST_CASE("output_inner puts the output channel inside and pads it to 8") {
  const Tensor weight = numbers<float>(ScalarType::float32, {3, 2});
  const std::vector<std::byte> bytes = EmbedConstants::output_inner(EmbedConstants::contiguous(weight), weight);
  std::array<float, 16> laid{};
  REQUIRE(bytes.size() == sizeof laid);
  std::memcpy(laid.data(), bytes.data(), sizeof laid);
  CHECK(laid == std::array<float, 16>{1, 3, 5, 0, 0, 0, 0, 0, 2, 4, 6, 0, 0, 0, 0, 0});
}

TEST_CASE("sums of int8 weights and states of zeros") {
  EmbedConstants constants("model");
  const Tensor weight = numbers<std::int8_t>(ScalarType::int8, {2, 3});
  CHECK(constants.add_sums("w", weight).text == "model::w_sums.data()");
  CHECK(constants.arrays().find("w_sums{\n    6, 15,}") != std::string::npos);
  CHECK(constants.add_sums("f", numbers<float>(ScalarType::float32, {2, 3})).text.empty());
  CHECK(constants.add_state("s", Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{4})).text.empty());
  CHECK(constants.add_state("t", weight).text == "davit::ConstantData::in_array(model::t)");
}
