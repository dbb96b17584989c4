// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "davit/backend/embed_graph.hpp"

/// A static backend gets a delegate call in place of the nodes that its compiler took on the host; the blob of
/// preprocess is a constant argument of the call.
///
///     struct my_npu {
///       static constexpr std::string_view name = "my_npu";     // name of the run-time backend
///       static constexpr std::int32_t blob_version = 3;        // version of the run-time backend
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
/// The blob and its payload, the bytes of the backend's `save`, are aligned to 16 bytes. The blob is part of the
/// program's weight blob (`davit embed --section`). Inputs and outputs are the partition's, in the order of the method
/// that preprocess got; sizes are numbers.
namespace davit {

/// Identifies a delegate's blob: it differs for another program, other weights or another version of the compiler. A
/// member of a kernel's Params.
struct BlobKey {
  std::int32_t version = 0;      ///< `blob_version` of its backend
  std::int32_t fingerprint = 0;  ///< CRC-32 of the payload
  std::int32_t bytes = 0;        ///< size of the payload
};

/// Header of a blob, before its payload: little-endian.
struct BlobHeader {
  static constexpr std::int32_t magic_number = 0x31626c64;  // "dlb1"
  std::int32_t magic = magic_number;
  BlobKey key{};
};
static_assert(sizeof(BlobHeader) == 16);

/// Returns the payload of a blob; nullptr if its key differs from the compiled one: then header and blob come from two
/// runs of `davit embed`. O(1): compares the stored key, does not read the payload.
[[nodiscard]] inline const std::byte* blob_payload(const std::uint8_t* blob, const BlobKey& key) noexcept {
  const BlobHeader expected{.key = key};
  return std::memcmp(blob, &expected, sizeof expected) == 0 ? reinterpret_cast<const std::byte*>(blob + sizeof expected)
                                                            : nullptr;
}

/// A delegate call, as seen by `embed`.
struct EmbeddedDelegate {
  BlobKey key{};
  ValueId blob = no_id;            ///< a constant of uint8
  std::int64_t scratch_bytes = 0;  ///< result of the backend's `scratch_bytes`
  std::span<const StaticArgument> inputs{};

  /// The value of input i of the partition; no_id for a number or None.
  [[nodiscard]] constexpr ValueId input(std::size_t i) const noexcept {
    return i < inputs.size() && inputs[i].is_value() ? inputs[i].value() : no_id;
  }
};

/// True if the node is a call of a delegate of that backend.
[[nodiscard]] constexpr bool calls_delegate(const EmbedNode& n, std::string_view backend) noexcept {
  if (!n.is(call_delegate_target.data())) return false;
  const StaticArgument* const name = n.argument("backend");
  return name != nullptr && n.text(*name) == backend;
}

/// Reads a call of a delegate of backend B. Returns the reason if the node is no such call, else nullptr.
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
