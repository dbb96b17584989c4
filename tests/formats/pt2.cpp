// SPDX-License-Identifier: MIT
#include "davit/formats/pt2.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "davit/backends/portable.hpp"
#include "davit/formats/package.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/program/check_tables.hpp"
#include "davit/program/verify.hpp"
#include "davit/runtime/session.hpp"
#include "support/data.hpp"
#include "support/fail_allocations.hpp"
#include "support/pickle_text.hpp"
#include "support/program_json.hpp"
#include "support/zip_file.hpp"

using namespace davit;
using namespace davit::formats;

namespace {

ExportedProgram program_of(std::string_view name) {
  Result<ExportedProgram> program = read_pt2(test_data("pt2/" + std::string(name) + ".pt2"));
  REQUIRE_MESSAGE(program, to_string(program.error()));
  return *std::move(program);
}

const Tensor& weight(const ExportedProgram& program, std::string_view name) {
  const Tensor* tensor = program.tensor_named(name);
  REQUIRE(tensor != nullptr);
  return *tensor;
}

/// Visits everything that a reader of the program would visit.
std::uint64_t walk(const ExportedProgram& program) {
  const GraphModuleView g = program.view();
  CHECK(check_tables(g).has_value());
  std::uint64_t sum = 0;
  for (const Value& v : g.values) sum += g.str(v.name).size() + g.dims_of(v.sizes).size();
  for (const std::vector<NamedTensor>* list : {&program.state_dict, &program.constants})
    for (const NamedTensor& entry : *list)
      for (const std::byte b : entry.tensor.storage.bytes()) sum += std::to_integer<unsigned>(b);
  return sum;
}

/// The whole file of a program with one parameter w of two floats.
ZipFile small_file(const std::string& json, const std::string& state_dict) {
  return ZipFile()
      .add("serialized_exported_program.json", json)
      .add("serialized_state_dict.pt", state_dict)
      .add("serialized_constants.pt", pickle_text::saved("}").text())
      .add("serialized_example_inputs.pt", "")
      .add("version", "8.2");
}
std::string small_state_dict() {
  using namespace pickle_text;
  const std::string w = parameter(tensor(storage("FloatStorage", "0", 2), 0, {2}, {1}));
  return saved(pickle_text::dict({text("w"), w})).add("archive/data/0", "01234567").text();
}
ZipFile small_file() { return small_file(program_json::ProgramText().text(), small_state_dict()); }

void check_refused(const ZipFile& file, ErrorCode code, std::string_view where) {
  const auto program = read_pt2(file.bytes());
  REQUIRE(!program);
  CHECK(program.error().stage == Stage::load);
  CHECK(program.error().code == code);
  CHECK_MESSAGE(program.error().where == where, to_string(program.error()));
}

constexpr std::string_view cases[] = {"cond_nested",           "custom_module_seed004", "custom_obj_torchbind",
                                      "dyn_two_dims_arith",    "effects_print_tokens",  "lifted_constants",
                                      "shared_storage_strides"};

}  // namespace

TEST_CASE("guards are read, lowered, saved and loaded, and a call that breaks one is refused") {
  const auto program = read_pt2(test_data("guards/relation.pt2"));
  REQUIRE_MESSAGE(program, to_string(program.error()));
  REQUIRE(program->guards.size() == 2);
  const auto lowered = to_backend<portable>(*program);
  REQUIRE(lowered);
  CHECK(lowered->methods()[0].interface.guards == program->guards);
  const auto bytes = save_program(*lowered);
  REQUIRE(bytes);
  const auto loaded = load_program<BackendList<portable>>(SharedBytes::copy_of(*bytes));
  REQUIRE(loaded);
  for (const LoweredProgram* each : {&*lowered, &*loaded}) {
    CHECK(each->methods()[0].parent.guards == program->guards);
    auto session = Session::make(*each);
    REQUIRE(session);
    const std::vector<InputPort>& ports = each->methods()[0].interface.inputs;
    REQUIRE(ports.size() == 2);
    const auto run = [&](std::int64_t x, std::int64_t y) {
      std::vector<Tensor> tensors;
      for (std::size_t i = 0; i < 2; ++i) {
        std::vector<std::int64_t> sizes;
        for (const Dim& dim : ports[i].type.dims) sizes.push_back(dim.value);
        sizes[0] = i == 0 ? x : y;
        tensors.push_back(Tensor::zeros(ports[i].type.dtype, sizes));
      }
      const EValue inputs[] = {tensors[0], tensors[1]};
      const auto outputs = session->run(0, inputs);
      return outputs ? std::string() : std::string(outputs.error().what.view());
    };
    for (int i = 0; i < 2; ++i) {
      CHECK(run(3, 7) == "");
      CHECK(run(7, 3) == "x.shape[0] < y.shape[0] does not hold: x.shape[0] is 7, y.shape[0] is 3");
      CHECK(run(7, 3) != "");
      CHECK(run(2, 5) == "");
    }
  }
}

TEST_CASE("programs of every kind are read, and sound") {
  for (const std::string_view name : cases) {
    CAPTURE(std::string(name));
    const ExportedProgram program = program_of(name);
    CHECK(walk(program) > 0);
    CHECK(program.schema_major == 8);
    CHECK(program.dialect == Dialect::aten);
    CHECK(program.torch_version == "2.6.0+debian");
    CHECK(verify(program, {.allow_unknown_operators = true}).empty());
    for (const Node& node : program.view().nodes) CHECK(node.metadata < program.view().metadata.size());
  }
}

TEST_CASE("the layouts of newer torch give the same program") {
  for (const std::string name :
       {"cond_nested", "custom_module_seed004", "effects_print_tokens", "lifted_constants", "shared_storage_strides"}) {
    const ExportedProgram plain = program_of(name);
    for (const std::string layout : {".v28", ".v29"}) {
      CAPTURE(name + layout);
      const ExportedProgram other = program_of(name + layout);
      CHECK(other.view().text == plain.view().text);
      CHECK(other.view().values.size() == plain.view().values.size());
      CHECK(other.view().arguments.size() == plain.view().arguments.size());
      CHECK(other.view().nodes.size() == plain.view().nodes.size());
      CHECK(other.signature == plain.signature);
      REQUIRE(other.state_dict.size() == plain.state_dict.size());
      for (const NamedTensor& entry : plain.state_dict) {
        const Tensor& same = weight(other, entry.name);
        CHECK(same.dtype == entry.tensor.dtype);
        CHECK(same.sizes == entry.tensor.sizes);
        CHECK(same.strides == entry.tensor.strides);
        CHECK(same.requires_grad == entry.tensor.requires_grad);
      }
    }
  }
}

TEST_CASE("the seed's parameter and buffers") {
  const ExportedProgram program = program_of("custom_module_seed004");
  const GraphModuleView g = program.view();
  REQUIRE(program.state_dict.size() == 3);
  CHECK(weight(program, "my_parameter").requires_grad);
  CHECK(!weight(program, "my_buffer1").requires_grad);
  CHECK(program.signature.buffers_to_mutate().size() == 1);
  CHECK(g.target(g.nodes[0]) == "aten.add.Tensor");
}

TEST_CASE("tensors on one storage share it") {
  for (const std::string_view layout : {"", ".v28", ".v29"}) {
    const ExportedProgram program = program_of("shared_storage_strides" + std::string(layout));
    const std::byte* storage = weight(program, "a").storage.data();
    CHECK(weight(program, "b").storage.data() == storage);
    CHECK(weight(program, "w").storage.data() != storage);
    CHECK(weight(program, "empty").numel() == 0);
    for (const NamedTensor& entry : program.state_dict)
      CHECK(reinterpret_cast<std::uintptr_t>(entry.tensor.view().data) % size_of(entry.tensor.dtype) == 0);
  }
}

TEST_CASE("symbolic sizes keep their expression and range") {
  const ExportedProgram program = program_of("dyn_two_dims_arith");
  const GraphModuleView g = program.view();
  const Value& x = g.values[g.args(g.root().inputs)[0].value()];
  const Dim& first = g.dims_of(x.sizes)[0];
  REQUIRE(!first.is_static());
  CHECK(g.str(g.exprs[first.expr].name) == "s0");
  CHECK(first.value > 0);
  CHECK(!program.range_constraints.empty());
}

TEST_CASE("sub-graphs are graphs of the same program") {
  const GraphModule module = program_of("cond_nested").graph_module;
  CHECK(module.graphs.size() == 7);
  for (const Graph& graph : module.graphs) CHECK(module.view().nodes_of(graph).size() == graph.nodes.count);
}

TEST_CASE("custom objects keep class and state; tokens are tokens") {
  const ExportedProgram program = program_of("custom_obj_torchbind");
  REQUIRE(program.custom_objects.size() == 1);
  CHECK(program.custom_objects[0].name == "obj");
  CHECK(program.custom_objects[0].class_fqn == "__torch__.torch.classes.davit_corpus.AddMul");
  CHECK(!program.custom_objects[0].state.empty());
  CHECK(program.graph_module.values[0].kind == ValueKind::token);
}

TEST_CASE("weights live as long as a copy of the program") {
  const auto floats = [](const Tensor& tensor) {
    const TensorView view = tensor.view();
    return std::vector<float>(view.as<float>(), view.as<float>() + view.numel());
  };
  Tensor kept;
  std::vector<float> before;
  {
    const ExportedProgram copy = program_of("cond_nested.v29");
    kept = copy.state_dict[0].tensor;
    before = floats(kept);
  }
  CHECK(std::ranges::any_of(before, [](float v) { return v != 0; }));
  CHECK(floats(kept) == before);
}

TEST_CASE("a deflated file is read as well") {
  const std::string json = program_json::ProgramText().text();
  const ZipFile file = ZipFile()
                           .add_deflated("serialized_exported_program.json", json)
                           .add_deflated("serialized_state_dict.pt", small_state_dict())
                           .add_deflated("version", "8.0");
  const auto program = read_pt2(file.bytes());
  REQUIRE_MESSAGE(program, to_string(program.error()));
  CHECK(program->state_dict.size() == 1);
}

TEST_CASE("one of several models is chosen by name") {
  ZipFile file;
  file.add("m/archive_format", "pt2");
  for (const std::string model : {"a", "b"}) {
    file.add("m/models/" + model + ".json", program_json::ProgramText().text());
    file.add("m/data/weights/" + model + ".pt", small_state_dict());
  }
  CHECK(read_pt2(file.bytes(), {.model = "b"}).has_value());
  CHECK(read_pt2(file.bytes()).error().code == ErrorCode::not_found);
}

TEST_CASE("a custom object of a newer file takes its class from the signature") {
  program_json::ProgramText text;
  text.graph.inputs += R"(, {"as_custom_obj": {"name": "o", "class_fqn": "ns.Foo"}})";
  text.graph.others = R"("custom_obj_values": {"o": {"name": "o", "class_fqn": "ns.Foo"}})";
  text.input_specs += R"(, {"custom_obj": {"arg": {"name": "o", "class_fqn": "ns.Foo"}, "custom_obj_name": "obj"}})";
  const ZipFile file =
      ZipFile()
          .add("m/archive_format", "pt2")
          .add("m/models/model.json", text.text())
          .add("m/data/weights/model.pt", small_state_dict())
          .add("m/data/constants/custom_obj_0", "state")
          .add(
              "m/data/constants/model_constants_config.json",
              R"({"config": {"obj": {"path_name": "custom_obj_0", "is_param": false, "use_pickle": true, "tensor_meta": null}}})");
  const auto program = read_pt2(file.bytes());
  REQUIRE_MESSAGE(program, to_string(program.error()));
  CHECK(program->custom_objects[0].class_fqn == "ns.Foo");
}

TEST_CASE("missing or malformed parts are errors with their place") {
  CHECK(read_pt2(small_file().bytes()).has_value());
  const auto without = [](std::size_t member) {
    ZipFile file = small_file();
    file.members.erase(file.members.begin() + static_cast<std::ptrdiff_t>(member));
    return file;
  };
  check_refused(without(0), ErrorCode::corrupt_data, "pt2");
  check_refused(without(1), ErrorCode::not_found, "signature, input 0");
  CHECK(read_pt2(without(2).bytes()).has_value());
  CHECK(read_pt2(without(4).bytes()).has_value());

  ZipFile file = without(4);
  check_refused(file.add("version", "9.0"), ErrorCode::version_mismatch, "pt2/version");
  file = without(4);
  check_refused(file.add("version", "x"), ErrorCode::corrupt_data, "pt2/version");
  file = small_file();
  file.members[0].data[100] = '#';
  check_refused(file, ErrorCode::corrupt_data, "pt2/serialized_exported_program.json");
  check_refused(small_file("{", small_state_dict()), ErrorCode::corrupt_data, "pt2/serialized_exported_program.json");
  check_refused(small_file("{}", small_state_dict()), ErrorCode::corrupt_data,
                "pt2/serialized_exported_program.json.schema_version");
  const std::string json = program_json::ProgramText().text();
  check_refused(small_file(json, "no archive"), ErrorCode::corrupt_data, "pt2/serialized_state_dict.pt");
  check_refused(small_file(json, pickle_text::saved("N").text()), ErrorCode::corrupt_data,
                "pt2/serialized_state_dict.pt/archive/data.pkl, byte 0, entry ''");
  check_refused(small_file(json, ""), ErrorCode::not_found, "signature, input 0");
}

TEST_CASE("an error in a file of a newer schema says so, and a file that reads well is read") {
  const auto newer = [](std::string from, std::string_view to) {
    std::string json = program_json::ProgramText().text();
    const auto replace = [&](std::string_view old, std::string_view by) {
      json.replace(json.find(old), old.size(), by);
    };
    replace(R"("minor": 2)", R"("minor": 23)");
    replace("2.6.0", "2.13.0");
    if (!from.empty()) replace(from, to);
    return json;
  };
  constexpr std::string_view versions = "written by torch 2.13.0, schema 8.23; davit knows 8.20";
  const auto program = read_pt2(small_file(newer("", ""), small_state_dict()).bytes());
  REQUIRE(program);
  CHECK(program->schema_minor == 23);
  const auto refused = [&](const ZipFile& file, ErrorCode code) {
    const auto failed = read_pt2(file.bytes());
    REQUIRE(!failed);
    CHECK(failed.error().code == code);
    CHECK_MESSAGE(failed.error().what.view().find(versions) != std::string_view::npos, to_string(failed.error()));
    CHECK(failed.error().fix.view().find("damaged") == std::string_view::npos);
  };
  refused(small_file(newer(R"("dtype": 7)", R"("dtype": 99)"), small_state_dict()), ErrorCode::version_mismatch);
  refused(small_file(newer(R"("as_tensor": {"name": "p_w"})", R"("as_future": {"name": "p_w"})"), small_state_dict()),
          ErrorCode::version_mismatch);
  refused(small_file(newer("", ""), ""), ErrorCode::not_found);
  refused(small_file(newer("", ""), pickle_text::saved("N").text()), ErrorCode::version_mismatch);
}

TEST_CASE("example inputs that cannot be read are left out") {
  program_json::ProgramText text;
  text.calls = R"({"fqn": "", "signature": {"inputs": [], "outputs": [], "in_spec":
    "[1, {\"type\": \"builtins.tuple\", \"context\": \"null\", \"children_spec\": [{\"type\": \"builtins.tuple\", \"context\": \"null\", \"children_spec\": [{\"type\": null, \"context\": null, \"children_spec\": []}]}, {\"type\": \"builtins.dict\", \"context\": \"[]\", \"children_spec\": []}]}]",
    "out_spec": "", "forward_arg_names": ["x"]}})";
  const auto with = [&](std::string_view examples, bool is_damaged = false) {
    ZipFile file = small_file(text.text(), small_state_dict());
    file.members.erase(file.members.begin() + 3);
    file.add("serialized_example_inputs.pt", examples);
    if (is_damaged) ++file.members.back().crc;
    const auto program = read_pt2(file.bytes());
    REQUIRE_MESSAGE(program, to_string(program.error()));
    return program->example_inputs;
  };
  using namespace pickle_text;
  const auto found = with(saved(tuple({tuple({integer(3)}), "}"})).text());
  REQUIRE(found);
  CHECK(std::get<std::int64_t>(found->at(0)) == 3);
  CHECK(!with(""));
  CHECK(!with("no archive"));
  CHECK(!with(saved("N").text()));
  CHECK(!with(saved(tuple({tuple({integer(3), integer(4)}), "}"})).text()));
  CHECK(!with(saved(tuple({tuple({call("os", "system", tuple({pickle_text::text("ls")}))}), "}"})).text()));
  CHECK(!with(saved(tuple({tuple({integer(3)}), "}"})).text(), true));
}

TEST_CASE("errors of a file name the file") {
  const auto missing = read_pt2(test_data("pt2/missing.pt2"));
  REQUIRE(!missing);
  CHECK(missing.error().code == ErrorCode::io_error);
  CHECK(missing.error().where == test_data("pt2/missing.pt2").string());
  const auto other = read_pt2(test_data("regenerate.py"));
  REQUIRE(!other);
  CHECK(other.error().where == "regenerate.py");
}

TEST_CASE("cut files are errors") {
  for (const std::string_view name : {"custom_module_seed004", "custom_module_seed004.v29"}) {
    const std::string whole = test_file("pt2/" + std::string(name) + ".pt2");
    REQUIRE(!whole.empty());
    for (std::size_t size = 0; size < whole.size(); size += 37) CHECK(!read_pt2(bytes_of(whole.substr(0, size))));
    for (std::size_t cut = 1; cut < 300; ++cut) CHECK(!read_pt2(bytes_of(whole.substr(0, whole.size() - cut))));
  }
}

TEST_CASE("changed files are errors or sound programs") {
  std::minstd_rand random(1);
  for (const std::string_view name : {"custom_module_seed004", "shared_storage_strides.v28", "cond_nested.v29"}) {
    const std::string whole = test_file("pt2/" + std::string(name) + ".pt2");
    REQUIRE(!whole.empty());
    for (std::size_t i = 0; i < whole.size(); i += 1 + random() % 16) {
      std::string changed = whole;
      changed[i] = static_cast<char>(random());
      if (const auto program = read_pt2(bytes_of(changed), {.verify_checksums = false})) walk(*program);
    }
  }
}

TEST_CASE("a changed byte of a part that is read does not pass its checksum") {
  const std::string whole = test_file("pt2/custom_module_seed004.pt2");
  REQUIRE(!whole.empty());
  std::string changed = whole;
  changed[200] = '~';
  const auto program = read_pt2(bytes_of(changed));
  REQUIRE(!program);
  CHECK(program.error().what == "its content does not match its CRC-32");
}

TEST_CASE("memory that cannot be had is an Error, whichever allocation fails") {
  for (const char* name :
       {"pt2/cond_nested.pt2", "pt2/shared_storage_strides.v29.pt2", "pt2/custom_obj_torchbind.pt2"}) {
    const std::string path = test_data(name);
    CHECK(support::fail_each([&] { return read_pt2(path); }) > 100);
  }
}
