// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/formats/load_error.hpp"
#include "davit/formats/pt2/pickle.hpp"
#include "davit/formats/pt2/torch_tensors.hpp"
#include "davit/formats/zip/zip.hpp"
#include "davit/program/exported_program.hpp"

namespace davit::formats {

/// A dictionary saved by torch.save: its tensors and its objects of registered classes, each in file order.
struct TorchDict {
  std::vector<NamedTensor> tensors;
  std::vector<NamedObject> objects;
};

/// A file saved by torch.save: a ZIP archive of a pickle and storages.
///
/// Tensors view the opened bytes; storages misaligned for their elements are copied once. Tensors that share a storage
/// in the file share it here.
class TorchSave {
 public:
  /// Opens a file and reads its pickle. `label` is its name in errors. Errors: corrupt_data.
  [[nodiscard]] static Result<TorchSave> open(SharedBytes bytes, std::string_view label, ZipOptions options = {});

  /// Returns the file's content, if that is a single tensor.
  [[nodiscard]] Result<Tensor> tensor();
  /// Returns the file's content, if that is a dictionary of tensors and objects. Errors: corrupt_data;
  /// unsupported_argument for tensors that are not plain strided ones. O(entries log entries), and a pass over the
  /// storages for their checksums.
  [[nodiscard]] Result<TorchDict> dict();

  /// Returns the file's content in raw form.
  [[nodiscard]] const Pickle& pickle() const noexcept { return pickle_; }
  /// Returns a reader for tensors in pickle(). It views this object.
  [[nodiscard]] detail::TorchTensors tensors() noexcept { return {pickle_, archive_, root_}; }

 private:
  TorchSave(ZipArchive archive, std::string root, Pickle pickle)
      : archive_(std::move(archive)), root_(std::move(root)), pickle_(std::move(pickle)) {}
  [[nodiscard]] static Result<void> check_byteorder(ZipArchive& archive, std::string_view root);
  [[nodiscard]] bool is_dict(const PickleValue& value) const noexcept;
  [[nodiscard]] Result<void> add_entry(TorchDict& dict, PickleId key, PickleId value, detail::TorchTensors& tensors);
  [[nodiscard]] Result<void> check_names(const TorchDict& dict) const;

  ZipArchive archive_;
  std::string root_;  ///< folder of the members, with trailing '/'
  Pickle pickle_;
};

inline Result<TorchSave> TorchSave::open(SharedBytes bytes, std::string_view label, ZipOptions options) {
  Result<ZipArchive> archive = ZipArchive::open(std::move(bytes), label, options);
  if (!archive) return error_of(std::move(archive));
  constexpr std::string_view file = "/data.pkl";
  const auto is_pickle = [&](const ZipMember& m) {
    return m.name.ends_with(file) && m.name.find('/') == m.name.size() - file.size();
  };
  const auto member = std::find_if(archive->members().begin(), archive->members().end(), is_pickle);
  if (member == archive->members().end())
    return corrupt(Name::own(label), "it is not a file of torch.save: it has no data.pkl");
  std::string root = member->name.substr(0, member->name.size() - file.size() + 1);
  if (Result<void> order = check_byteorder(*archive, root); !order) return error_of(std::move(order));
  Result<SharedBytes> content = archive->read(*member);
  if (!content) return error_of(std::move(content));
  Result<Pickle> pickle = read_pickle(*std::move(content), archive->place(member->name), archive->limits());
  if (!pickle) return error_of(std::move(pickle));
  return TorchSave(*std::move(archive), std::move(root), *std::move(pickle));
}

inline Result<void> TorchSave::check_byteorder(ZipArchive& archive, std::string_view root) {
  const Name name = concat(root, "byteorder");
  if (archive.find(name) == nullptr) return {};  // torch before 2.0
  const Result<SharedBytes> order = archive.read(name);
  if (!order) return error_of(order);
  const std::string_view text(reinterpret_cast<const char*>(order->data()), order->size());
  if (text == "little") return {};
  return load_error(ErrorCode::unsupported_argument, archive.place(name), concat("byte order ", in_quotes(text)),
                    "export the program on a little endian machine");
}

inline Result<Tensor> TorchSave::tensor() { return tensors().tensor(pickle_.root(), {}); }

inline bool TorchSave::is_dict(const PickleValue& value) const noexcept {
  return value.kind == PickleKind::dict || (value.kind == PickleKind::call && value.items.size() % 2 == 0 &&
                                            pickle_.is_global(value.callable, "collections", "OrderedDict"));
}

inline Result<TorchDict> TorchSave::dict() {
  detail::TorchTensors tensors = this->tensors();
  const PickleValue& root = pickle_[pickle_.root()];
  if (!is_dict(root)) return tensors.fail(pickle_.root(), {}, "it is not a dictionary");
  TorchDict dict;
  for (std::size_t i = 0; i + 1 < root.items.size(); i += 2) {
    if (Result<void> added = add_entry(dict, root.items[i], root.items[i + 1], tensors); !added)
      return error_of(std::move(added));
  }
  if (Result<void> unique = check_names(dict); !unique) return error_of(std::move(unique));
  return dict;
}

inline Result<void> TorchSave::add_entry(TorchDict& dict, PickleId key, PickleId value, detail::TorchTensors& tensors) {
  const std::string_view name = pickle_[key].text;
  if (pickle_[key].kind != PickleKind::string) return tensors.fail(key, {}, "a key is not text");
  const PickleValue& entry = pickle_[value];
  if (entry.kind == PickleKind::object && pickle_.is_global(entry.callable, "torch", "ScriptObject")) {
    const std::span<const PickleId> state = pickle_.tuple(entry.state);
    if (state.size() != 2 || pickle_[state[1]].kind != PickleKind::string)
      return tensors.fail(value, name, "a script object has no state and class");
    dict.objects.push_back({name, pickle_[state[1]].text, pickle_.state_bytes(entry)});
    return {};
  }
  Result<Tensor> tensor = tensors.tensor(value, name);
  if (!tensor) return error_of(std::move(tensor));
  dict.tensors.push_back({name, *std::move(tensor)});
  return {};
}

inline Result<void> TorchSave::check_names(const TorchDict& dict) const {
  std::vector<std::string_view> names;
  for (const NamedTensor& entry : dict.tensors) names.push_back(entry.name);
  for (const NamedObject& entry : dict.objects) names.push_back(entry.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return {};
  return corrupt(archive_.place(concat(root_, "data.pkl")), concat("entry ", in_quotes(*twice), " is there twice"));
}

}  // namespace davit::formats
