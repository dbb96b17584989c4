// SPDX-License-Identifier: MIT
#include "davit/formats/npy.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "davit/formats/mapped_file.hpp"
#include "support/data.hpp"
#include "support/zip_file.hpp"

namespace {

using namespace davit;

/// A .npy file with that header and data.
std::string npy(std::string_view header, std::string_view data, int version = 1) {
  return "\x93NUMPY" + ZipFile::number(static_cast<std::uint64_t>(version), 1) + ZipFile::number(0, 1) +
         ZipFile::number(header.size(), version == 1 ? 2 : 4) + std::string(header) + std::string(data);
}
Result<Tensor> read(std::string_view header, std::string_view data, int version = 1) {
  return formats::read_npy(bytes_of(npy(header, data, version)), "a.npy");
}
ErrorCode code_of(const Result<Tensor>& result) { return result ? ErrorCode::ok : result.error().code; }

/// A path that is removed after the test.
struct TemporaryFile {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("davit_npy_" + std::to_string(::getpid()) + ".npy");
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

}  // namespace

TEST_CASE("read_npy reads files of numpy") {
  const auto tensor = formats::read_npy(test_data("models/digits_cnn/r0_in0.npy"));
  REQUIRE(tensor);
  CHECK(tensor->dtype == ScalarType::float32);
  CHECK(tensor->sizes.size() == 4);
  CHECK(tensor->view().is_contiguous());
}

TEST_CASE("read_npy reads all three versions and scalars") {
  const std::string three("\1\0\2\0\3\0", 6);
  for (const int version : {1, 2, 3}) {
    const auto tensor = read("{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }\n", three, version);
    REQUIRE(tensor);
    CHECK(tensor->sizes == std::vector<std::int64_t>{3});
    CHECK(tensor->view().as<std::int16_t>()[2] == 3);
  }
  const auto scalar = read("{'descr': '|u1', 'fortran_order': False, 'shape': ()}", "\7");
  REQUIRE(scalar);
  CHECK(scalar->sizes.empty());
  CHECK(*scalar->view().as<std::uint8_t>() == 7);
  const auto nothing = read("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4)}", "");
  REQUIRE(nothing);
  CHECK(nothing->numel() == 0);
}

TEST_CASE("read_npy keeps Fortran order as strides") {
  const auto tensor = read("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}", "\1\2\3\4\5\6");
  REQUIRE(tensor);
  CHECK(tensor->strides == std::vector<std::int64_t>{1, 2});
}

TEST_CASE("read_npy refuses damaged files") {
  CHECK(code_of(formats::read_npy(bytes_of("PK\3\4 no array here"), "a.npy")) == ErrorCode::corrupt_data);
  CHECK(code_of(formats::read_npy(SharedBytes(), "a.npy")) == ErrorCode::corrupt_data);
  CHECK(code_of(read("{}", "")) == ErrorCode::corrupt_data);
  CHECK(code_of(read("{'descr': '<f4', 'shape': (1,)}", "1234", 9)) == ErrorCode::corrupt_data);
  CHECK(code_of(read("{'descr': '<f4', 'shape': (2,)}", "1234567")) == ErrorCode::corrupt_data);
  CHECK(code_of(read("{'descr': '<f4', 'shape': (-1,)}", "1234")) == ErrorCode::corrupt_data);
  CHECK(code_of(read("{'descr': '<f4', 'shape': (1x)}", "1234")) == ErrorCode::corrupt_data);
  CHECK(code_of(read("{'descr': '<f4', 'shape': (1", "1234")) == ErrorCode::corrupt_data);
  CHECK(code_of(read("{'descr': '<f4'", "1234")) == ErrorCode::corrupt_data);
  CHECK(code_of(read("{'descr': [('a', '<f4')], 'shape': (1,)}", "1234")) == ErrorCode::corrupt_data);
  CHECK(code_of(read("{'descr': '>f4', 'shape': (1,)}", "1234")) == ErrorCode::invalid_dtype);
  CHECK(code_of(read("{'descr': '|O', 'shape': (1,)}", "1234")) == ErrorCode::invalid_dtype);
  CHECK(code_of(read("{'descr': '|b1', 'shape': (1,)}", "\2")) == ErrorCode::corrupt_data);
  CHECK(code_of(formats::read_npy(test_data("no such file.npy"))) == ErrorCode::io_error);
}

TEST_CASE("read_npy refuses sizes with an overflowing product, also beside a size of 0") {
  for (const char* shape :
       {"(9223372036854775807, 9223372036854775807)", "(0, 4611686018427387904, 4611686018427387904)",
        "(99999999999999999999,)", "(4611686018427387904,)"}) {
    for (const char* order : {"False", "True"}) {
      const std::string header =
          std::string("{'descr': '<f4', 'fortran_order': ") + order + ", 'shape': " + shape + "}";
      CHECK(code_of(read(header, "1234")) == ErrorCode::corrupt_data);
    }
  }
  std::string many = "{'descr': '<f4', 'shape': (";
  for (int i = 0; i < 17; ++i) many += "1, ";
  CHECK(code_of(read(many + ")}", "1234")) == ErrorCode::corrupt_data);
}

TEST_CASE("read_npy gives an error for every shortened header") {
  const std::string whole = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "1234");
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK_FALSE(formats::read_npy(bytes_of(std::string_view(whole).substr(0, size)), "a.npy"));
}

TEST_CASE("read_npy reads files of write_npy") {
  const TemporaryFile file;
  for (const ScalarType type :
       {ScalarType::float32, ScalarType::float64, ScalarType::float16, ScalarType::int64, ScalarType::int32,
        ScalarType::int16, ScalarType::int8, ScalarType::uint8, ScalarType::bool_, ScalarType::uint16,
        ScalarType::uint32, ScalarType::uint64, ScalarType::complex64, ScalarType::complex128, ScalarType::bfloat16}) {
    for (const std::vector<std::int64_t>& sizes : {std::vector<std::int64_t>{}, {3}, {2, 3}, {0, 2}, {1, 2, 1, 3}}) {
      Tensor tensor = Tensor::zeros(type, sizes);
      if (!tensor.storage.empty()) tensor.storage.writable()[0] = std::byte{1};
      REQUIRE(formats::write_npy(file.path, tensor.view()));
      const auto back = formats::read_npy(file.path);
      REQUIRE(back);
      CHECK(back->dtype == type);
      CHECK(back->sizes == sizes);
      CHECK(std::ranges::equal(back->storage.bytes(), tensor.storage.bytes()));
    }
  }
}

TEST_CASE("read_npy reads numpy's file of an ml_dtypes bfloat16 array, also after numpy saved it again") {
  for (const char* descr : {"<V2", "|V2"}) {
    const auto tensor = read(std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': (2,), }\n",
                             std::string_view("\x80\x3f\x20\xc1", 4));
    REQUIRE(tensor);
    CHECK(tensor->dtype == ScalarType::bfloat16);
    CHECK(static_cast<float>(tensor->view().as<BFloat16>()[0]) == 1.0f);
    CHECK(static_cast<float>(tensor->view().as<BFloat16>()[1]) == -10.0f);
  }
  CHECK(code_of(read("{'descr': '|V4', 'shape': (1,)}", "1234")) == ErrorCode::invalid_dtype);
}

TEST_CASE("write_npy writes strided tensors in C order, and bfloat16 as numpy does") {
  const TemporaryFile file;
  std::array<std::int16_t, 6> data{1, 2, 3, 4, 5, 6};
  const std::array<std::int64_t, 2> sizes{3, 2};
  const std::array<std::int64_t, 2> strides{1, 3};
  REQUIRE(formats::write_npy(file.path, {data.data(), sizes.data(), strides.data(), 2, ScalarType::bfloat16}));
  const auto text = formats::map_file(file.path);
  REQUIRE(text);
  CHECK(std::string_view(reinterpret_cast<const char*>(text->data()), text->size()).contains("'descr': '<V2'"));
  const auto back = formats::read_npy(file.path);
  REQUIRE(back);
  CHECK(back->dtype == ScalarType::bfloat16);
  const std::array<std::uint16_t, 6> expected{1, 4, 2, 5, 3, 6};
  CHECK(std::ranges::equal(std::span(back->view().as<std::uint16_t>(), 6), expected));
}

TEST_CASE("write_npy reports failures") {
  const Tensor half = Tensor::zeros(ScalarType::float8_e5m2, std::array<std::int64_t, 1>{1});
  const auto no_type = formats::write_npy("unused.npy", half.view());
  REQUIRE_FALSE(no_type);
  CHECK(no_type.error().code == ErrorCode::invalid_dtype);
  const Tensor one = Tensor::zeros(ScalarType::int8, std::array<std::int64_t, 1>{1});
  const auto no_folder = formats::write_npy("/no such folder/a.npy", one.view());
  REQUIRE_FALSE(no_folder);
  CHECK(no_folder.error().code == ErrorCode::io_error);
}
