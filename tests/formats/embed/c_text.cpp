// SPDX-License-Identifier: MIT
#include "davit/formats/embed/c_text.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "davit/backends/portable/embed.hpp"
#include "davit/formats/embed_program.hpp"
#include "davit/formats/pt2.hpp"
#include "support/data.hpp"

namespace {

using namespace davit;
using formats::CTensor;

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a C header has the sizes and element types as macros") {
  const formats::EmbedCText text(
      "toy", "a toy", {{.tensors = {{"x", ScalarType::float32, {2, 3}, false}, {"y", ScalarType::float16, {}, true}}}},
      48, false);
  const std::string header = text.header(), source = text.source();
  CHECK(has(header, "#define TOY_ARENA_BYTES 48\n"));
  CHECK(has(header,
            "#define TOY_X_TYPE float\n#define TOY_X_DTYPE \"float32\"\n#define TOY_X_COUNT 6\n#define TOY_X_RANK "
            "2\n#define TOY_X_SIZES {2, 3}\n"));
  CHECK(has(
      header,
      "#define TOY_Y_TYPE uint16_t\n#define TOY_Y_DTYPE \"float16\"\n#define TOY_Y_COUNT 1\n#define TOY_Y_RANK 0\n\n"));
  CHECK(has(header, "int toy_init(void* arena, size_t arena_bytes);"));
  CHECK(has(header, "int toy_forward(const float* x, uint16_t* y);"));
  CHECK_FALSE(has(header, "reset"));
  CHECK(has(source, "#include \"a toy.hpp\""));
  CHECK(has(source, "int toy_forward(const float* t0, uint16_t* t1) {"));
  CHECK(has(source,
            "std::span<const float, 6>(t0, 6), std::span<davit::Half, 1>(reinterpret_cast<davit::Half*>(t1), 1)"));
}

TEST_CASE("names that C does not allow, or that are equal in C, are changed") {
  const formats::EmbedCText text("m", "m",
                                 {{.tensors = {{"restrict", ScalarType::int8, {1}, false},
                                               {"X*/ y", ScalarType::int8, {1}, false},
                                               {"x__y", ScalarType::bool_, {1}, true}}}},
                                 0, false);
  CHECK(has(text.header(), "int m_forward(const int8_t* restrict_, const int8_t* X_y, bool* x_y_2);"));
  CHECK(has(text.header(), "#define M_X_Y_2_TYPE bool\n"));
}

TEST_CASE("methods are functions, with macros of their own, over one state") {
  const formats::EmbedCText text("m", "m",
                                 {{.name = "go", .tensors = {{"x_y", ScalarType::int8, {1}, false}}},
                                  {.name = "go_x", .tensors = {{"y", ScalarType::int8, {2}, true}}}},
                                 16, true);
  const std::string header = text.header(), source = text.source();
  CHECK(has(header, "/* go reads it */\n#define M_GO_X_Y_TYPE int8_t\n"));
  CHECK(has(header, "/* go_x writes it */\n#define M_GO_X_Y_2_TYPE int8_t\n"));  // not the other method's
  CHECK(has(header, "int m_go(const int8_t* x_y);\nint m_go_x(int8_t* y_2);\n"));
  CHECK(has(header, "void m_reset(void);"));
  CHECK(has(source, "void m_reset(void) { davit_model.reset(); }"));
  CHECK(has(source, "int m_go_x(int8_t* t0) {\n  return davit_model.call<m::go_x>(std::span<int8_t, 2>(t0, 2));\n}\n"));
}

TEST_CASE("sizes that come with the call are the first arguments, and macros say the largest") {
  CTensor x{"s0", ScalarType::float32, {2, 4}, false};
  x.join({"s0", ScalarType::float32, {7, 3}, false});
  CHECK(x.sizes == std::vector<std::int64_t>{7, 4});
  const formats::EmbedCText text("m", "m", {{.tensors = {x}, .dims = {{.symbol = "s0", .first = 2, .last = 7}}}}, 0,
                                 false);
  CHECK(has(text.header(), "#define M_S0_2_MIN 2\n#define M_S0_2_MAX 7\n"));
  CHECK(has(text.header(), "int m_forward(int64_t s0_2, const float* s0);"));
  CHECK(has(text.source(),
            "int m_forward(std::int64_t d0, const float* t0) {\n  return davit_model.call<m>(davit::with_dims(d0), "
            "std::span<const float, 28>(t0, 28));"));
}

TEST_CASE("C functions are written with the arena that the compiler will plan") {
  const auto program = formats::read_pt2(test_data("models/digits_cnn_b1/program.pt2"));
  REQUIRE(program.has_value());
  const auto embedded = formats::embed_program(*program, {.name = "cnn", .plan = &plan_static<portable_static>});
  REQUIRE(embedded.has_value());
  CHECK(has(embedded->c_header, "int cnn_forward(const float* input, float* addmm);"));
  CHECK(has(embedded->c_header, "#define CNN_INPUT_SIZES {1, 1, 8, 8}\n"));
  CHECK(has(embedded->c_source, "static_assert(davit_module::arena_bytes == CNN_ARENA_BYTES"));
  const auto plain = formats::embed_program(*program, {.name = "cnn"});
  REQUIRE(plain.has_value());
  CHECK(plain->c_header.empty());
  CHECK(plain->header == embedded->header);
}
