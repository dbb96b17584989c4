// SPDX-License-Identifier: MIT
// The main job: a network that PyTorch trained and exported classifies the 360 held-out images of the UCI digits.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>
#include <vector>

#include "davit/backends/portable.hpp"
#include "davit/formats/npy.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"

namespace {

using namespace davit;

int fail(const Error& error) {
  std::fprintf(stderr, "digits: %s\n", to_string(error).c_str());
  return 2;
}

void draw(const float* image, std::int64_t predicted, std::int64_t label) {
  constexpr const char* shades[] = {"  ", "░░", "▒▒", "▓▓", "██"};
  for (int row = 0; row < 8; ++row) {
    std::printf("  ");
    for (int column = 0; column < 8; ++column) {
      const float shade = std::fmin(std::fmax(image[row * 8 + column], 0.0f), 1.0f);  // NaN gives 0
      std::printf("%s", shades[std::lround(shade * 4.0f)]);
    }
    if (row == 3) std::printf("   is a %lld", static_cast<long long>(predicted));
    if (row == 4) std::printf("   (label %lld)", static_cast<long long>(label));
    std::printf("\n");
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path data = argc > 1 ? argv[1] : DAVIT_EXAMPLE_DATA;
  const auto program = formats::read_pt2(data / "digits_cnn.pt2");
  if (!program) return fail(program.error());
  const auto images = formats::read_npy(data / "images.npy");
  const auto labels = formats::read_npy(data / "labels.npy");
  const auto recorded = formats::read_npy(data / "logits.npy");
  for (const auto* file : {&images, &labels, &recorded})
    if (!*file) return fail(file->error());
  const TensorView image = images->view();
  const std::int64_t count = image.rank == 4 ? image.size(0) : 0;
  if (count == 0 || image.numel() != 64 * count || !image.is_contiguous() || image.dtype != ScalarType::float32 ||
      labels->dtype != ScalarType::int64 || labels->numel() != count || recorded->dtype != ScalarType::float32 ||
      recorded->numel() != 10 * count || !recorded->view().is_contiguous())
    return fail(Error{.code = ErrorCode::invalid_shape,
                      .where = Name(data.string()),
                      .what = "images, labels and logits do not belong together"});

  const auto lowered = to_backend<portable>(*program);
  if (!lowered) return fail(lowered.error());
  Session session = *Session::make(*lowered);
  const EValue input(image);
  using Clock = std::chrono::steady_clock;
  double best = 1e30;
  Result<std::span<const EValue>> outputs = std::span<const EValue>{};
  for (int i = 0; i < 20; ++i) {
    const auto begin = Clock::now();
    outputs = session.run("forward", std::span(&input, 1));
    best = std::min(best, std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    if (!outputs) return fail(outputs.error());
  }

  const TensorView* output = outputs->size() == 1 ? (*outputs)[0].tensor_if() : nullptr;
  if (output == nullptr || output->dtype != ScalarType::float32 || output->numel() != 10 * count ||
      !output->is_contiguous())
    return fail(Error{
        .code = ErrorCode::invalid_shape, .stage = Stage::execute, .what = "the model gives no ten logits per image"});
  const float* logits = output->as<float>();
  const float* expected = recorded->view().as<float>();
  const std::int64_t* truth = labels->view().as<std::int64_t>();
  std::int64_t right = 0;
  float gap = 0;
  std::vector<std::int64_t> predicted;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t digit = 0;
    for (std::int64_t d = 0; d < 10; ++d) {
      if (logits[i * 10 + d] > logits[i * 10 + digit]) digit = d;
      const float difference = std::fabs(logits[i * 10 + d] - expected[i * 10 + d]);
      if (!(difference <= gap)) gap = std::isnan(gap) ? gap : difference;
    }
    predicted.push_back(digit);
    right += digit == truth[i] ? 1 : 0;
  }
  for (std::int64_t i = 0; i < std::min<std::int64_t>(count, 3); ++i)
    draw(image.as<float>() + i * 64, predicted[static_cast<std::size_t>(i)], truth[i]);
  const double accuracy = static_cast<double>(right) / static_cast<double>(count);
  std::printf("partition  backend   nodes  ms for %lld images\n", static_cast<long long>(count));
  std::printf("%-10s %-9s %5zu  %.3f\n", "forward", "portable", program->graph_module.nodes.size(), best);
  std::printf("largest difference from PyTorch's logits: %.2e\n", static_cast<double>(gap));
  std::printf("accuracy: %.4f (%lld of %lld)\n", accuracy, static_cast<long long>(right),
              static_cast<long long>(count));
  return accuracy >= 0.97 && gap <= 1e-4f ? 0 : 1;
}
