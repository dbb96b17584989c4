// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/catch_bad_alloc.hpp"
#include "davit/core/content_hash.hpp"
#include "davit/core/contiguous.hpp"
#include "davit/core/copy_tensor.hpp"
#include "davit/formats/checkpoint.hpp"
#include "davit/formats/mapped_file.hpp"
#include "davit/formats/outside_weights.hpp"
#include "davit/program/name_map.hpp"
#include "davit/program/program_bytes.hpp"

namespace davit::formats {

namespace detail {

/// The last 12 bytes of a table with a list: this number, and the list's segment.
inline constexpr std::uint64_t outside_mark = 0x0a45444953545530;
inline constexpr std::size_t outside_bytes = 12;

/// Calls use(table, segments) with the parts of a package that has named tensors and no methods.
template <class Use>
[[nodiscard]] auto with_tensors(std::span<const NamedTensor> tensors, Use&& use) {
  return davit::detail::catch_bad_alloc(
      Stage::save, [&]() -> decltype(use(std::span<const std::byte>(), std::span<const std::span<const std::byte>>())) {
        if (Result<void> stored = check_stored(tensors, "weights"); !stored) return error_of(std::move(stored));
        SegmentWriter segments;
        ByteWriter table;
        table.number(std::uint64_t{0});  // number of methods
        davit::detail::write_tensors(table, tensors, segments);
        return use(std::span<const std::byte>(table.written()), segments.segments());
      });
}

void keep_outside(SegmentWriter& segments, std::span<const NamedTensor> weights, std::span<const NamedTensor> state) {
  const NameIndex states(state, [](const NamedTensor& each) { return each.name.view(); });
  const NameIndex names(weights, [](const NamedTensor& each) { return each.name.view(); });
  std::vector<SegmentWriter::Outside> outside;
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (names.first(weights[i].name) == i && states.first(weights[i].name) == NameIndex::not_found)
      outside.push_back({.name = weights[i].name.view(), .bytes = reachable_bytes(weights[i].tensor)});
  segments.keep_outside(std::move(outside));
}

Result<void> check_stored(std::span<const NamedTensor> tensors, std::string_view kind) {
  for (const NamedTensor& each : tensors)
    if (!is_stored(each.tensor))
      return std::unexpected(Error{.code = ErrorCode::invalid_argument,
                                   .stage = Stage::save,
                                   .where = concat(kind, ", '", each.name, "'"),
                                   .what = not_stored,
                                   .fix = "give a tensor with all of its elements"});
  return {};
}

bool is_weights_file(std::string_view name) noexcept {
  constexpr std::string_view forbidden("/\\\0", 3);
  return name.find_first_of(forbidden) == std::string_view::npos && name != "." && name != "..";
}

/// Returns the elements in row-major order: the tensor's own bytes if it is contiguous. Nothing if there is no memory
/// for a copy, or if an expanded tensor has more than 1 GiB of elements.
[[nodiscard]] std::optional<SharedBytes> elements_of(const Tensor& tensor) {
  const std::size_t size = tensor.view().nbytes(), most = std::size_t{1} << 30;
  const bool is_copied = !tensor.view().is_contiguous();
  if (is_copied && size > std::max(most, tensor.storage.size())) return std::nullopt;
  const Tensor rows = is_copied ? contiguous(tensor.view()) : tensor;
  const std::span<const std::byte> bytes = reachable_bytes(rows);
  if (bytes.size() != size) return std::nullopt;
  return bytes.empty() ? SharedBytes()
                       : rows.storage.part(static_cast<std::size_t>(bytes.data() - rows.storage.data()), size);
}

Result<void> write_outside(ByteWriter& table, SegmentWriter& segments, std::span<const NamedTensor> weights,
                           std::string_view file, bool may_replace) {
  const NameIndex names(weights, [](const NamedTensor& each) { return each.name.view(); });
  ByteWriter list;
  list.text(file);
  list.number(static_cast<std::uint8_t>(may_replace));
  list.number(static_cast<std::uint64_t>(segments.outside().size()));
  std::vector<const SegmentWriter::Outside*> order;  // that of the weights, not of their addresses
  for (const SegmentWriter::Outside& each : segments.outside()) order.push_back(&each);
  std::ranges::sort(order, {}, [&](const SegmentWriter::Outside* each) { return names.first(each->name); });
  for (const SegmentWriter::Outside* const at : order) {
    const SegmentWriter::Outside& each = *at;
    const Tensor& tensor = weights[names.first(each.name)].tensor;
    const std::optional<SharedBytes> elements = elements_of(tensor);
    if (!elements)
      return std::unexpected(Error{.code = ErrorCode::out_of_memory,
                                   .stage = Stage::save,
                                   .where = concat("weights, '", each.name, "'"),
                                   .what = "no memory for its elements in row-major order",
                                   .fix = "give a contiguous tensor"});
    list.text(each.name);
    list.number(each.number);
    list.number(tensor.dtype);
    list.array(std::span<const std::int64_t>(tensor.sizes));
    list.array(std::span<const std::int64_t>(tensor.strides));
    list.number(content_hash(elements->bytes()));
  }
  table.number(outside_mark);
  table.number(segments.add_owned(std::move(list).take()));
  return {};
}

/// One entry of the list.
struct OutsideWeight {
  Name name;
  std::uint32_t number = SegmentWriter::Outside::unused;
  Tensor layout;           ///< dtype, sizes and strides
  std::uint64_t hash = 0;  ///< of the elements in row-major order
};

[[nodiscard]] Error weights_error(ErrorCode code, Name where, Name what, Name fix) {
  return {
      .code = code, .stage = Stage::load, .where = std::move(where), .what = std::move(what), .fix = std::move(fix)};
}

/// True if a segment has the elements of `given` where a weight of the package lies in it.
[[nodiscard]] bool reads_in(const SharedBytes& segment, const OutsideWeight& wanted, const Tensor& given) {
  Tensor inside = wanted.layout;
  inside.storage = segment;
  const std::optional<SharedBytes> a = is_stored(inside) ? elements_of(inside) : std::nullopt, b = elements_of(given);
  return a && b && std::ranges::equal(a->bytes(), b->bytes());
}

/// Returns the bytes of a weight in the layout that the package expects. Errors: as read_outside.
[[nodiscard]] Result<SharedBytes> bytes_of(const OutsideWeight& wanted, const Tensor& given, bool may_replace) {
  const auto refuse = [&](ErrorCode code, Name what, Name fix) {
    return std::unexpected(
        weights_error(code, concat("weights, '", wanted.name, "'"), std::move(what), std::move(fix)));
  };
  const auto text = [](std::span<const std::int64_t> sizes) {
    Name out = "[";
    for (const std::int64_t& size : sizes) out = concat(out, &size == sizes.data() ? "" : ", ", size);
    return concat(out, "]");
  };
  constexpr std::string_view other = "take the weights of the program that was lowered";
  if (given.dtype != wanted.layout.dtype)
    return refuse(ErrorCode::invalid_dtype,
                  concat("it holds ", name_of(given.dtype), ", the package needs ", name_of(wanted.layout.dtype)),
                  other);
  if (given.sizes != wanted.layout.sizes)
    return refuse(ErrorCode::invalid_shape,
                  concat("it has the sizes ", text(given.sizes), ", the package needs ", text(wanted.layout.sizes)),
                  other);
  if (!is_stored(given))
    return refuse(ErrorCode::invalid_argument, not_stored, "give a tensor with all of its elements");
  const std::span<const std::byte> reached = reachable_bytes(given);
  SharedBytes bytes = given.storage;
  if (given.strides == wanted.layout.strides && !reached.empty()) {
    bytes = bytes.part(static_cast<std::size_t>(reached.data() - bytes.data()), reached.size());
  } else {
    const std::int64_t extent =
        storage_extent(wanted.layout.sizes, wanted.layout.strides, 0, size_of(wanted.layout.dtype));
    if (static_cast<std::uint64_t>(extent) > 64 * static_cast<std::uint64_t>(reached.size()) + 4096)
      return refuse(
          ErrorCode::corrupt_data,
          concat("the package's layout of it takes ", extent, " bytes, for ", reached.size(), " that are there"),
          "lower the program again");
    Tensor copy = wanted.layout;
    copy.storage = SharedBytes::allocate(static_cast<std::size_t>(extent));
    if (copy.storage.size() != static_cast<std::size_t>(extent))
      return refuse(ErrorCode::out_of_memory, "no memory for a copy in the package's layout", {});
    copy_tensor(given.view(), copy.view());
    bytes = std::move(copy.storage);
    if (!reads_in(bytes, wanted, given))
      return refuse(ErrorCode::invalid_argument,
                    "it is expanded in the package, and here elements differ that are one there",
                    "take a weight that is expanded too, or lower the program with this one");
  }
  const bool is_inside = wanted.number == SegmentWriter::Outside::unused;  // folded into others
  if (!is_inside && may_replace) return bytes;
  const std::optional<SharedBytes> elements = elements_of(given);
  if (!elements) return refuse(ErrorCode::out_of_memory, "no memory for its elements in row-major order", {});
  if (content_hash(elements->bytes()) != wanted.hash)
    return refuse(ErrorCode::invalid_argument,
                  is_inside
                      ? Name("its elements differ from those at lowering, and lowering folded it into others")
                      : Name("its elements differ from those at lowering, and lowering computed results from them"),
                  "lower the .pt2 file again with these weights: davit lower MODEL.pt2 --weights-of FILE");
  return bytes;
}

/// Lays a further name of a segment out in it, between the elements of the names before it: tied weights of different
/// strides, such as w and w[::2]. False if they differ in an element.
[[nodiscard]] bool tie(SharedBytes& segment, const OutsideWeight& wanted, const Tensor& given,
                       std::span<const OutsideWeight> before, std::span<const NamedTensor> weights,
                       const NameIndex& names) {
  if (reads_in(segment, wanted, given)) return true;
  Tensor inside = wanted.layout;
  inside.storage = SharedBytes::copy_of(segment.bytes());
  if (!is_stored(inside)) return false;
  copy_tensor(given.view(), inside.view());
  segment = inside.storage;
  return reads_in(segment, wanted, given) && std::ranges::all_of(before, [&](const OutsideWeight& each) {
           return each.number != wanted.number || reads_in(segment, each, weights[names.first(each.name)].tensor);
         });
}

/// Reads the list. Errors: corrupt_data.
[[nodiscard]] Result<std::vector<OutsideWeight>> read_list(ByteReader in, std::size_t segments, std::string& file,
                                                           bool& may_replace) {
  std::vector<OutsideWeight> all;
  file = in.text();
  may_replace = in.number<std::uint8_t>() != 0;
  for (std::size_t i = 0, count = in.count(37); i < count && in.ok(); ++i) {
    OutsideWeight& each = all.emplace_back();
    each.name = Name::own(in.text());
    each.number = in.number<std::uint32_t>();
    each.layout.dtype = in.number<ScalarType>();
    each.layout.sizes = in.array<std::int64_t>();
    each.layout.strides = in.array<std::int64_t>();
    each.hash = in.number<std::uint64_t>();
    const Tensor& tensor = each.layout;
    if ((each.number >= segments && each.number != SegmentWriter::Outside::unused) || size_of(tensor.dtype) == 0 ||
        tensor.sizes.size() > max_rank || tensor.sizes.size() != tensor.strides.size() ||
        checked_numel(tensor.sizes) < 0 || storage_extent(tensor.sizes, tensor.strides, 0, size_of(tensor.dtype)) < 0)
      in.fail();
  }
  if (!in.ok() || !in.at_end() || !is_weights_file(file))
    return std::unexpected(package_error("list of weights", "it is damaged"));
  return all;
}

/// The list of a package, and its table without it.
struct OutsideList {
  std::string file{};
  bool may_replace = false;
  std::uint32_t segment = 0;
  std::vector<OutsideWeight> weights{};
};

/// True if a package's table ends with a list.
[[nodiscard]] bool has_list(std::span<const std::byte> table) noexcept {
  return table.size() >= outside_bytes && ByteReader(table.last(outside_bytes)).number<std::uint64_t>() == outside_mark;
}

/// Takes the list out of a package; nothing if there is none. Errors: corrupt_data.
[[nodiscard]] Result<std::optional<OutsideList>> take_list(Package& package) {
  const std::span<const std::byte> table = package.table.bytes();
  if (!has_list(table)) return std::nullopt;
  OutsideList list{.segment = ByteReader(table.last(sizeof(std::uint32_t))).number<std::uint32_t>()};
  const SharedBytes* const bytes = package.segments.find(list.segment);
  if (bytes == nullptr) return std::unexpected(package_error("program table", "its list of weights is not there"));
  Result<std::vector<OutsideWeight>> weights =
      read_list(ByteReader(bytes->bytes()), package.segments.size(), list.file, list.may_replace);
  if (!weights) return error_of(std::move(weights));
  list.weights = *std::move(weights);
  package.table = package.table.part(0, table.size() - outside_bytes);
  return list;
}

namespace {

/// Bits of a floating-point number of `size` bytes, of which `mantissa` are its mantissa's.
struct FloatBits {
  std::size_t size;
  int mantissa;
};
/// Of a dtype's numbers, or of the parts of its complex numbers; nullopt for integers and bools.
[[nodiscard]] std::optional<FloatBits> float_bits(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::float16: return FloatBits{2, 10};
    case ScalarType::bfloat16: return FloatBits{2, 7};
    case ScalarType::float32:
    case ScalarType::complex64: return FloatBits{4, 23};
    case ScalarType::float64:
    case ScalarType::complex128: return FloatBits{8, 52};
    default: return std::nullopt;
  }
}

/// Changes elements a little: one bit of an integer, of a float a bit in the middle of its mantissa.
void nudge(std::span<std::byte> bytes, ScalarType dtype) {
  const std::optional<FloatBits> floats = float_bits(dtype);
  const std::size_t size = floats ? floats->size : size_of(dtype);
  for (std::size_t at = floats && size >= 4 ? size / 4 : 0; at < bytes.size(); at += size) bytes[at] ^= std::byte{1};
}

/// Changes elements much: signs, and magnitudes by up to 2^7, of finite floats, which stay finite; low bits of
/// integers.
void scatter(std::span<std::byte> bytes, ScalarType dtype) {
  const std::optional<FloatBits> floats = float_bits(dtype);
  const std::size_t size = floats ? floats->size : size_of(dtype);
  std::uint64_t random = 0x9e3779b97f4a7c15;
  for (std::size_t at = 0; at + size <= bytes.size(); at += size) {
    random = random * 6364136223846793005 + 1442695040888963407;
    const std::uint64_t choice = random >> 40;
    std::uint64_t bits = 0;
    std::memcpy(&bits, &bytes[at], size);
    if (floats) {
      const std::uint64_t most = (std::uint64_t{1} << (8 * size - 1 - static_cast<std::size_t>(floats->mantissa))) - 1;
      const std::uint64_t exponent = bits >> floats->mantissa & most;
      if (exponent == most) continue;
      const std::uint64_t larger = std::min((exponent == 0 ? most / 2 : exponent) + choice % 8, most - 2);
      bits ^= (exponent ^ larger) << floats->mantissa ^ (choice >> 3 & 1) << (8 * size - 1);
    } else {
      bits ^= dtype == ScalarType::bool_ ? choice & 1 : size == 1 ? choice & 0xff : choice & 3;
    }
    std::memcpy(&bytes[at], &bits, size);
  }
}

}  // namespace

Result<ExportedProgram> with_other_weights(const ExportedProgram& program, const SharedBytes& bytes, bool nudged) {
  Result<Package> package = read_package(bytes);
  if (!package) return error_of(std::move(package));
  const Result<std::optional<OutsideList>> list = take_list(*package);
  if (!list) return error_of(list);
  ExportedProgram other = program;
  std::vector<std::pair<SharedBytes, SharedBytes>> changes;  // of tied weights, once
  for (NamedTensor& each : other.state_dict) {
    if (!*list || std::ranges::none_of((*list)->weights, [&](const OutsideWeight& weight) {
          return weight.name == each.name && weight.number != SegmentWriter::Outside::unused;
        }))
      continue;
    const auto known =
        std::ranges::find(changes, each.tensor.storage.data(), [](const auto& change) { return change.first.data(); });
    if (known != changes.end()) {
      each.tensor.storage = known->second;
      continue;
    }
    SharedBytes changed = SharedBytes::copy_of(each.tensor.storage.bytes());
    if (changed.empty())
      return std::unexpected(
          weights_error(ErrorCode::out_of_memory, concat("weights, '", each.name, "'"), "no memory for a copy", {}));
    const std::span<std::byte> elements(changed.writable(), changed.size());
    nudged ? nudge(elements, each.tensor.dtype) : scatter(elements, each.tensor.dtype);
    changes.emplace_back(std::exchange(each.tensor.storage, changed), changed);
  }
  return other;
}

Result<bool> differ_in_weights_alone(const SharedBytes& a, const SharedBytes& b) {
  Result<Package> first = read_package(a), second = read_package(b);
  if (!first) return error_of(std::move(first));
  if (!second) return error_of(std::move(second));
  const Result<std::optional<OutsideList>> one = take_list(*first), other = take_list(*second);
  if (!one) return error_of(one);
  if (!other) return error_of(other);
  if (!*one || !*other || !std::ranges::equal(first->table.bytes(), second->table.bytes()) ||
      first->segments.size() != second->segments.size() || (*one)->segment != (*other)->segment)
    return false;
  for (std::uint32_t i = 0; i < first->segments.size(); ++i)
    if (i != (*one)->segment &&
        !std::ranges::equal(first->segments.find(i)->bytes(), second->segments.find(i)->bytes()))
      return false;
  return std::ranges::equal((*one)->weights, (*other)->weights, {}, &OutsideWeight::number, &OutsideWeight::number);
}

/// The error of a package whose weights are not given.
[[nodiscard]] std::unexpected<Error> weights_not_given() {
  return std::unexpected(weights_error(ErrorCode::not_found, "weights",
                                       "the package's weights lie in a file of their own, which is not given",
                                       "pass LoadOptions::weights: the tensors of formats::read_state"));
}

Result<void> refuse_outside(Package& package, std::optional<std::span<const NamedTensor>>, std::string_view) {
  if (has_list(package.table.bytes())) return weights_not_given();
  return {};
}

Result<void> read_outside(Package& package, std::optional<std::span<const NamedTensor>> weights,
                          std::string_view path) {
  const Result<std::optional<OutsideList>> list = take_list(package);
  if (!list) return error_of(list);
  if (!*list && weights)
    return std::unexpected(weights_error(ErrorCode::invalid_argument, "weights",
                                         "the package contains its weights, and takes no others",
                                         "lower the .pt2 file with these weights, or with a file of weights"));
  if (!*list) return {};
  const auto& [file, may_replace, segment, wanted] = **list;
  std::vector<NamedTensor> read;
  if (!weights) {
    if (path.empty() || file.empty()) return weights_not_given();
    const std::string at = std::string(path.substr(0, path.rfind('/') + 1)) + file;
    Result<SharedBytes> bytes = map_file(at);
    // without a path: a file of weights that needs another one is an error, as it might name itself
    Result<std::vector<NamedTensor>> beside =
        bytes ? formats::read_state(*bytes) : Result<std::vector<NamedTensor>>(error_of(bytes));
    if (!beside && bytes) beside.error().where = concat(at, ": ", beside.error().where);
    if (!beside) return error_of(std::move(beside));
    read = *std::move(beside);
    weights = read;
  }
  const NameIndex names(*weights, [](const NamedTensor& each) { return each.name.view(); });
  std::vector<std::pair<std::uint32_t, SharedBytes>> found;
  for (const OutsideWeight& each : wanted) {
    const std::size_t at = names.first(each.name);
    if (at == NameIndex::not_found) {
      if (each.number == SegmentWriter::Outside::unused) continue;
      return std::unexpected(weights_error(ErrorCode::not_found, concat("weights, '", each.name, "'"),
                                           "the package needs a tensor of that name", "take all weights of the model"));
    }
    Result<SharedBytes> bytes = bytes_of(each, (*weights)[at].tensor, may_replace);
    if (!bytes) return error_of(std::move(bytes));
    if (each.number == SegmentWriter::Outside::unused) continue;
    const auto tied = std::ranges::find(found, each.number, &std::pair<std::uint32_t, SharedBytes>::first);
    if (tied == found.end()) {
      found.emplace_back(each.number, *std::move(bytes));
    } else if (!tie(tied->second, each, (*weights)[at].tensor, {wanted.data(), &each}, *weights, names)) {
      return std::unexpected(weights_error(ErrorCode::invalid_argument, concat("weights, '", each.name, "'"),
                                           "it is tied to another weight in the package, and here they differ",
                                           "give both the same elements"));
    }
  }
  for (auto& [number, bytes] : found) package.segments.set(number, std::move(bytes));
  return {};
}

}  // namespace detail

Result<std::vector<std::byte>> save_weights(std::span<const NamedTensor> weights) {
  return detail::with_tensors(weights, [](auto table, auto segments) -> Result<std::vector<std::byte>> {
    return write_package(table, segments, {});
  });
}

Result<void> save_weights(std::span<const NamedTensor> weights, const std::string& path) {
  return detail::with_tensors(weights, [&](auto table, auto segments) -> Result<void> {
    const PackageParts package = package_parts(table, segments, {});
    return write_file(path, std::span(package.parts));
  });
}

}  // namespace davit::formats
