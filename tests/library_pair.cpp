// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "davit/backends/onednn.hpp"
#include "davit/backends/portable.hpp"
#include "davit/backends/xnnpack.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/testing/backend_laws.hpp"
#include "support/net.hpp"

// both libraries in one list: the default partitioner decides by their offload costs, in either order

using namespace davit;
using support::Net;

namespace {

using OneDnnFirst = BackendList<onednn, xnnpack, portable>;
using XnnpackFirst = BackendList<xnnpack, onednn, portable>;

/// The partitions of a program, by name.
template <class List>
[[nodiscard]] std::string partitions(const ExportedProgram& program) {
  const auto parts = CapabilityPartitioner<List>().partition(Method{"forward", &program});
  if (!parts) return to_string(parts.error());
  std::string text;
  for (const Name& name : parts->tags.names) text += (text.empty() ? "" : " ") + std::string(name.view());
  return text;
}
[[nodiscard]] bool both(const ExportedProgram& program, std::string_view wanted) {
  const std::string first = partitions<OneDnnFirst>(program), second = partitions<XnnpackFirst>(program);
  CAPTURE(first);
  CAPTURE(second);
  CHECK(first == wanted);
  CHECK(second == wanted);
  return first == wanted && second == wanted;
}

/// Convolutions of so many channels, with relus between them.
[[nodiscard]] ExportedProgram convolutions(std::int64_t channels, std::int64_t size) {
  Net n;
  auto x = n.input("x", {1, channels, size, size});
  const auto w = n.weight("w", {channels, channels, 3, 3}, 0.1);
  for (const std::string_view name : {"a", "b", "c"})
    x = n.relu(name,
               n.conv(name == "a"   ? "ca"
                      : name == "b" ? "cb"
                                    : "cc",
                      x, w, {1, channels, size, size}, 1, 1),
               {1, channels, size, size});
  return n.finish({x});
}

/// Causal convolutions, as in a temporal convolutional network: padded on both sides, then sliced.
[[nodiscard]] ExportedProgram causal(std::int64_t channels, std::int64_t length) {
  Net n;
  auto x = n.input("x", {1, channels, length});
  const auto w = n.weight("w", {channels, channels, 3}, 0.1);
  int layer = 0;
  for (const std::int64_t dilation : {1, 2, 4, 8}) {
    const std::int64_t pad = 2 * dilation;
    const std::string at = std::to_string(layer++);
    const auto wide = n.op("aten.conv1d.default", "wide" + at, {1, channels, length + pad},
                           {{"input", n.v(x)},
                            {"weight", n.v(w)},
                            {"bias", {}},
                            {"stride", n.ints({1})},
                            {"padding", n.ints({pad})},
                            {"dilation", n.ints({dilation})}});
    const auto cut = n.op("aten.slice.Tensor", "cut" + at, {1, channels, length},
                          {{"self", n.v(wide)}, {"dim", n.i(2)}, {"start", n.i(0)}, {"end", n.i(length)}});
    x = n.relu("r" + at, cut, {1, channels, length});
  }
  return n.finish({x});
}

template <class B>
[[nodiscard]] std::string broken_laws(const ExportedProgram& program, std::span<const EValue> sample) {
  std::string text;
  const testing::SampleInputs samples[] = {sample};
  (void)testing::check_backend_laws<B>(program, {}, samples, [&](std::string_view law, std::string_view what) {
    text += std::string(law) + ": " + std::string(what) + "\n";
  });
  return text;
}

}  // namespace

TEST_CASE("windows on many channels go to oneDNN, which computes them by Winograd's algorithm") {
  REQUIRE(onednn::is_available());
  REQUIRE(xnnpack::is_available());
  CHECK(both(convolutions(64, 28), "onednn_0"));
  CHECK(both(convolutions(32, 16), "onednn_0"));
}

TEST_CASE("channels that do not fill oneDNN's blocks go to XNNPACK") { CHECK(both(convolutions(24, 20), "xnnpack_0")); }

TEST_CASE("short series of few channels go to XNNPACK, which has less to do between its kernels") {
  CHECK(both(causal(16, 128), "xnnpack_0"));
}

TEST_CASE("depthwise convolutions go to oneDNN, whose kernels are twice as fast") {
  Net n;
  const auto x = n.input("x", {1, 32, 28, 28});
  const auto wide = n.conv("wide", x, n.weight("w0", {192, 32, 1, 1}, 0.1), {1, 192, 28, 28});
  const auto depth = n.conv("depth", wide, n.weight("w1", {192, 1, 3, 3}, 0.1), {1, 192, 28, 28}, 1, 1, 192);
  CHECK(both(n.finish({n.conv("narrow", depth, n.weight("w2", {32, 192, 1, 1}, 0.1), {1, 32, 28, 28})}), "onednn_0"));
}

TEST_CASE("estimates that hardly differ leave a region to the first of the list") {
  Net n;
  const auto x = n.input("x", {1, 96, 14, 14});
  const auto wide = n.conv("wide", x, n.weight("w0", {576, 96, 1, 1}, 0.1), {1, 576, 14, 14});
  const ExportedProgram program =
      n.finish({n.conv("narrow", wide, n.weight("w1", {96, 576, 1, 1}, 0.1), {1, 96, 14, 14})});
  CHECK(partitions<OneDnnFirst>(program) == "onednn_0");
  CHECK(partitions<XnnpackFirst>(program) == "xnnpack_0");
}

TEST_CASE("both keep the law of costs") {
  Net n;
  const auto x = n.input("x", {1, 16, 8, 8});
  const ExportedProgram program = n.finish({n.conv("y", x, n.weight("w", {16, 16, 3, 3}, 0.1), {1, 16, 8, 8}, 1, 1)});
  CHECK(broken_laws<onednn>(program, n.sample()) == "");
  CHECK(broken_laws<xnnpack>(program, n.sample()) == "");
}
