// SPDX-License-Identifier: MIT
#include "davit/backend/embed_delegate.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "davit/embed/select_steps.hpp"
#include "davit/embed/static_module.hpp"
#include "support/static_toy.hpp"

namespace {

using namespace davit;
using namespace static_toy;
using Four = std::array<float, 4>;

constexpr BlobKey key{3, -77, 4};
/// A header and a payload: the factor 2.
constexpr std::array<std::uint8_t, 32> blob_with(std::int32_t fingerprint) {
  std::array<std::uint8_t, 32> out{};
  const auto header =
      std::bit_cast<std::array<std::uint8_t, 16>>(BlobHeader{.key = {key.version, fingerprint, key.bytes}});
  for (std::size_t i = 0; i < header.size(); ++i) out[i] = header[i];
  const auto factor = std::bit_cast<std::array<std::uint8_t, 4>>(2.0f);
  for (std::size_t i = 0; i < factor.size(); ++i) out[16 + i] = factor[i];
  return out;
}

/// scaled = delegate(x, 7); y = scaled + x
template <int version, bool is_own>
constexpr GraphModule make_delegated() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId blob = b.input("blob", ScalarType::uint8, {2, 16}), x = b.input("x", f32, {4}),
                scaled = b.tensor("scaled", f32, {4});
  const std::array passed{b.value(x), b.integer(7)};
  std::array inputs{b.string(is_own ? "scaler" : "other"),
                    b.value(blob),
                    b.integer(version),
                    b.integer(key.fingerprint),
                    b.integer(key.bytes),
                    b.integer(16),
                    b.list(passed, ArgumentKind::value)};
  constexpr std::array<std::string_view, 7> names{"backend", "blob",          "blob_version", "fingerprint",
                                                  "bytes",   "scratch_bytes", "inputs"};
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].name = b.intern(names[i]);
  b.node(call_delegate_target, inputs, std::array{b.value(scaled)});
  b.end_graph({add(b, "y", scaled, x)});
  return std::move(b).finish();
}
inline constexpr auto blob = blob_with(key.fingerprint), stale_blob = blob_with(key.fingerprint + 1);
struct delegated : static_program_of<make_delegated<3, true>> {
  static constexpr std::array inputs{constant_input(blob), user_input()};
};
struct stale : delegated {
  static constexpr std::array inputs{constant_input(stale_blob), user_input()};
};
using old_version = static_program_of<make_delegated<2, true>>;
using foreign = static_program_of<make_delegated<3, false>>;

/// Multiplies by the factor in its blobs.
struct scaler {
  static constexpr std::string_view name = "scaler";
  static constexpr std::int32_t blob_version = 3;
  struct scale {
    struct Params {
      BlobKey key;
      std::int32_t count;
    };
    static ErrorCode run(const Params& p, float* y, std::uint8_t* scratch, const std::uint8_t* given,
                         const float* x) noexcept {
      const std::byte* const payload = blob_payload(given, p.key);
      if (payload == nullptr) return ErrorCode::version_mismatch;
      std::memcpy(scratch, payload, 4);
      float factor = 0;
      std::memcpy(&factor, scratch, 4);
      for (std::int32_t i = 0; i < p.count; ++i) y[i] = factor * x[i];
      return ErrorCode::ok;
    }
  };
  using Kernels = kernel_list<scale>;
  static constexpr const char* embed(const EmbedNode& n, StepWriter& steps) {
    EmbeddedDelegate call;
    if (const char* const why = read_delegate<scaler>(n, call)) return why;
    if (call.inputs.size() != 2 || call.input(1) != no_id || call.input(2) != no_id) return "not its inputs";
    steps.step<scale>({call.key, count_of(n).count})
        .out(n.output())
        .scratch(steps.temporary(ScalarType::uint8, call.scratch_bytes))
        .in(call.blob)
        .in(call.input(0));
    return nullptr;
  }
};

template <class P>
std::string_view reason() {
  const std::array inputs{constant_input(blob), user_input()};
  const std::array outputs{user_output()};
  const SelectedSteps selected = select_steps<scaler, adder>(P::tables.view(), inputs.data(), outputs.data());
  return selected.orphans.empty() ? "" : selected.orphans[0].reasons[0];
}

}  // namespace

TEST_CASE("a static backend runs its compiler's blob") {
  static_module<delegated, scaler, adder> module;
  static_assert(decltype(module)::weight_bytes == 32 && decltype(module)::step_count == 2);
  Four y{};
  REQUIRE(module.forward(Four{1, 2, 3, 4}, y).has_value());
  CHECK(y == Four{3, 6, 9, 12});
}

TEST_CASE("a blob that is not of this header is an error of the run") {
  static_module<stale, scaler, adder> module;
  Four y{};
  CHECK(module.forward(Four{1, 2, 3, 4}, y).error() == Fault(ErrorCode::version_mismatch, 0));
  for (const BlobKey other : {BlobKey{2, -77, 4}, BlobKey{3, -76, 4}, BlobKey{3, -77, 5}})
    CHECK(blob_payload(blob.data(), other) == nullptr);
  CHECK(blob_payload(blob.data(), key) == reinterpret_cast<const std::byte*>(blob.data() + 16));
  std::array<std::uint8_t, 32> no_blob = blob;
  no_blob[0] ^= 1;
  CHECK(blob_payload(no_blob.data(), key) == nullptr);
}

TEST_CASE("a blob of another version or another backend is refused when compiling") {
  CHECK(reason<delegated>().empty());
  CHECK(reason<old_version>() == "its blob is of another version of the backend's compiler: embed the model again");
  CHECK(reason<foreign>() == "no call of a delegate of this backend");
  CHECK(reason<residual>() == "no call of a delegate of this backend");
}
