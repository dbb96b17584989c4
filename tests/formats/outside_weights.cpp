// SPDX-License-Identifier: MIT
#include "davit/formats/outside_weights.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../support/draft.hpp"
#include "../support/error_in.hpp"
#include "davit/backends/portable.hpp"
#include "davit/core/contiguous.hpp"
#include "davit/formats/checkpoint.hpp"
#include "davit/formats/package.hpp"
#include "davit/lowered/backend_list.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"

using namespace davit;
using namespace davit::formats;
using support::Draft;
using support::elements;
using support::error_in;
using Bytes = std::vector<std::byte>;
using Floats = std::vector<float>;

namespace {

/// x * scale + shift; if `folded`, x * (2 * scale) + shift, and lowering computes 2 * scale.
ExportedProgram affine(bool folded = false) {
  Draft d;
  const ValueId scale = d.parameter("scale", programs::tensor({3}, {1, 2, 3}));
  const ValueId shift = d.parameter("shift", programs::tensor({3}, {10, 20, 30}));
  const ValueId x = d.user("x", {3});
  d.output(d.add("z", d.mul("y", x, folded ? d.mul("twice", scale, 2.0) : scale), shift));
  return d.finish();
}
LoweredProgram lower(const ExportedProgram& program) { return *to_backend<portable>(program); }
SharedBytes shared(const Bytes& bytes) { return SharedBytes::copy_of(bytes); }
Floats run(const Result<LoweredProgram>& lowered) {
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  std::vector<float> x{1, 1, 1};
  const auto out = session.run("forward", tensor(x, {3}));
  REQUIRE(out);
  return elements((*out)[0]);
}
SharedBytes saved(const ExportedProgram& program, bool may_replace, std::string_view file = {}) {
  const auto bytes = save_program(
      lower(program),
      SaveOptions{.weights = program.state_dict, .weights_file = file, .may_replace_weights = may_replace});
  REQUIRE(bytes);
  return shared(*bytes);
}
Result<LoweredProgram> load(const SharedBytes& package, std::span<const NamedTensor> weights) {
  return load_program<portable>(package, LoadOptions{.weights = weights, .diagnostics = nullptr});
}

}  // namespace

TEST_CASE("a package keeps weights in a file of their own, and shares their memory") {
  const ExportedProgram program = affine();
  const SharedBytes package = saved(program, false);
  const auto file = save_weights(program.state_dict);
  REQUIRE(file);
  const auto weights = read_state(shared(*file));
  REQUIRE(weights);
  REQUIRE(weights->size() == 2);
  const auto lowered = load(package, *weights);
  CHECK(run(lowered) == Floats{11, 22, 33});
  // the loaded program holds a share of the tensors' memory, and no copy
  CHECK((*weights)[0].tensor.storage.is_shared());
  CHECK(run(load(package, program.state_dict)) == Floats{11, 22, 33});
}

TEST_CASE("a package finds its file of weights beside it") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("outside_weights_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const std::string path = (folder / "m.davit").string(), file = (folder / "w.davit").string();
  const ExportedProgram program = affine();
  REQUIRE(save_program(lower(program), path, SaveOptions{.weights = program.state_dict, .weights_file = "w.davit"}));
  CHECK(error_in(load_program<portable>(path)).code == ErrorCode::io_error);
  REQUIRE(save_weights(program.state_dict, file));
  CHECK(run(load_program<portable>(path)) == Floats{11, 22, 33});
  CHECK(read_state(path));
  std::filesystem::copy_file(path, file, std::filesystem::copy_options::overwrite_existing);  // names itself
  const Error error = error_in(load_program<portable>(path));
  CHECK(error.code == ErrorCode::not_found);
  CHECK(error.where.view().find("w.davit: ") != std::string_view::npos);
  std::filesystem::remove_all(folder);
}

TEST_CASE("other weights are loaded if lowering computed nothing from them") {
  const ExportedProgram program = affine();
  const std::vector<NamedTensor> tuned{{"shift", programs::tensor({3}, {0, 0, 0})},
                                       {"scale", programs::tensor({3}, {5, 6, 7})}};
  const Error error = error_in(load(saved(program, false), tuned));
  CHECK(error.code == ErrorCode::invalid_argument);
  CHECK(error.where == "weights, 'scale'");
  CHECK(error.what == "its elements differ from those at lowering, and lowering computed results from them");
  CHECK(run(load(saved(program, true), tuned)) == Floats{5, 6, 7});
}

TEST_CASE("weights that lowering folded are not replaced") {
  const ExportedProgram program = affine(true);
  const SharedBytes package = saved(program, true);
  CHECK(run(load(package, program.state_dict)) == Floats{12, 24, 36});
  std::vector<NamedTensor> tuned = program.state_dict;
  tuned[0].tensor = programs::tensor({3}, {5, 6, 7});
  const Error error = error_in(load(package, tuned));
  CHECK(error.code == ErrorCode::invalid_argument);
  CHECK(error.where == "weights, 'scale'");
  CHECK(error.what == "its elements differ from those at lowering, and lowering folded it into others");
  tuned = program.state_dict;
  tuned[1].tensor = programs::tensor({3}, {0, 0, 0});
  CHECK(run(load(package, tuned)) == Floats{2, 4, 6});
}

TEST_CASE("weights_are_free: lowering computes nothing from weights that the package keeps outside") {
  const auto lowered_of = [](const ExportedProgram& p) -> Result<LoweredProgram> { return to_backend<portable>(p); };
  ExportedProgram program = affine();
  CHECK(weights_are_free(program, lower(program), lowered_of) == true);
  program = affine(true);
  CHECK(weights_are_free(program, lower(program), lowered_of) == true);  // `scale` is not outside
  // `scale` is used as it is, and folded
  Draft d;
  const ValueId scale = d.parameter("scale", programs::tensor({3}, {1, 2, 3}));
  const ValueId x = d.user("x", {3});
  d.output(d.add("z", d.mul("y", x, scale), d.mul("twice", scale, 2.0)));
  program = d.finish();
  CHECK(weights_are_free(program, lower(program), lowered_of) == false);
}

TEST_CASE("weights_are_free: a folded sign, or rounded number, is not free") {
  for (const char* const target : {"aten.sign.default", "aten.round.default", "aten.floor.default", "aten.abs.default",
                                   "aten.relu.default", "aten.neg.default"}) {
    CAPTURE(target);
    Draft d;
    const ValueId scale = d.parameter("scale", programs::tensor({4}, {1, -2, 0.25F, 0}));
    const ValueId x = d.user("x", {4});
    d.output(d.add("z", d.mul("y", x, scale), d.op(target, "folded", scale)));
    const ExportedProgram program = d.finish();
    CHECK(weights_are_free(program, lower(program), [](const ExportedProgram& p) -> Result<LoweredProgram> {
            return to_backend<portable>(p);
          }) == false);
  }
}

TEST_CASE("a weight whose layout takes far more memory than its elements is refused before it is copied") {
  Draft d;
  Tensor sparse = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{1 << 20});
  sparse.sizes = {2};
  sparse.strides = {(1 << 20) - 1};
  const ValueId weight = d.parameter("weight", sparse);
  const ValueId x = d.user("x", {2});
  d.output(d.mul("y", x, weight));
  const ExportedProgram program = d.finish();
  const std::vector<NamedTensor> dense{{"weight", programs::tensor({2}, {1, 2})}};
  const Error error = error_in(load(saved(program, true), dense));
  CHECK(error.code == ErrorCode::corrupt_data);
  CHECK(error.where == "weights, 'weight'");
}

TEST_CASE("weights that are missing or do not fit are errors that name them") {
  const ExportedProgram program = affine();
  const SharedBytes package = saved(program, true);
  const auto fails = [&](std::vector<NamedTensor> weights) {
    const Error error = error_in(load(package, weights));
    CHECK(error.stage == Stage::load);
    return error;
  };
  Error error = fails({});
  CHECK(error.code == ErrorCode::not_found);
  CHECK(error.where == "weights, 'scale'");
  error = fails({program.state_dict[0], {"shift", programs::tensor({2}, {1, 2})}});
  CHECK(error.code == ErrorCode::invalid_shape);
  CHECK(error.where == "weights, 'shift'");
  error = fails({program.state_dict[0], {"shift", Tensor::zeros(ScalarType::int32, std::vector<std::int64_t>{3})}});
  CHECK(error.code == ErrorCode::invalid_dtype);
  CHECK(error.what == "it holds int32, the package needs float32");
  error = error_in(load_program<portable>(package));
  CHECK(error.code == ErrorCode::not_found);
  CHECK(error.what == "the package's weights lie in a file of their own, which is not given");
  const auto plain = save_program(lower(program));
  REQUIRE(plain);
  error = error_in(load(shared(*plain), program.state_dict));
  CHECK(error.code == ErrorCode::invalid_argument);
  CHECK(error.what == "the package contains its weights, and takes no others");
  CHECK(error_in(read_state(package)).code == ErrorCode::not_found);
}

TEST_CASE("equal weights keep their own names, and a weight of other strides is laid out as the package needs it") {
  ExportedProgram program = affine();
  program.state_dict[1].tensor = contiguous(program.state_dict[0].tensor.view());  // one segment in a plain package
  const SharedBytes package = saved(program, true);
  std::vector<NamedTensor> tuned = program.state_dict;
  tuned[1].tensor = programs::tensor({3}, {100, 0, 200});
  CHECK(run(load(package, tuned)) == Floats{101, 2, 203});
  Tensor wide = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{6});
  for (int i = 0; i < 6; ++i) wide.view().as<float>()[i] = static_cast<float>(i);
  wide.sizes = {3};
  wide.strides = {2};
  tuned[1].tensor = wide;
  CHECK(run(load(package, tuned)) == Floats{1, 4, 7});
}

TEST_CASE("a weights_file that is no name beside the package is an error, when saving and when loading") {
  const ExportedProgram program = affine();
  for (const std::string_view name :
       {std::string_view("../w.davit"), std::string_view("/w.davit"), std::string_view("a/w.davit"),
        std::string_view("a\\w.davit"), std::string_view("w.davit\0x", 9), std::string_view(".."),
        std::string_view(".")}) {
    const Error error =
        error_in(save_program(lower(program), SaveOptions{.weights = program.state_dict, .weights_file = name}));
    CHECK(error.code == ErrorCode::invalid_argument);
    CHECK(error.stage == Stage::save);
    CHECK(error.where == "weights_file");
    // a name of the same length is in the package; another one takes its place
    const std::string same(name.size(), 'N');
    const SharedBytes good = saved(program, true, same);
    const Result<Package> package = read_package(good);
    REQUIRE(package);
    std::vector<Bytes> parts;
    std::vector<std::span<const std::byte>> segments;
    for (std::uint32_t i = 0; i < package->segments.size(); ++i) {
      const std::span<const std::byte> bytes = package->segments.find(i)->bytes();
      parts.emplace_back(bytes.begin(), bytes.end());
    }
    for (Bytes& part : parts) {
      if (part.size() >= 8 + same.size() && std::memcmp(part.data() + 8, same.data(), same.size()) == 0)
        std::memcpy(part.data() + 8, name.data(), name.size());
      segments.emplace_back(part);
    }
    const Result<Bytes> hostile = write_package(package->table.bytes(), segments, {});
    REQUIRE(hostile);
    const Error loading = error_in(load(shared(*hostile), program.state_dict));
    CHECK(loading.code == ErrorCode::corrupt_data);
    CHECK(loading.where == "list of weights");
  }
}

TEST_CASE("weights and states whose elements are not there are errors, and no file is written") {
  const ExportedProgram program = affine();
  const SharedBytes package = saved(program, true);
  const Tensor good = program.state_dict[1].tensor;
  Tensor none = good, beyond = good, no_strides = good, short_storage = good;
  none.storage = {};
  beyond.storage_offset = 1;
  no_strides.strides = {};
  short_storage.storage = good.storage.part(0, 4);
  for (const Tensor& bad : {none, beyond, no_strides, short_storage}) {
    std::vector<NamedTensor> weights = program.state_dict;
    weights[1].tensor = bad;
    Error error = error_in(load(package, weights));
    CHECK(error.code == ErrorCode::invalid_argument);
    CHECK(error.where == "weights, 'shift'");
    for (const Error& each :
         {error_in(save_weights(weights)), error_in(save_program(lower(program), SaveOptions{.weights = weights})),
          error_in(save_weights(weights, "/no such folder/w.davit"))}) {
      CHECK(each.code == ErrorCode::invalid_argument);
      CHECK(each.stage == Stage::save);
      CHECK(each.where == "weights, 'shift'");
    }
    error = error_in(save_program(lower(program), SaveOptions{.state = weights}));
    CHECK(error.code == ErrorCode::invalid_argument);
    CHECK(error.where == "state, 'shift'");
  }
}

TEST_CASE("the same elements in other strides are the same weights") {
  ExportedProgram program = affine();
  Tensor wide = programs::tensor({6}, {1, 50, 2, 60, 3, 70});  // 1 2 3 with gaps, and 50 60 70
  wide.sizes = {3};
  wide.strides = {2};
  std::vector<NamedTensor> spread = program.state_dict;
  spread[0].tensor = wide;
  CHECK(run(load(saved(program, false), spread)) == Floats{11, 22, 33});
  const ExportedProgram dense = program;
  program.state_dict = spread;
  const SharedBytes package = saved(program, false);
  CHECK(run(load(package, spread)) == Floats{11, 22, 33});
  CHECK(run(load(package, dense.state_dict)) == Floats{11, 22, 33});
  CHECK(run(load(package, *read_state(shared(*save_weights(spread))))) == Floats{11, 22, 33});
  spread[0].tensor = programs::tensor({3}, {1, 2, 4});
  CHECK(error_in(load(package, spread)).code == ErrorCode::invalid_argument);
  // expanded, and written out
  program.state_dict[0].tensor = programs::tensor({3}, {7, 7, 7});
  spread[0].tensor = programs::tensor({1}, {7});
  spread[0].tensor.sizes = {3};
  spread[0].tensor.strides = {0};
  CHECK(run(load(saved(program, false), spread)) == Floats{17, 27, 37});
  program.state_dict = spread;
  const SharedBytes expanded = saved(program, true);
  spread[0].tensor = programs::tensor({3}, {8, 8, 8});
  CHECK(run(load(expanded, spread)) == Floats{18, 28, 38});
  spread[0].tensor = programs::tensor({3}, {8, 8, 9});
  CHECK(error_in(load(expanded, spread)).what ==
        "it is expanded in the package, and here elements differ that are one there");
}

TEST_CASE("weights that share a storage with gaps load from tensors of their own") {
  const Tensor base = programs::tensor({5}, {1, 2, 3, 4, 5});
  Tensor even = base;
  even.sizes = {3};
  even.strides = {2};
  Draft d;
  const ValueId a = d.parameter("even", contiguous(even.view())), b = d.parameter("all", base);
  const ValueId part = d.b.tensor("part", ScalarType::float32, {3});
  d.node("aten.slice.Tensor", {d.b.value(b), d.b.integer(0), d.b.integer(1), d.b.integer(4)}, {part});
  d.output(d.add("z", d.mul("y", d.user("x", {3}), a), part));
  ExportedProgram program = d.finish();
  program.state_dict[0].tensor = even;
  const std::vector<NamedTensor> shared_storage = program.state_dict;
  const SharedBytes package = saved(program, false);
  CHECK(run(load(package, shared_storage)) == Floats{3, 6, 9});
  std::vector<NamedTensor> own = shared_storage;
  own[0].tensor = contiguous(even.view());
  own[1].tensor = contiguous(base.view());
  CHECK(run(load(package, own)) == Floats{3, 6, 9});
  own[0].tensor = programs::tensor({3}, {1, 3, 6});
  CHECK(error_in(load(saved(program, true), own)).what ==
        "it is tied to another weight in the package, and here they differ");
}

TEST_CASE("tied weights are one segment, and stay tied") {
  ExportedProgram program = affine();
  program.state_dict[1].tensor = program.state_dict[0].tensor;
  const auto lowered_of = [](const ExportedProgram& p) -> Result<LoweredProgram> { return to_backend<portable>(p); };
  CHECK(weights_are_free(program, lower(program), lowered_of) == true);
  const SharedBytes package = saved(program, true);
  std::vector<NamedTensor> tuned = program.state_dict;
  tuned[0].tensor = programs::tensor({3}, {5, 6, 7});
  CHECK(error_in(load(package, tuned)).what == "it is tied to another weight in the package, and here they differ");
  tuned[1].tensor = contiguous(tuned[0].tensor.view());
  CHECK(run(load(package, tuned)) == Floats{10, 12, 14});
}

TEST_CASE("damaged packages with weights outside are errors, or the same program") {
  const ExportedProgram program = affine();
  const auto whole = save_program(lower(program), SaveOptions{.debug_map = false, .weights = program.state_dict});
  REQUIRE(whole);
  std::size_t cut = 0;
  for (std::size_t i = 0; i < whole->size(); i += 7) {
    Bytes bytes = *whole;
    bytes[i] ^= std::byte{0x11};
    const auto lowered = load(shared(bytes), program.state_dict);
    if (lowered) CHECK(run(lowered) == Floats{11, 22, 33});
    bytes.resize(i);
    cut += load(shared(bytes), program.state_dict) ? 1 : 0;
  }
  CHECK(cut < 64);  // the padding at the end does not matter
}
