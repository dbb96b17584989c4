// SPDX-License-Identifier: MIT
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/formats/load_error.hpp"
#include "davit/formats/zip/zip.hpp"

namespace davit::formats {

/// Member names of the parts of a program in a `.pt2` file; empty for missing parts.
struct Pt2Layout {
  std::string program;             ///< the JSON of the ExportedProgram
  std::string state_dict;          ///< written by torch.save
  std::string constants;           ///< written by torch.save
  std::string weights_config{};    ///< a payload configuration, instead of state_dict
  std::string constants_config{};  ///< a payload configuration, instead of constants
  std::string weights_folder{};    ///< folder of the payloads, with trailing '/'
  std::string constants_folder{};
  std::string example_inputs{};  ///< written by torch.save
  std::string version{};         ///< "8.2"
};

namespace detail {

/// Returns the first of these names that exists in the archive; empty if none does.
inline std::string first_member(const ZipArchive& archive, std::initializer_list<std::string> names) {
  for (const std::string& name : names)
    if (archive.find(name) != nullptr) return name;
  return {};
}

/// Layout of torch.export.save up to torch 2.7.
inline Pt2Layout plain_layout(const ZipArchive& archive) {
  return {.program = "serialized_exported_program.json",
          .state_dict = first_member(archive, {"serialized_state_dict.pt", "serialized_state_dict.json"}),
          .constants = first_member(archive, {"serialized_constants.pt", "serialized_constants.json"}),
          .example_inputs = first_member(archive, {"serialized_example_inputs.pt"}),
          .version = first_member(archive, {"version"})};
}

/// Returns the names of the models in a PT2 archive.
inline std::vector<std::string> model_names(const ZipArchive& archive, std::string_view root) {
  const std::string folder = std::string(root) + "models/";
  constexpr std::string_view suffix = ".json";
  std::vector<std::string> names;
  for (const ZipMember& member : archive.members())
    if (member.name.starts_with(folder) && member.name.ends_with(suffix) &&
        member.name.size() > folder.size() + suffix.size()) {
      names.push_back(member.name.substr(folder.size(), member.name.size() - folder.size() - suffix.size()));
    }
  return names;
}

/// Chooses a model: the requested one, or, if none is requested, the only one or "model".
inline Result<std::string> choose_model(const ZipArchive& archive, std::string_view root, std::string_view wanted) {
  const std::vector<std::string> names = model_names(archive, root);
  if (names.empty())
    return load_error(ErrorCode::not_found, Name(archive.label()), "the archive holds no exported program",
                      "davit does not run code that AOTInductor compiled: save the program with torch.export.save");
  if (wanted.empty() && names.size() == 1) return names[0];
  const std::string_view name = wanted.empty() ? "model" : wanted;
  std::string list;
  for (const std::string& known : names) {
    if (known == name) return known;
    if (list.size() < 400) list += (list.empty() ? "" : ", ") + in_quotes(known);
  }
  return load_error(ErrorCode::not_found, Name(archive.label()), concat("the archive has no model ", in_quotes(name)),
                    concat("name one of its models: ", list));
}

/// Layout of torch.export.save from torch 2.8 on.
inline Result<Pt2Layout> archive_layout(const ZipArchive& archive, std::string_view root, std::string_view wanted) {
  const Result<std::string> model = choose_model(archive, root, wanted);
  if (!model) return error_of(model);
  const std::string weights = std::string(root) + "data/weights/";
  const std::string constants = std::string(root) + "data/constants/";
  return Pt2Layout{
      .program = std::string(root) + "models/" + *model + ".json",
      .state_dict = first_member(archive, {weights + *model + ".pt"}),
      .constants = first_member(archive, {constants + *model + ".pt"}),
      .weights_config = first_member(archive, {weights + *model + "_weights_config.json"}),
      .constants_config = first_member(archive, {constants + *model + "_constants_config.json"}),
      .weights_folder = weights,
      .constants_folder = constants,
      .example_inputs = first_member(archive, {std::string(root) + "data/sample_inputs/" + *model + ".pt"})};
}

inline Result<std::string> text_member(ZipArchive& archive, std::string_view name) {
  const Result<SharedBytes> bytes = archive.read(name);
  if (!bytes) return error_of(bytes);
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

/// Checks the members archive_format, archive_version and byteorder of a PT2 archive.
inline Result<void> check_archive_marks(ZipArchive& archive, const std::string& root) {
  constexpr std::pair<std::string_view, std::string_view> marks[] = {
      {"archive_format", "pt2"}, {"archive_version", "0"}, {"byteorder", "little"}};
  for (const auto& [name, wanted] : marks) {
    if (archive.find(root + std::string(name)) == nullptr) continue;
    const Result<std::string> text = text_member(archive, root + std::string(name));
    if (!text) return error_of(text);
    if (*text != wanted)
      return load_error(ErrorCode::version_mismatch, archive.place(root + std::string(name)),
                        concat("found ", in_quotes(*text), ", davit reads ", in_quotes(wanted)), "use a newer davit");
  }
  return {};
}

}  // namespace detail

/// Finds the parts of a program in a `.pt2` file of any layout. `model` selects one of several; empty selects the only
/// one, or the one called "model". O(members log members). Errors: corrupt_data if the file is no `.pt2` file;
/// not_found if it lacks the model; version_mismatch.
[[nodiscard]] inline Result<Pt2Layout> find_pt2_layout(ZipArchive& archive, std::string_view model = {}) {
  if (archive.find("serialized_exported_program.json") != nullptr) {
    if (model.empty()) return detail::plain_layout(archive);
    return load_error(ErrorCode::not_found, Name(archive.label()),
                      concat("the file has no model ", in_quotes(model), ": it holds one program, without a name"),
                      "name no model");
  }
  constexpr std::string_view mark = "archive_format";
  for (const ZipMember& member : archive.members()) {
    const std::string_view name = member.name;
    const bool is_mark = name == mark || (name.ends_with(mark) && name.find('/') == name.size() - mark.size() - 1);
    if (!is_mark) continue;
    const std::string root(name.substr(0, name.size() - mark.size()));
    if (Result<void> known = detail::check_archive_marks(archive, root); !known) return error_of(std::move(known));
    return detail::archive_layout(archive, root, model);
  }
  return load_error(ErrorCode::corrupt_data, Name(archive.label()),
                    "it is a ZIP archive, but not one of torch.export.save",
                    "save the program with torch.export.save, not torch.save or torch.jit.save");
}

}  // namespace davit::formats
