// SPDX-License-Identifier: MIT
#include "../../tools/davit/recorded_case.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "davit/formats/zip/zip.hpp"
#include "support/data.hpp"
#include "support/zip_file.hpp"

namespace {

using namespace davit;
using formats::CaseFiles;
using formats::ZipArchive;

std::string npy(std::string_view descr, std::string_view shape, std::string_view data) {
  const std::string header =
      "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': " + std::string(shape) + "}";
  return "\x93NUMPY\1" + ZipFile::number(0, 1) + ZipFile::number(header.size(), 2) + header + std::string(data);
}

/// Reads a case with this case.json below `c/` of an archive, beside some arrays.
Result<formats::RecordedCase> read(std::string_view json) {
  const std::string bytes("\1\0\2\0\3\0\4\0", 8);
  const ZipFile file = ZipFile()
                           .add("c/case.json", json)
                           .add("c/four.npy", npy("<u2", "(4,)", bytes))
                           .add("c/bad.npy", "no array")
                           .add("outside.npy", npy("<u2", "(4,)", bytes));
  Result<ZipArchive> archive = ZipArchive::open(file.bytes(), "cases.zip");
  REQUIRE(archive);
  return formats::read_case(CaseFiles::member(*archive, "c/"));
}
/// Reads a case of one run with that input.
Result<formats::RecordedCase> read_input(std::string_view input) {
  return read(R"({"program": "p.pt2", "runs": [{"inputs": [)" + std::string(input) + R"(], "outputs": []}]})");
}
std::string fault(const Result<formats::RecordedCase>& result) {
  return result ? std::string() : to_string(result.error());
}
bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("read_case reads the recorded models") {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test_data("models"))) {
    const CaseFiles files = CaseFiles::folder(entry.path());
    const auto recorded = formats::read_case(files);
    INFO(fault(recorded));
    REQUIRE(recorded);
    CHECK(recorded->name == entry.path().filename());
    CHECK_FALSE(recorded->runs.empty());
    CHECK(files.read(recorded->program));
    ++count;
  }
  CHECK(count > 10);
}

TEST_CASE("read_case keeps inputs of every kind in order") {
  const auto recorded = formats::read_case(CaseFiles::folder(test_data("models/primitive_inputs")));
  REQUIRE(recorded);
  const auto& inputs = recorded->runs.at(0).inputs;
  REQUIRE(inputs.size() == 5);
  CHECK(inputs[0].value().tensor().dtype == ScalarType::float32);
  CHECK(inputs[1].value().as_int() == 2);
  CHECK(inputs[2].value().as_float() == 0.5);
  CHECK(inputs[3].value().as_bool());
  CHECK(inputs[4].value().as_string() == "double");
  CHECK(inputs[4].name == "mode");
}

TEST_CASE("read_case reads bits as bfloat16, and views with strides") {
  const auto bits = read_input(R"({"type": "tensor", "dtype": "bfloat16", "shape": [4], "file": "four.npy"})");
  REQUIRE(bits);
  CHECK(bits->runs[0].inputs[0].tensor.dtype == ScalarType::bfloat16);
  const auto view = read_input(R"({"type": "tensor", "dtype": "uint16", "shape": [2], "file": "unused.npy",
                                   "storage_file": "four.npy", "strides": [2], "storage_offset": 1})");
  REQUIRE(view);
  const Tensor& tensor = view->runs[0].inputs[0].tensor;
  CHECK(tensor.view().as<std::uint16_t>()[0] == 2);
  CHECK(tensor.strides[0] == 2);
}

TEST_CASE("read_case reads rules, tolerances and tokens") {
  const auto recorded =
      read(R"({"program": "p.pt2", "rtol": 0.5, "check": "permutation", "check_outputs": [1], "runs": [
      {"inputs": [{"type": "float", "value": "nan"}, {"type": "float", "value": "-Infinity"}, {"type": "none"}],
       "outputs": [{"kind": "TOKEN", "type": "tensor"}, {"type": "int", "value": 3, "atol": 2}],
       "inputs_after": {"0": {"type": "float", "value": 1}},
       "state_after": {"count": {"type": "int", "value": 5}}}]})");
  INFO(fault(recorded));
  REQUIRE(recorded);
  CHECK(recorded->rtol == 0.5);
  CHECK(recorded->atol == 0);
  CHECK(recorded->check == "permutation");
  CHECK(recorded->check_outputs == std::vector<std::size_t>{1});
  const formats::RecordedRun& run = recorded->runs.at(0);
  CHECK(std::isnan(run.inputs[0].value().as_float()));
  CHECK(std::isinf(run.inputs[1].value().as_float()));
  CHECK(run.inputs[2].value().is_none());
  CHECK(run.outputs[0].opaque);
  CHECK(run.outputs[1].atol == 2);
  REQUIRE(run.inputs_after.size() == 1);
  CHECK(run.inputs_after[0].first == 0);
  REQUIRE(run.state_after.size() == 1);
  CHECK(run.state_after[0].first == "count");
  CHECK(run.state_after[0].second.value().as_int() == 5);
}

TEST_CASE("read_case names the place of a mistake") {
  CHECK(has(fault(read("{")), "cases.zip/c/case.json"));
  CHECK(has(fault(read(R"({"runs": []})")), "program"));
  CHECK(has(fault(read(R"({"program": "p", "runs": 3})")), "runs"));
  CHECK(has(fault(read(R"({"program": "p", "runs": []})")), "the case has no runs"));
  CHECK(has(fault(read(R"({"program": "p", "check": "clse", "runs": []})")), "it is not close"));
  CHECK(has(fault(read(R"({"program": "p", "rtol": "big", "runs": []})")), "rtol"));
  CHECK(has(fault(read(R"({"program": "p", "atol": -1, "runs": []})")), "atol"));
  const std::string none = R"([{"inputs": [], "outputs": [{"type": "none"}]}])";
  CHECK(has(fault(read(R"({"program": "p", "check_outputs": ["a"], "runs": )" + none + "}")), "check_outputs[0]"));
  CHECK(has(fault(read(R"({"program": "p", "check_outputs": [1], "runs": )" + none + "}")), "no output 1"));
  CHECK(has(fault(read(R"({"program": "p", "check_outputs": [-1], "runs": )" + none + "}")), "no output -1"));
  CHECK(has(fault(read(R"({"program": "p", "check_outputs": [], "runs": )" + none + "}")), "names no output"));
  CHECK(has(fault(read_input(R"({"type": "dict"})")), "value"));
  CHECK(has(fault(read_input(R"({"type": "int", "value": 1.5})")), "runs[0].inputs[0].value"));
  CHECK(has(fault(read_input(R"({"type": "tensor", "dtype": "int8", "shape": [4], "file": "four.npy"})")),
            "the file holds uint16, not int8"));
  CHECK(has(fault(read_input(R"({"type": "tensor", "dtype": "uint16", "shape": [5], "file": "four.npy"})")),
            "another shape"));
  CHECK(has(fault(read_input(R"({"type": "tensor", "dtype": "uint16", "shape": [4], "file": "bad.npy"})")), "bad.npy"));
  CHECK(has(fault(read_input(R"({"type": "tensor", "dtype": "uint16", "shape": [4], "file": "no.npy"})")), "no.npy"));
}

TEST_CASE("read_case refuses files outside the case and views outside the storage") {
  for (const char* name : {"../outside.npy", "/outside.npy"}) {
    const auto recorded =
        read_input(R"({"type": "tensor", "dtype": "uint16", "shape": [4], "file": ")" + std::string(name) + R"("})");
    CHECK(has(fault(recorded), "leaves the folder"));
  }
  for (const char* view :
       {R"("shape": [2], "strides": [4], "storage_offset": 0)", R"("shape": [2], "strides": [1], "storage_offset": 3)",
        R"("shape": [2], "strides": [1], "storage_offset": -1)",
        R"("shape": [2], "strides": [1, 1], "storage_offset": 0)",
        R"("shape": [-2], "strides": [1], "storage_offset": 0)",
        R"("shape": [4611686018427387904, 4611686018427387904], "strides": [0, 0], "storage_offset": 0)"}) {
    const auto recorded =
        read_input(R"({"type": "tensor", "dtype": "uint16", "storage_file": "four.npy", )" + std::string(view) + "}");
    CHECK_FALSE(recorded);
  }
}
