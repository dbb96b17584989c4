// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/scalar_type.hpp"
#include "davit/formats/embed/text.hpp"

namespace davit::formats {

/// A tensor of a C function.
struct CTensor {
  std::string name;  ///< in the model
  ScalarType dtype = ScalarType::undefined;
  std::vector<std::int64_t> sizes;  ///< the largest sizes
  bool is_written = false;

  /// Widens it to a tensor for other values of the program's symbols.
  void join(const CTensor& other) {
    for (std::size_t d = 0; d < sizes.size(); ++d) sizes[d] = std::max(sizes[d], other.sizes[d]);
  }
  [[nodiscard]] std::string count() const {
    std::int64_t count = 1;
    for (const std::int64_t size : sizes) count *= size;
    return std::to_string(count);
  }
};

/// A symbol whose value comes with the call.
struct CDim {
  std::string symbol{};  ///< in the model
  std::int64_t first = 0, last = 0;
  std::string name{};  ///< in C; set by EmbedCText
};

/// A method as a C function.
struct CMethod {
  std::string name{};                ///< in C++; empty: forward, the program's only method
  std::vector<CTensor> tensors{};    ///< in the order of the call
  std::vector<std::string> names{};  ///< of the tensors in C; set by EmbedCText
  std::vector<CDim> dims{};

  [[nodiscard]] std::string function() const { return name.empty() ? "forward" : name; }
};

/// The C files of `davit embed --c` beside a program's C++ header: C functions around a static_module on portable.
class EmbedCText {
 public:
  /// `type`: the program's C++ type; `file`: the name of the files.
  EmbedCText(std::string type, std::string file, std::vector<CMethod> methods, std::size_t arena_bytes, bool has_state)
      : type_(std::move(type)),
        file_(std::move(file)),
        methods_(std::move(methods)),
        arena_bytes_(arena_bytes),
        has_state_(has_state) {
    std::set<std::string, std::less<>> taken;
    for (CMethod& method : methods_) {
      const auto free_name = [&](std::string_view of) {
        const std::string name = embed_text::identifier(of);
        std::string own = name;
        for (int i = 2; !taken.insert(prefix(method) + upper(own)).second; ++i) own = name + "_" + std::to_string(i);
        return own + (own == "restrict" ? "_" : "");
      };
      for (const CTensor& tensor : method.tensors) method.names.push_back(free_name(tensor.name));
      for (CDim& dim : method.dims) dim.name = free_name(dim.symbol);
    }
  }

  /// Returns the C type of elements; nullptr if C has none.
  [[nodiscard]] static constexpr const char* element_type(ScalarType type) noexcept {
    switch (type) {
      case ScalarType::float32: return "float";
      case ScalarType::float64: return "double";
      case ScalarType::int8: return "int8_t";
      case ScalarType::uint8: return "uint8_t";
      case ScalarType::int16: return "int16_t";
      case ScalarType::int32: return "int32_t";
      case ScalarType::int64: return "int64_t";
      case ScalarType::bool_: return "bool";
      case ScalarType::float16:
      case ScalarType::bfloat16: return "uint16_t";  // its bits
      default: return nullptr;
    }
  }

  /// The text of NAME.h.
  [[nodiscard]] std::string header() const {
    const std::string own = upper(type_);
    std::string out = "/* Written by `davit embed --c`. Compile " + file_ + "_c.cpp as C++23 and link it. */\n";
    out += "#ifndef DAVIT_" + own + "_H\n#define DAVIT_" + own + "_H\n\n";
    out += "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n";
    out += "/* The memory of a run. Models that take turns may be given the same. */\n";
    out += "#define " + own + "_ARENA_BYTES " + std::to_string(arena_bytes_) + "\n";
    out += "#define " + own + "_ARENA_ALIGNMENT 16\n\n";
    for (const CMethod& method : methods_) {
      for (const CDim& dim : method.dims) {
        const std::string name = prefix(method) + upper(dim.name);
        out += "/* " + method.function() + " takes it: what sizes follow from; those of tensors are the largest */\n";
        out += "#define " + name + "_MIN " + std::to_string(dim.first) + "\n#define " + name + "_MAX " +
               std::to_string(dim.last) + "\n\n";
      }
      for (std::size_t i = 0; i < method.tensors.size(); ++i)
        tensor_macros(out, prefix(method) + upper(method.names[i]), method.function(), method.tensors[i]);
    }
    out += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    out +=
        "/* To be called before the first run: gives the model its memory, and its state (buffers that it changes) the "
        "initial\n"
        "   values. Returns 0, or what `davit explain` explains (print it as unsigned). */\n";
    out += "int " + type_ + "_init(void* arena, size_t arena_bytes);\n\n";
    if (has_state_) out += "/* Gives the state its initial values again. */\nvoid " + type_ + "_reset(void);\n\n";
    out +=
        "/* Runs the model on contiguous row-major tensors, which must not overlap. Returns 0, or what `davit explain` "
        "explains:\n"
        "   the state is then unchanged. */\n";
    for (const CMethod& method : methods_) {
      std::string parameters;
      for (const CDim& dim : method.dims) parameters += (parameters.empty() ? "" : ", ") + ("int64_t " + dim.name);
      for (std::size_t i = 0; i < method.tensors.size(); ++i)
        parameters += std::string(parameters.empty() ? "" : ", ") + (method.tensors[i].is_written ? "" : "const ") +
                      element_type(method.tensors[i].dtype) + "* " + method.names[i];
      out += "int " + type_ + "_" + method.function() + "(" + (parameters.empty() ? "void" : parameters) + ");\n";
    }
    out += "\n#ifdef __cplusplus\n}\n#endif\n\n";
    return out + "#endif\n";
  }

  /// The text of NAME_c.cpp.
  [[nodiscard]] std::string source() const {
    std::string out = "// Written by `davit embed --c`.\n#include \"" + file_ +
                      ".h\"\n\n#include <cstddef>\n#include <cstdint>\n#include <span>\n\n";
    out += "#include \"" + file_ +
           ".hpp\"\n#include \"davit/backends/portable/embed.hpp\"\n#include \"davit/embed/c_model.hpp\"\n\n";
    out += "namespace {\n\nusing davit_module = davit::static_module<" + type_ +
           ", davit::external_arena, davit::portable>;\n";
    out += "static_assert(davit_module::arena_bytes == " + upper(type_) +
           "_ARENA_BYTES && davit::static_alignment == " + upper(type_) +
           "_ARENA_ALIGNMENT,\n              \"davit: these files are of another version of davit; embed the model "
           "again\");\n";
    out += "constinit davit::c_model<davit_module> davit_model;\n\n}  // namespace\n\n";
    out += "int " + type_ +
           "_init(void* arena, std::size_t arena_bytes) { return davit_model.init(arena, arena_bytes); }\n\n";
    if (has_state_) out += "void " + type_ + "_reset(void) { davit_model.reset(); }\n\n";
    for (const CMethod& method : methods_) {
      std::string parameters, arguments;
      for (std::size_t i = 0; i < method.dims.size(); ++i) {
        parameters += (i == 0 ? "" : ", ") + ("std::int64_t d" + std::to_string(i));
        arguments += (i == 0 ? "davit::with_dims(d" : ", d") + std::to_string(i);
      }
      if (!arguments.empty()) arguments += ")";
      for (std::size_t i = 0; i < method.tensors.size(); ++i) {
        const CTensor& tensor = method.tensors[i];
        const std::string comma = parameters.empty() ? "" : ", ", constant = tensor.is_written ? "" : "const ",
                          name = std::string("t") + std::to_string(i);
        parameters += comma + constant + element_type(tensor.dtype) + "* " + name;
        const char* half = tensor.dtype == ScalarType::float16    ? "davit::Half"
                           : tensor.dtype == ScalarType::bfloat16 ? "davit::BFloat16"
                                                                  : nullptr;
        const std::string element = constant + (half != nullptr ? half : element_type(tensor.dtype));
        arguments += comma + "std::span<" + element + ", " + tensor.count() + ">(" +
                     (half != nullptr ? "reinterpret_cast<" + element + "*>(" + name + ")" : name) + ", " +
                     tensor.count() + ")";
      }
      out += "int " + type_ + "_" + method.function() + "(" + parameters + ") {\n  return davit_model.call<" + type_ +
             (method.name.empty() ? "" : "::" + method.name) + ">(" + arguments + ");\n}\n";
    }
    return out;
  }

 private:
  [[nodiscard]] static std::string upper(std::string_view text) {
    std::string out(text);
    for (char& c : out)
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return out;
  }
  /// The prefix of a method's macros.
  [[nodiscard]] std::string prefix(const CMethod& method) const {
    return upper(type_ + "_") + (method.name.empty() ? "" : upper(method.name + "_"));
  }
  static void tensor_macros(std::string& out, const std::string& prefix, const std::string& function,
                            const CTensor& tensor) {
    out += "/* " + function + (tensor.is_written ? " writes it" : " reads it") + " */\n";
    out += "#define " + prefix + "_TYPE " + element_type(tensor.dtype) + "\n";
    out += "#define " + prefix + "_DTYPE \"" + std::string(name_of(tensor.dtype)) + "\"\n";
    out += "#define " + prefix + "_COUNT " + tensor.count() + "\n#define " + prefix + "_RANK " +
           std::to_string(tensor.sizes.size()) + "\n";
    if (!tensor.sizes.empty()) {
      out += "#define " + prefix + "_SIZES {";
      for (std::size_t d = 0; d < tensor.sizes.size(); ++d)
        out += (d == 0 ? "" : ", ") + std::to_string(tensor.sizes[d]);
      out += "}\n";
    }
    out += "\n";
  }

  std::string type_, file_;
  std::vector<CMethod> methods_;
  std::size_t arena_bytes_;
  bool has_state_;
};

}  // namespace davit::formats
