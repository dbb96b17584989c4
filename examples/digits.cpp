// SPDX-License-Identifier: MIT
// The main use: a network trained and exported by PyTorch classifies the 360 held-out images of the UCI digits.

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

int fail(const Error& error) { return std::fprintf(stderr, "digits: %s\n", to_string(error).c_str()), 2; }

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
  const auto pixels = images->as<float>();
  const auto expected = recorded->as<float>();
  const auto truth = labels->as<std::int64_t>();
  for (const Error* error :
       {pixels ? nullptr : &pixels.error(), expected ? nullptr : &expected.error(), truth ? nullptr : &truth.error()})
    if (error != nullptr) return fail(*error);
  const std::size_t count = truth->size();
  if (count == 0 || pixels->size() != 64 * count || expected->size() != 10 * count)
    return fail(Error{.code = ErrorCode::invalid_shape,
                      .where = Name(data.string()),
                      .what = "images, labels and logits do not belong together"});

  const auto lowered = to_backend<portable>(*program);
  if (!lowered) return fail(lowered.error());
  Result<Session> session = Session::make(*lowered);
  if (!session) return fail(session.error());
  using Clock = std::chrono::steady_clock;
  double best = 1e30;
  Result<std::span<const float>> logits;
  for (int i = 0; i < 20; ++i) {
    const auto begin = Clock::now();
    const Result<Outputs> outputs = session->run("forward", *images);
    best = std::min(best, std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    if (!outputs) return fail(outputs.error());
    logits = (*outputs)[0].as<float>();
    if (!logits) return fail(logits.error());
  }
  if (logits->size() != expected->size())
    return fail(Error{.code = ErrorCode::invalid_shape, .stage = Stage::execute, .what = "no ten logits per image"});
  std::size_t right = 0;
  float gap = 0;
  std::vector<std::int64_t> predicted;
  for (std::size_t i = 0; i < count; ++i) {
    const std::span<const float> scores = logits->subspan(i * 10, 10);
    for (std::size_t d = 0; d < 10; ++d) {
      const float difference = std::fabs(scores[d] - (*expected)[i * 10 + d]);
      if (!(difference <= gap)) gap = std::isnan(gap) ? gap : difference;
    }
    predicted.push_back(std::ranges::max_element(scores) - scores.begin());
    right += predicted[i] == (*truth)[i] ? 1 : 0;
  }
  for (std::size_t i = 0; i < count && i < 3; ++i) draw(pixels->data() + i * 64, predicted[i], (*truth)[i]);
  const double accuracy = static_cast<double>(right) / static_cast<double>(count);
  std::printf("partition  backend   nodes  ms for %zu images\n", count);
  std::printf("%-10s %-9s %5zu  %.3f\n", "forward", "portable", program->graph_module.nodes.size(), best);
  std::printf("largest difference from PyTorch's logits: %.2e\n", static_cast<double>(gap));
  std::printf("accuracy: %.4f (%zu of %zu)\n", accuracy, right, count);
  return accuracy >= 0.97 && gap <= 1e-4f ? 0 : 1;
}
