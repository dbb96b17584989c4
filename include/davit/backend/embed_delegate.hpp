// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "davit/backend/embed_graph.hpp"

/// What a static backend finds where its compiler, on the host, took nodes of a program: a call of a delegate, with the
/// blob that preprocess made of them as a constant.
///
///     struct my_npu {
///       static constexpr std::string_view name = "my_npu";     // as the run-time backend is called
///       static constexpr std::int32_t blob_version = 3;        // as that says
///       struct run_blob {
///         struct Params { davit::BlobKey key; };
///         static davit::ErrorCode start(const Params& p, const std::uint8_t* blob, float* y, const float* x) noexcept
///         {
///           const std::byte* const stream = davit::blob_payload(blob, p.key);
///           if (stream == nullptr) return davit::ErrorCode::version_mismatch;
///           ...
///       static constexpr const char* embed(const davit::EmbedNode& n, davit::StepWriter& steps) {
///         davit::EmbeddedDelegate call;
///         if (const char* const why = davit::read_delegate<my_npu>(n, call)) return why;
///         steps.step<run_blob>({call.key}).in(call.blob).out(n.output()).in(call.input(0));
///
/// The blob is aligned to 16 bytes, and so is the payload, which is what the backend's `save` wrote. It lies in the
/// weight blob of the program (`davit embed --section`). Inputs and outputs are those of the partition, in the order of
/// the method that preprocess saw; sizes are numbers.
namespace davit {

/// What tells a delegate's blob from others: of another program, other weights or another version of its compiler. A
/// member of a kernel's Params.
struct BlobKey {
  std::int32_t version = 0;      ///< `blob_version` of the backend that made it
  std::int32_t fingerprint = 0;  ///< CRC-32 of the payload
  std::int32_t bytes = 0;        ///< of the payload
};

/// The first bytes of a blob, before its payload: little-endian.
struct BlobHeader {
  static constexpr std::int32_t magic_number = 0x31626c64;  // "dlb1"
  std::int32_t magic = magic_number;
  BlobKey key{};
};
static_assert(sizeof(BlobHeader) == 16);

/// The payload of a blob; nullptr if it is another than the header that was compiled says: the two files are not of one
/// run of `davit embed`. O(1): what it computes is compared, not the payload itself.
[[nodiscard]] inline const std::byte* blob_payload(const std::uint8_t* blob, const BlobKey& key) noexcept {
  const BlobHeader expected{.key = key};
  return std::memcmp(blob, &expected, sizeof expected) == 0 ? reinterpret_cast<const std::byte*>(blob + sizeof expected)
                                                            : nullptr;
}

/// A call of a delegate, as `embed` sees it.
struct EmbeddedDelegate {
  BlobKey key{};
  ValueId blob = no_id;            ///< a constant of uint8
  std::int64_t scratch_bytes = 0;  ///< what the backend's `scratch_bytes` answered
  std::span<const StaticArgument> inputs{};

  /// The value that the partition gets there; no_id if it gets a number or nothing.
  [[nodiscard]] constexpr ValueId input(std::size_t i) const noexcept {
    return i < inputs.size() && inputs[i].is_value() ? inputs[i].value() : no_id;
  }
};

/// True if the node is a call of a delegate of the backend of that name.
[[nodiscard]] constexpr bool calls_delegate(const EmbedNode& n, std::string_view backend) noexcept {
  if (!n.is(call_delegate_target.data())) return false;
  const StaticArgument* const name = n.argument("backend");
  return name != nullptr && n.text(*name) == backend;
}

/// Reads a call of a delegate of backend B. Answers why it is none, or nullptr.
template <class B>
[[nodiscard]] constexpr const char* read_delegate(const EmbedNode& n, EmbeddedDelegate& call) noexcept {
  if (!calls_delegate(n, B::name)) return "no call of a delegate of this backend";
  std::int32_t version = 0;
  if constexpr (requires { B::blob_version; }) version = B::blob_version;
  const auto number = [&](const char* name) { return static_cast<std::int32_t>(n.integer(name, 0)); };
  call.key = {number("blob_version"), number("fingerprint"), number("bytes")};
  if (call.key.version != version)
    return "its blob is of another version of the backend's compiler: embed the model again";
  call.blob = n.value("blob");
  if (call.blob == no_id || n.g.constant(call.blob) == nullptr) return "its blob is no constant";
  call.scratch_bytes = n.integer("scratch_bytes", 0);
  call.inputs = n.items("inputs");
  return nullptr;
}

}  // namespace davit
