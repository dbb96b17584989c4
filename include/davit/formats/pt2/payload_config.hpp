// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/formats/json/json.hpp"
#include "davit/formats/pt2/file_tensor.hpp"
#include "davit/formats/pt2/schema_enums.hpp"
#include "davit/formats/pt2/torch_save.hpp"
#include "davit/formats/zip/zip.hpp"

namespace davit::formats {

/// Reads the weights or constants of a program in an archive of torch 2.9 or later. A JSON file maps each tensor to the
/// member with its storage (raw bytes), and to its view of the storage.
///
/// Source: torch.export.pt2_archive._package, _load_state_dict and _load_constants.
class PayloadReader {
 public:
  /// `folder` holds the payloads: "model/data/weights/". `options` apply to archives among them.
  PayloadReader(ZipArchive& archive, std::string folder, ZipOptions options)
      : archive_(archive), folder_(std::move(folder)), options_(options) {}

  /// Reads the entries of a payload configuration. Tensors of one member share its bytes. Errors: those of the JSON,
  /// missing members, tensors that do not fit their storage.
  [[nodiscard]] Result<TorchDict> read(Json json) {
    const Result<JsonObject> config = json.object("config");
    if (!config) return error_of(config);
    TorchDict dict;
    for (const JsonMember member : *config)
      if (Result<void> added = entry(member.key, member.value, dict); !added) return error_of(std::move(added));
    return dict;
  }

 private:
  [[nodiscard]] Result<void> entry(std::string_view name, Json json, TorchDict& dict) {
    const Result<std::string_view> path = json.string("path_name");
    if (!path) return error_of(path);
    const Result<bool> use_pickle = json.boolean("use_pickle");
    if (!use_pickle) return error_of(use_pickle);
    const Name member = concat(folder_, *path);
    if (path->starts_with("custom_obj_") || path->starts_with("opaque_obj_")) {
      const Result<SharedBytes> state = once(objects_, member, [&] { return archive_.read(member); });
      if (!state) return error_of(state);
      dict.objects.push_back({name, {}, *state});
      return {};
    }
    Result<Tensor> tensor = *use_pickle ? once(pickled_, member, [&] { return pickled(member); }) : raw(json, member);
    if (!tensor) return error_of(std::move(tensor));
    dict.tensors.push_back({name, *std::move(tensor)});
    return {};
  }

  /// Calls `read` once per member and caches its result: many entries may name one large member.
  template <class T, class Read>
  [[nodiscard]] static Result<T> once(std::map<std::string, T, std::less<>>& known, const Name& member, Read&& read) {
    if (const auto at = known.find(member.view()); at != known.end()) return at->second;
    Result<T> made = std::forward<Read>(read)();
    if (made) known.emplace(member.view(), *made);
    return made;
  }

  /// Reads a member that torch.save wrote, with a single tensor.
  [[nodiscard]] Result<Tensor> pickled(const Name& member) {
    Result<SharedBytes> bytes = archive_.read(member);
    if (!bytes) return error_of(std::move(bytes));
    Result<TorchSave> file = TorchSave::open(*std::move(bytes), archive_.place(member), options_);
    if (!file) return error_of(std::move(file));
    return file->tensor();
  }

  [[nodiscard]] Result<Tensor> raw(Json json, const Name& member) {
    const Result<Json> meta = json.at("tensor_meta");
    if (!meta) return error_of(meta);
    const Result<Json> type = meta->at("dtype");
    if (!type) return error_of(type);
    const Result<ScalarType> dtype = read_scalar_type(*type);
    if (!dtype) return error_of(dtype);
    Tensor tensor{.dtype = *dtype, .sizes = {}, .strides = {}, .storage = {}};
    if (Result<void> read = view(*meta, tensor); !read) return error_of(std::move(read));
    const Name place = archive_.place(member);
    Result<SharedBytes> storage = storages_.get(member, *dtype, place, [&] { return archive_.read(member); });
    if (!storage) return error_of(std::move(storage));
    tensor.storage = *std::move(storage);
    if (tensor.storage.empty() && checked_numel(tensor.sizes) > 0) return zeros(std::move(tensor), place);
    if (Result<void> fits = check_file_tensor(tensor, place); !fits) return error_of(std::move(fits));
    return tensor;
  }

  /// Reads a tensor's view of its storage.
  [[nodiscard]] static Result<void> view(Json meta, Tensor& tensor) {
    const auto numbers = [&](std::string_view key, std::vector<std::int64_t>& list) -> Result<void> {
      const Result<JsonArray> array = meta.array(key);
      if (!array) return error_of(array);
      for (const Json item : *array) {
        const Result<std::int64_t> number = item.integer("as_int");
        if (!number) return error_of(number);
        list.push_back(*number);
      }
      return {};
    };
    if (Result<void> sizes = numbers("sizes", tensor.sizes); !sizes) return sizes;
    if (Result<void> strides = numbers("strides", tensor.strides); !strides) return strides;
    const Result<Json> offset = meta.at("storage_offset");
    if (!offset) return error_of(offset);
    const Result<std::int64_t> elements = offset->integer("as_int");
    if (!elements) return error_of(elements);
    tensor.storage_offset = *elements;
    const Result<bool> requires_grad = meta.boolean("requires_grad");
    if (!requires_grad) return error_of(requires_grad);
    tensor.requires_grad = *requires_grad;
    return {};
  }

  /// Makes zeros for a tensor that was exported without data, as torch does. The total memory is limited, because the
  /// file does not contain these bytes.
  [[nodiscard]] Result<Tensor> zeros(Tensor tensor, const Name& place) {
    if (tensor.sizes.size() > max_rank) return corrupt(place, "the tensor has too many dimensions");
    const auto numel = static_cast<std::uint64_t>(checked_numel(tensor.sizes));
    const std::uint64_t size = numel > zeros_left_ ? numel : numel * size_of(tensor.dtype);
    if (size > zeros_left_)
      return load_error(ErrorCode::out_of_memory, place,
                        "the file has no data for this tensor, which is too large to be zeros",
                        "export the program with real weights");
    zeros_left_ -= size;
    Tensor filled = Tensor::zeros(tensor.dtype, tensor.sizes);
    if (filled.storage.size() != size) return load_error(ErrorCode::out_of_memory, place, "no memory for a tensor", {});
    filled.requires_grad = tensor.requires_grad;
    return filled;
  }

  ZipArchive& archive_;
  std::string folder_;
  ZipOptions options_;
  FileStorages storages_;
  std::map<std::string, SharedBytes, std::less<>> objects_;  ///< by member
  std::map<std::string, Tensor, std::less<>> pickled_;       ///< by member
  std::uint64_t zeros_left_ = std::uint64_t{1} << 28;
};

}  // namespace davit::formats
