// SPDX-License-Identifier: MIT
// One lowered program, one session per thread: programs are immutable and shared, sessions are not.
//   threads MODEL.pt2 IMAGES.npy [THREADS]
#include <davit/davit.hpp>
#include <davit/formats/npy.hpp>
#include <davit/formats/pt2.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <thread>
#include <vector>

namespace {

int fail(const davit::Error& error) { return std::fprintf(stderr, "%s\n", to_string(error).c_str()), 1; }

/// Classifies images `first` to `last` of a batch.
std::optional<davit::Error> classify(davit::Session& session, const davit::Tensor& images, std::int64_t first,
                                     std::int64_t last, std::int64_t* classes) {
  const std::int64_t pixels = images.numel() / images.sizes[0];
  const float* const at = images.view().as<float>();
  std::vector<std::int64_t> sizes = images.sizes;
  sizes[0] = 1;
  for (std::int64_t i = first; i < last; ++i) {
    const auto outputs =
        session.run("forward", davit::tensor(std::span(at + i * pixels, static_cast<std::size_t>(pixels)), sizes));
    if (!outputs) return outputs.error();
    const auto scores = (*outputs)[0].as<float>();
    if (!scores) return scores.error();
    classes[i] = std::ranges::max_element(*scores) - scores->begin();
  }
  return std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: threads model.pt2 images.npy [threads]\n"), 2;
  const auto program = davit::formats::read_pt2(argv[1]);
  if (!program) return fail(program.error());
  const auto images = davit::formats::read_npy(argv[2]);
  if (!images) return fail(images.error());
  if (!images->as<float>() || images->sizes.empty() || images->sizes[0] == 0)
    return std::fprintf(stderr, "the images are no floats\n"), 1;
  const auto lowered = davit::to_backend<davit::portable>(*program);
  if (!lowered) return fail(lowered.error());

  const std::int64_t threads = argc > 3 ? std::clamp(std::atoi(argv[3]), 1, 64) : 4;
  const std::int64_t count = images->sizes[0];
  std::vector<std::int64_t> classes(static_cast<std::size_t>(count));
  std::vector<std::optional<davit::Error>> errors(static_cast<std::size_t>(threads));
  std::vector<std::thread> running;
  for (std::int64_t t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      auto session = davit::Session::make(*lowered);
      errors[static_cast<std::size_t>(t)] =
          session ? classify(*session, *images, t * count / threads, (t + 1) * count / threads, classes.data())
                  : std::optional(session.error());
    });
  for (std::thread& each : running) each.join();
  for (const auto& error : errors)
    if (error) return fail(*error);
  std::vector<int> seen(10);
  for (const std::int64_t c : classes) ++seen[static_cast<std::size_t>(c)];
  for (std::size_t digit = 0; digit < seen.size(); ++digit) std::printf("%zu: %d images\n", digit, seen[digit]);
}
