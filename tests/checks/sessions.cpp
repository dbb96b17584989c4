// SPDX-License-Identifier: MIT
// Generates text with a decoder that keeps its attention keys and values between calls, and keeps the state in a file
// between processes: the program of tests/checks/sessions.
//   sessions rhyme.davit STATE TEXT COUNT    continues TEXT from STATE (of no text: from the beginning)
//   sessions rhyme.davit fork                the bytes that forks copy
#include <davit/backends/portable.hpp>
#include <davit/backends/portable/float_inference_implementation.hpp>
#include <davit/backends/portable/indexing_implementation.hpp>
#include <davit/backends/portable/integers_implementation.hpp>
#include <davit/core/value_or_exit.hpp>
#include <davit/formats/checkpoint.hpp>
#include <davit/formats/package.hpp>
#include <davit/loader_implementation.hpp>
#include <davit/runtime/session.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Backends =
    davit::BackendList<davit::portable_of<davit::ops::float_inference, davit::ops::integers, davit::ops::indexing>>;
using davit::value_or_exit;
constexpr std::string_view letters = " .abcdefghijklmnopqrstuvwxyz";

/// Returns the letter that follows `letter` at `place`.
char next(davit::Session& session, char letter, std::size_t place) {
  const std::vector<std::int64_t> index{static_cast<std::int64_t>(letters.find(letter))},
      at{static_cast<std::int64_t>(place)};
  const auto outputs = value_or_exit(session.run("forward", davit::tensor(index, {1}), davit::tensor(at, {1})));
  const auto scores = value_or_exit(outputs[0].as<float>());
  return letters[static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin())];
}
/// Appends `count` letters to a text that begins with the decoder's first letter.
void go_on(davit::Session& session, std::string& text, long count) {
  for (; count > 0; --count) text.push_back(next(session, text.back(), text.size() - 1));
}

int forks(davit::Session& session) {
  std::string text = "t";
  go_on(session, text, 20);
  std::size_t cache = 0;
  for (const davit::NamedTensor& buffer : session.state()) cache += buffer.tensor.view().nbytes();
  davit::Session other = value_or_exit(session.fork());
  std::printf("cache: %zu bytes; the fork shares %zu", cache, other.shared_state_bytes());
  std::string same = text;
  go_on(other, same, 1);
  std::printf(", after its next token %zu\n", other.shared_state_bytes());
  go_on(other, same, 33);
  go_on(session, text, 34);
  std::printf("%s\n%s\n", text.c_str(), same.c_str());
  // an earlier position: the rows behind it are written again
  text.resize(11);
  go_on(session, text, 44);
  std::printf("%s\n", text.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 5) return std::fprintf(stderr, "usage: sessions PACKAGE STATE TEXT COUNT\n"), 2;
  auto session =
      value_or_exit(davit::Session::make(value_or_exit(davit::formats::load_program<Backends>(std::string(argv[1])))));
  if (argc == 3) return forks(session);
  std::string text = argv[3];
  if (!text.empty()) value_or_exit(davit::formats::load_state(session, std::string(argv[2])));
  if (text.empty()) text = "t";
  go_on(session, text, std::atol(argv[4]));
  value_or_exit(davit::formats::save_state(session, std::string(argv[2])));
  std::printf("%s\n", text.c_str());
}
