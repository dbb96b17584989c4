// SPDX-License-Identifier: MIT
// A model with state: the deviation of sensors from their past values. The session owns the state; each run updates it.
//   streaming anomaly.pt2
#include <davit/davit.hpp>
#include <davit/formats/pt2.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

int fail(const davit::Error& error) { return std::fprintf(stderr, "%s\n", to_string(error).c_str()), 1; }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: streaming anomaly.pt2\n"), 2;
  const auto program = davit::formats::read_pt2(argv[1]);
  if (!program) return fail(program.error());
  const auto lowered = davit::to_backend<davit::portable>(*program);
  if (!lowered) return fail(lowered.error());
  auto session = davit::Session::make(*lowered);  // another session would have its own state
  if (!session) return fail(session.error());

  std::vector<float> frame(4);
  for (int t = 0; t < 100; ++t) {
    for (std::size_t i = 0; i < frame.size(); ++i)
      frame[i] = 20 + std::sin(0.7F * static_cast<float>(t) + static_cast<float>(i));
    if (t == 80) frame[2] += 9;  // the anomaly
    const auto outputs = session->run("forward", davit::tensor(frame, {4}));
    if (!outputs) return fail(outputs.error());
    const auto scores = (*outputs)[0].as<float>();
    if (!scores) return fail(scores.error());
    const auto most = std::ranges::max_element(*scores);
    if (t > 50 && *most > 4)
      std::printf("frame %d: sensor %zu is %.1f deviations away\n", t, static_cast<std::size_t>(most - scores->begin()),
                  static_cast<double>(*most));
  }
  for (const davit::NamedTensor& entry : session->state())
    if (entry.name == "mean")
      std::printf("the first sensor's mean is %.1f\n", static_cast<double>(entry.tensor.view().as<float>()[0]));
}
