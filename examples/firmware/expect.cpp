// SPDX-License-Identifier: MIT
// Runs on the host: writes a header with the first test images and the results of the same static modules.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

// only the part of davit's definitions that reads .npy files
#include "davit/formats/impl/definitions.ipp"
#include "davit/formats/impl/file_kind.ipp"
#include "davit/formats/impl/mapped_file.ipp"
#include "davit/formats/impl/npy.ipp"
#include "davit/formats/npy.hpp"
#include "davit/impl/core.cpp"
#include "digits.hpp"

namespace {

constexpr std::size_t count = 40;

template <class Module>
void write_scores(const char* name, const std::array<digits::Image, count>& images) {
  static Module module;
  static digits::Arena arena;
  std::printf("inline constexpr digits::Scores %s[] = {\n", name);
  for (const digits::Image& image : images) {
    digits::Scores scores{};
    (void)module.forward(arena, image, scores);
    std::printf("  {");
    for (const float score : scores) std::printf("%aF, ", static_cast<double>(score));
    std::printf("},\n");
  }
  std::printf("};\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto pixels = davit::formats::read_npy(argv[1]);
  const auto labels = davit::formats::read_npy(argv[2]);
  if (!pixels || !labels || pixels->dtype != davit::ScalarType::float32 || labels->dtype != davit::ScalarType::int64)
    return 2;
  static std::array<digits::Image, count> images;
  const auto* pixel = static_cast<const float*>(pixels->view().data);
  const auto* label = static_cast<const std::int64_t*>(labels->view().data);
  if (pixels->numel() < static_cast<std::int64_t>(count * 64) || labels->numel() < static_cast<std::int64_t>(count))
    return 2;
  std::printf("#pragma once\n#include \"digits.hpp\"\ninline constexpr digits::Image images[] = {\n");
  for (digits::Image& image : images) {
    std::printf("  {");
    for (float& value : image) std::printf("%aF, ", static_cast<double>(value = *pixel++));
    std::printf("},\n");
  }
  std::printf("};\ninline constexpr std::size_t labels[] = {");
  for (std::size_t i = 0; i < count; ++i) std::printf("%d, ", static_cast<int>(label[i]));
  std::printf("};\n");
  write_scores<digits::Float>("float_scores", images);
  write_scores<digits::Int8>("int8_scores", images);
}
