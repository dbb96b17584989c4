// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/tensor.hpp"
#include "davit/formats/load_error.hpp"
#include "davit/formats/pt2/file_tensor.hpp"
#include "davit/formats/pt2/pickle_values.hpp"
#include "davit/formats/zip/zip.hpp"

namespace davit::formats::detail {

/// torch's name for storages of one element type.
struct StorageClass {
  std::string_view name;
  ScalarType dtype;
};
inline constexpr auto storage_classes = std::to_array<StorageClass>({
    {"FloatStorage", ScalarType::float32},
    {"DoubleStorage", ScalarType::float64},
    {"HalfStorage", ScalarType::float16},
    {"BFloat16Storage", ScalarType::bfloat16},
    {"LongStorage", ScalarType::int64},
    {"IntStorage", ScalarType::int32},
    {"ShortStorage", ScalarType::int16},
    {"CharStorage", ScalarType::int8},
    {"ByteStorage", ScalarType::uint8},
    {"BoolStorage", ScalarType::bool_},
    {"ComplexFloatStorage", ScalarType::complex64},
    {"ComplexDoubleStorage", ScalarType::complex128},
});

/// Converts the calls that torch.save pickles for tensors into tensors over the archive's storages.
///
/// Ignores attributes and hooks of tensors. Source: torch._utils._rebuild_tensor_v2, _rebuild_tensor_v3,
/// _rebuild_parameter, _rebuild_parameter_with_state, and torch._tensor._rebuild_from_type_v2.
class TorchTensors {
 public:
  TorchTensors(const Pickle& pickle, ZipArchive& archive, std::string_view root) noexcept
      : pickle_(pickle), archive_(archive), root_(root) {}

  /// Converts a pickled value to a tensor. `entry` is its name in errors.
  [[nodiscard]] Result<Tensor> tensor(PickleId id, std::string_view entry) {
    entry_ = entry;
    return build(id, 0);
  }
  /// True if a value is a call: every tensor is.
  [[nodiscard]] bool may_be_tensor(PickleId id) const noexcept { return pickle_[id].kind == PickleKind::call; }

  [[nodiscard]] std::unexpected<Error> fail(PickleId id, std::string_view entry, const Name& what) const {
    const std::uint32_t offset = id == no_pickle_id ? 0 : pickle_[id].offset;
    return corrupt(concat(archive_.label(), "/", root_, "data.pkl, byte ", offset, ", entry ", in_quotes(entry)), what);
  }

 private:
  static constexpr int max_depth = 8;  // nesting depth of tensors built from tensors

  [[nodiscard]] std::unexpected<Error> fail(PickleId id, const Name& what) const { return fail(id, entry_, what); }

  [[nodiscard]] Result<Tensor> build(PickleId id, int depth) {
    if (id == no_pickle_id || !may_be_tensor(id)) return fail(id, "it is not a tensor");
    return call(id, pickle_[id].callable, pickle_[id].arguments, depth);
  }

  [[nodiscard]] Result<Tensor> call(PickleId id, PickleId callable, PickleId arguments, int depth) {
    if (depth > max_depth) return fail(id, "tensors are nested too deeply");
    const std::span<const PickleId> args = pickle_.tuple(arguments);
    if (pickle_.is_global(callable, "torch._utils", "_rebuild_tensor_v2")) return strided(id, args, false);
    if (pickle_.is_global(callable, "torch._utils", "_rebuild_tensor_v3")) return strided(id, args, true);
    if (pickle_.is_global(callable, "torch._utils", "_rebuild_parameter") ||
        pickle_.is_global(callable, "torch._utils", "_rebuild_parameter_with_state")) {
      return parameter(id, args, depth);
    }
    if (pickle_.is_global(callable, "torch._tensor", "_rebuild_from_type_v2")) {
      if (args.size() < 3) return fail(id, "_rebuild_from_type_v2 has too few arguments");
      return call(id, args[0], args[2], depth + 1);
    }
    return unknown(id, callable);
  }

  [[nodiscard]] std::unexpected<Error> unknown(PickleId id, PickleId callable) const {
    const PickleValue& global = pickle_[callable];
    if (global.kind != PickleKind::global) return fail(id, "it is not a tensor");
    std::unexpected<Error> error = fail(id, concat("it is made by ", in_quotes(global.module), " ",
                                                   in_quotes(global.text), ", which is not supported"));
    error.error().code = ErrorCode::unsupported_argument;
    error.error().fix = "export the program with plain strided tensors";
    return error;
  }

  [[nodiscard]] Result<Tensor> parameter(PickleId id, std::span<const PickleId> args, int depth) {
    if (args.size() < 2) return fail(id, "_rebuild_parameter has too few arguments");
    Result<Tensor> data = build(args[0], depth + 1);
    if (!data) return data;
    if (pickle_[args[1]].kind != PickleKind::boolean) return fail(id, "requires_grad is not a bool");
    data->requires_grad = pickle_[args[1]].number != 0;
    return data;
  }

  /// Reads (storage, offset, sizes, strides, requires_grad, hooks[, dtype or metadata]).
  [[nodiscard]] Result<Tensor> strided(PickleId id, std::span<const PickleId> args, bool names_dtype) {
    if (args.size() < (names_dtype ? 7u : 6u)) return fail(id, "a tensor has too few parts");
    ScalarType dtype = ScalarType::undefined;
    if (names_dtype) {
      const PickleValue& type = pickle_[args[6]];
      if (type.kind == PickleKind::global && type.module == "torch") dtype = scalar_type_named(type.text);
      if (dtype == ScalarType::undefined) return fail(id, concat(in_quotes(type.text), " is not an element type"));
    }
    Tensor tensor{.dtype = dtype, .sizes = {}, .strides = {}, .storage = {}};
    Result<SharedBytes> storage = read_storage(id, args[0], tensor.dtype);
    if (!storage) return error_of(std::move(storage));
    tensor.storage = *std::move(storage);
    const PickleValue& offset = pickle_[args[1]];
    if (offset.kind != PickleKind::integer) return fail(id, "the storage offset is not an integer");
    tensor.storage_offset = offset.number;
    if (!integers(args[2], tensor.sizes)) return fail(id, "the sizes are not a short tuple of integers");
    if (!integers(args[3], tensor.strides)) return fail(id, "the strides are not a short tuple of integers");
    if (pickle_[args[4]].kind != PickleKind::boolean) return fail(id, "requires_grad is not a bool");
    tensor.requires_grad = pickle_[args[4]].number != 0;
    const Name where = concat(archive_.label(), "/", root_, "data.pkl, entry ", in_quotes(entry_));
    if (Result<void> checked = check_file_tensor(tensor, where); !checked) return error_of(std::move(checked));
    return tensor;
  }

  [[nodiscard]] bool integers(PickleId id, std::vector<std::int64_t>& numbers) const {
    if (pickle_[id].kind != PickleKind::tuple && pickle_[id].kind != PickleKind::list) return false;
    if (pickle_[id].items.size() > max_rank) return false;
    for (const PickleId item : pickle_[id].items) {
      if (pickle_[item].kind != PickleKind::integer) return false;
      numbers.push_back(pickle_[item].number);
    }
    return true;
  }

  /// Reads ('storage', class, key, location, number of elements). Replaces an undefined `dtype` by the dtype of the
  /// class.
  [[nodiscard]] Result<SharedBytes> read_storage(PickleId id, PickleId reference, ScalarType& dtype) {
    const PickleValue& value = pickle_[reference];
    if (value.kind != PickleKind::persistent) return fail(id, "it has no storage");
    const std::span<const PickleId> parts = pickle_.tuple(value.arguments);
    if (parts.size() < 5 || pickle_[parts[0]].text != "storage" || pickle_[parts[2]].kind != PickleKind::string ||
        pickle_[parts[4]].kind != PickleKind::integer) {
      return fail(id, "its storage is described in an unknown way");
    }
    const PickleValue& type = pickle_[parts[1]];
    const std::size_t unit = storage_unit(type, dtype);
    if (unit == 0) return fail(id, concat("storages of class ", in_quotes(type.text), " are not supported"));
    const std::int64_t count = pickle_[parts[4]].number;
    const std::string_view key = pickle_[parts[2]].text;
    const Name member = concat(root_, "data/", key);
    Result<SharedBytes> storage =
        storages_.get(key, dtype, archive_.place(member), [&] { return archive_.read(member); });
    if (!storage) return storage;
    if (count < 0 || static_cast<std::uint64_t>(count) > storage->size() / unit)
      return fail(id, concat("storage ", in_quotes(key), " has ", storage->size(), " bytes, fewer than its ", count,
                             " elements need"));
    return storage->part(0, static_cast<std::size_t>(count) * unit);
  }

  /// Returns the bytes per storage element; 0 for an unknown class.
  [[nodiscard]] static std::size_t storage_unit(const PickleValue& type, ScalarType& dtype) noexcept {
    if (type.kind != PickleKind::global) return 0;
    if (type.text == "UntypedStorage") return dtype == ScalarType::undefined ? 0 : 1;
    for (const StorageClass& known : storage_classes) {
      if (known.name != type.text) continue;
      if (dtype == ScalarType::undefined) dtype = known.dtype;
      return size_of(known.dtype);
    }
    return 0;
  }

  const Pickle& pickle_;
  ZipArchive& archive_;
  std::string_view root_;
  std::string_view entry_;
  FileStorages storages_;
};

}  // namespace davit::formats::detail
