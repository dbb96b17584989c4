// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/torch_tensors.hpp"

#include <doctest/doctest.h>

#include <string>

#include "davit/formats/pt2/torch_save.hpp"
#include "support/pickle_text.hpp"

using namespace davit;
using namespace davit::formats;
using namespace pickle_text;

namespace {

Result<Tensor> read(const std::string& value, std::size_t storage_size = 24) {
  ZipFile file = saved(value);
  file.add("archive/data/0", std::string(storage_size, '\1'));
  Result<TorchSave> opened = TorchSave::open(file.bytes(), "t.pt");
  REQUIRE(opened);
  return opened->tensor();
}

std::string floats() { return storage("FloatStorage", "0", 6); }

void check_refused(const Result<Tensor>& tensor, std::string_view what, ErrorCode code = ErrorCode::corrupt_data) {
  REQUIRE(!tensor);
  CHECK(tensor.error().code == code);
  CHECK(tensor.error().where.view().starts_with("t.pt/archive/"));
  CHECK_MESSAGE(tensor.error().what.view().find(what) != std::string_view::npos, to_string(tensor.error()));
}

}  // namespace

TEST_CASE("tensors of each form") {
  const auto plain = read(tensor(floats(), 1, {2, 2}, {1, 2}));
  REQUIRE(plain);
  CHECK(plain->dtype == ScalarType::float32);
  CHECK(plain->sizes == std::vector<std::int64_t>{2, 2});
  CHECK(plain->strides == std::vector<std::int64_t>{1, 2});
  CHECK(plain->storage_offset == 1);
  CHECK(plain->storage.size() == 24);
  CHECK(!plain->requires_grad);

  CHECK(read(parameter(tensor(floats(), 0, {6}, {1})))->requires_grad);
  const std::string stateful =
      call("torch._utils", "_rebuild_parameter_with_state",
           tuple({tensor(floats(), 0, {6}, {1}), boolean(true), hooks, dict({text("a"), "N"})}));
  CHECK(read(stateful)->requires_grad);
  const std::string subclass =
      call("torch._tensor", "_rebuild_from_type_v2",
           tuple({global("torch._utils", "_rebuild_tensor_v2"), global("torch", "Tensor"),
                  tuple({floats(), integer(0), integers({6}), integers({1}), boolean(false), hooks}), "}"}));
  CHECK(read(subclass)->sizes == std::vector<std::int64_t>{6});
  const std::string typed = call("torch._utils", "_rebuild_tensor_v3",
                                 tuple({storage("UntypedStorage", "0", 24), integer(0), integers({12}), integers({1}),
                                        boolean(false), hooks, global("torch", "uint16")}));
  CHECK(read(typed)->dtype == ScalarType::uint16);
}

TEST_CASE("every storage class has its element type") {
  for (const davit::formats::detail::StorageClass& known : davit::formats::detail::storage_classes) {
    const auto found = read(tensor(storage(known.name, "0", 1), 0, {1}, {1}));
    REQUIRE(found);
    CHECK(found->dtype == known.dtype);
    CHECK(found->storage.size() == size_of(known.dtype));
  }
  check_refused(read(tensor(storage("QInt8Storage", "0", 1), 0, {1}, {1})), "'QInt8Storage' are not supported");
  check_refused(read(tensor(storage("UntypedStorage", "0", 1), 0, {1}, {1})), "are not supported");
}

TEST_CASE("other objects are refused") {
  check_refused(read("N"), "not a tensor");
  check_refused(read("NNR"), "not a tensor");
  check_refused(read(call("os", "system", tuple({text("ls")}))), "'os' 'system'", ErrorCode::unsupported_argument);
  check_refused(read(call("torch._utils", "_rebuild_qtensor", ")")), "_rebuild_qtensor",
                ErrorCode::unsupported_argument);
  check_refused(read(call("torch._utils", "_rebuild_tensor_v2", ")")), "too few parts");
  check_refused(read(call("torch._utils", "_rebuild_parameter", "N")), "too few arguments");
  check_refused(read(call("torch._tensor", "_rebuild_from_type_v2", ")")), "too few arguments");
}

TEST_CASE("damaged tensors are refused") {
  check_refused(read(tensor("N", 0, {6}, {1})), "no storage");
  check_refused(read(tensor("NQ", 0, {6}, {1})), "unknown way");
  check_refused(read(tensor(storage("FloatStorage", "9", 6), 0, {6}, {1})), "no such member", ErrorCode::not_found);
  check_refused(read(tensor(storage("FloatStorage", "0", 7), 0, {6}, {1})), "fewer than its 7 elements");
  check_refused(read(tensor(storage("FloatStorage", "0", -1), 0, {6}, {1})), "fewer than its -1 elements");
  check_refused(read(tensor(storage("FloatStorage", "0", INT64_MAX), 0, {6}, {1})), "fewer than its");
  check_refused(read(tensor(storage("FloatStorage", "0", 5), 0, {6}, {1})), "needs 24 bytes, its storage has 20",
                ErrorCode::invalid_shape);
  check_refused(read(tensor(floats(), 0, {7}, {1})), "needs 28 bytes", ErrorCode::invalid_shape);
  check_refused(read(tensor(floats(), 0, {-6}, {1})), "negative", ErrorCode::invalid_shape);
  check_refused(read(tensor(floats(), 0, {6}, {1, 1})), "1 sizes but 2 strides", ErrorCode::invalid_shape);
  check_refused(read(tensor(floats(), 0, std::vector<std::int64_t>(50, 1), {1})), "short tuple");
  const std::string sizes_of_text =
      call("torch._utils", "_rebuild_tensor_v2",
           tuple({floats(), integer(0), tuple({text("6")}), integers({1}), boolean(false), hooks}));
  check_refused(read(sizes_of_text), "short tuple of integers");
}

TEST_CASE("tensors of tensors of tensors end") {
  std::string value = tensor(floats(), 0, {6}, {1});
  for (int i = 0; i < 20; ++i) value = parameter(value);
  check_refused(read(value), "nested too deeply");
}
