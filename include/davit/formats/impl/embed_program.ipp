// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/error.hpp"
#include "davit/formats/embed/c_text.hpp"
#include "davit/formats/embed/constants.hpp"
#include "davit/formats/embed/method.hpp"
#include "davit/formats/embed/numbers.hpp"
#include "davit/formats/embed/refusals.hpp"
#include "davit/formats/embed/state.hpp"
#include "davit/formats/embed_program.hpp"
#include "davit/program/exported_program.hpp"

namespace davit::formats {

namespace detail {

class ProgramEmbedder {
 public:
  /// `is_one`: the program has a single method, forward.
  ProgramEmbedder(std::span<const ProgramMethod> methods, const EmbedOptions& options, bool is_one)
      : methods_(methods.begin(), methods.end()),
        options_(options),
        is_one_(is_one),
        type_(embed_text::identifier(options.name)),
        constants_(type_ + "_constants") {}

  [[nodiscard]] Result<EmbeddedProgram> run() {
    if (Result<void> named = name_methods(); !named) return error_of(named);
    Result<EmbedState> state = EmbedState::make(methods_);
    if (!state) return error_of(state);
    if (Result<void> bound = bind_symbols(); !bound) return error_of(bound);
    for (std::size_t m = 0; m < methods_.size(); ++m) {
      for (Size& size : sizes_[m]) {
        size.text =
            std::make_unique<EmbedMethod>(*methods_[m].program, options_, *size.numbers, *state, !is_one_, constants_);
        if (Result<void> listed = size.text->run(); !listed) return of_size(m, size, std::move(listed.error()));
      }
    }
    if (!options_.weights_as_array && !constants_.blob().empty() && embed_text::escaped(options_.name) != options_.name)
      return refuse_embedding(concat("the name '", options_.name, "'"), "no file of that name can be named in a header",
                              "use letters, digits, - and _");
    if (!std::ranges::all_of(options_.section, [](char c) {
          return c == '.' || c == '_' || c == '-' || c == '$' || embed_text::is_alphanumeric(c);
        }))
      return refuse_embedding(concat("the section '", options_.section, "'"), "no section has such a name",
                              "use letters, digits, '.', '_', '-' and '$'");
    if (constants_.blob().size() > INT32_MAX)
      return refuse_embedding("the program", "its weights do not fit 31 bits", "");
    EmbeddedProgram out{.header = header(),
                        .blob = options_.weights_as_array ? std::vector<std::byte>{} : constants_.blob(),
                        .unchecked = unchecked()};
    if (options_.plan != nullptr)
      if (Result<void> written = write_c(!state->empty(), out); !written) return error_of(written);
    return out;
  }

 private:
  /// A method with fixed values for its symbols.
  struct Size {
    EmbedNumbers::Symbols symbols{};  ///< symbols with several values
    std::unique_ptr<EmbedNumbers> numbers{};
    std::unique_ptr<EmbedMethod> text{};
  };

  /// Prints the symbols: "s0=4, s1=2".
  [[nodiscard]] static std::string listed(const Size& size) {
    std::string out;
    for (const auto& [name, number] : size.symbols)
      out += (out.empty() ? "" : ", ") + name + "=" + std::to_string(number);
    return out;
  }
  [[nodiscard]] std::unexpected<Error> of_size(std::size_t m, const Size& size, Error error) const {
    if (!size.symbols.empty())
      error.where = concat("with ", listed(size), error.where.empty() ? "" : ", ", error.where);
    return of_method(m, std::move(error));
  }
  /// Adds the method's name to an error.
  [[nodiscard]] std::unexpected<Error> of_method(std::size_t m, Error error) const {
    if (!is_one_) error.where = concat("method '", methods_[m].name, "'", error.where.empty() ? "" : ", ", error.where);
    return std::unexpected(std::move(error));
  }

  /// Chooses the methods' C++ names, which become functions of modules and types in the program's type.
  [[nodiscard]] Result<void> name_methods() {
    static constexpr auto taken = std::to_array<std::string_view>(
        {"arena", "arena_bytes", "backend_of",    "backends",   "call",        "calls",        "init",
         "input", "method",      "methods",       "operators",  "output",      "partition_of", "ram_bytes",
         "reset", "state_bytes", "static_module", "step_count", "table_bytes", "weight_bytes"});
    if (methods_.empty()) return refuse_embedding("the program", "it has no methods", "");
    for (const ProgramMethod& method : methods_) {
      const std::string name = embed_text::identifier(method.name.view());
      const Name where = concat("method '", method.name, "'");
      if (is_one_) {
      } else if (std::ranges::find(names_, name) != names_.end()) {
        return refuse_embedding(where, concat("another method is called ", name, " in C++ too"),
                                "give it another name");
      } else if (name == type_ || std::ranges::find(taken, std::string_view(name)) != taken.end()) {
        return refuse_embedding(
            where,
            name == type_ ? "the program has the same name" : "a static_module has something of that name itself",
            "give it another name: OTHER=FILE");
      }
      names_.push_back(name);
    }
    return {};
  }
  [[nodiscard]] Result<void> bind_symbols() {
    for (const ProgramMethod& method : methods_) {
      const std::string prefix = std::string(method.name.view()) + ".";
      std::vector<EmbedSymbol> own;
      for (const EmbedSymbol& each : options_.symbols)
        if (each.name.starts_with(prefix))
          own.push_back({each.name.substr(prefix.size()), each.first, each.last, each.step});
      for (const EmbedSymbol& each : options_.symbols)
        if (std::ranges::find(own, each.name, &EmbedSymbol::name) == own.end()) own.push_back(each);
      Result<std::vector<Size>> sizes = sizes_of(*method.program, own);
      if (!sizes) return of_method(sizes_.size(), std::move(sizes.error()));
      sizes_.push_back(*std::move(sizes));
    }
    for (const EmbedSymbol& each : options_.symbols)
      if (!is_symbol(each.name))
        return refuse_embedding(concat("symbol ", each.name), "the program has no such symbol", symbol_lists());
    for (std::size_t m = 0; m < methods_.size(); ++m) {
      for (const Size& size : sizes_[m])
        if (Result<void> bound = size.numbers->bind(); !bound) return of_size(m, size, std::move(bound.error()));
      if (Result<void> held = keep_guarded(m); !held) return held;
    }
    return {};
  }
  /// Removes the sizes of a method that break a guard; calls with them are then rejected as unknown sizes. Errors: if
  /// no size is left, the error of the last one.
  [[nodiscard]] Result<void> keep_guarded(std::size_t m) {
    std::vector<Size> kept;
    for (Size& size : sizes_[m]) {
      Result<void> held = size.numbers->check_guards();
      if (!held && kept.empty() && &size == &sizes_[m].back()) return of_size(m, size, std::move(held.error()));
      if (held)
        kept.push_back(std::move(size));
      else
        left_out_.push_back((is_one_ ? "" : std::string(methods_[m].name.view()) + ": ") + listed(size) + ": " +
                            std::string(held.error().what.view()));
    }
    sizes_[m] = std::move(kept);
    return {};
  }
  static constexpr std::size_t max_sizes = 256;
  /// Returns all combinations of values of a program's symbols.
  [[nodiscard]] static Result<std::vector<Size>> sizes_of(const ExportedProgram& program,
                                                          const std::vector<EmbedSymbol>& symbols) {
    const EmbedNumbers any(program, {});
    EmbedNumbers::Symbols fixed;
    std::vector<Size> sizes(1);
    for (const EmbedSymbol& symbol : symbols) {
      if (symbol.step < 1 || symbol.last < symbol.first || (symbol.last > symbol.first && symbol.first < 0))
        return refuse_embedding(concat("symbol ", symbol.name), "its range has no numbers, or negative ones",
                                "write, say, --dim s0=1..32, or s0=8..64:8 for each eighth");
      const std::uint64_t more_than_one =
          (static_cast<std::uint64_t>(symbol.last) - static_cast<std::uint64_t>(symbol.first)) /
          static_cast<std::uint64_t>(symbol.step);
      if (more_than_one == 0 || !any.has(symbol.name)) {
        fixed.emplace_back(symbol.name, symbol.first);
        continue;
      }
      if (more_than_one >= max_sizes || (more_than_one + 1) * sizes.size() > max_sizes)
        return refuse_embedding(
            concat("symbol ", symbol.name),
            concat("the program would be of more than ", max_sizes, " sizes, each of which is planned"),
            "give a narrower range, or every Nth number of it: --dim s0=FIRST..LAST:N");
      std::vector<Size> more;
      for (const Size& size : sizes) {
        for (std::uint64_t k = 0; k <= more_than_one; ++k) {
          more.push_back({.symbols = size.symbols});
          more.back().symbols.emplace_back(symbol.name, symbol.first + static_cast<std::int64_t>(k) * symbol.step);
        }
      }
      sizes = std::move(more);
    }
    for (Size& size : sizes) {
      EmbedNumbers::Symbols all = size.symbols;
      all.insert(all.end(), fixed.begin(), fixed.end());
      size.numbers = std::make_unique<EmbedNumbers>(program, std::move(all));
    }
    return sizes;
  }
  [[nodiscard]] const EmbedNumbers& numbers_of(std::size_t m) const { return *sizes_[m][0].numbers; }
  [[nodiscard]] bool is_symbol(std::string_view symbol) const {
    for (std::size_t m = 0; m < methods_.size(); ++m) {
      const std::string_view method = methods_[m].name.view();
      const bool is_own = symbol.starts_with(method) && symbol.substr(method.size()).starts_with('.');
      if (numbers_of(m).has(symbol) || (is_own && numbers_of(m).has(symbol.substr(method.size() + 1)))) return true;
    }
    return false;
  }
  [[nodiscard]] Name symbol_lists() const {
    if (is_one_) return numbers_of(0).symbol_list();
    Name list;
    for (std::size_t m = 0; m < methods_.size(); ++m)
      list = concat(list, m == 0 ? "" : "; ", "of '", methods_[m].name, "' ", numbers_of(m).symbol_list());
    return list;
  }
  [[nodiscard]] std::vector<std::string> unchecked() const {
    std::vector<std::string> all;
    for (std::size_t m = 0; m < methods_.size(); ++m)
      for (const std::string& assertion : numbers_of(m).unchecked())
        all.push_back((is_one_ ? "" : std::string(methods_[m].name.view()) + ": ") + assertion);
    return all;
  }

  /// Writes C functions around the program on portable. Uses the memory plan that the compiler will compute.
  [[nodiscard]] Result<void> write_c(bool has_state, EmbeddedProgram& out) const {
    if (embed_text::escaped(options_.name) != options_.name)
      return refuse_embedding(concat("the name '", options_.name, "'"), "no file of that name can be named in a header",
                              "use letters, digits, - and _");
    std::vector<CMethod> methods;
    std::size_t arena_bytes = 0;
    for (std::size_t m = 0; m < methods_.size(); ++m) {
      std::vector<CTensor> all;
      for (const Size& size : sizes_[m]) {
        auto tensors = size.text->c_tensors();
        if (!tensors) return of_size(m, size, std::move(tensors.error()));
        arena_bytes = std::max(arena_bytes, tensors->second);
        if (all.empty())
          all = std::move(tensors->first);
        else
          for (std::size_t i = 0; i < all.size(); ++i) all[i].join(tensors->first[i]);
      }
      methods.push_back({.name = is_one_ ? "" : names_[m], .tensors = std::move(all)});
      for (const auto& [symbol, number] : sizes_[m].front().symbols)
        methods.back().dims.push_back({symbol, number, number});
      for (std::size_t i = 0; i < methods.back().dims.size(); ++i)
        methods.back().dims[i].last = sizes_[m].back().symbols[i].second;
    }
    const EmbedCText text(type_, options_.name, std::move(methods), arena_bytes, has_state);
    out.c_header = text.header();
    out.c_source = text.source();
    return {};
  }
  [[nodiscard]] std::string header() const {
    const bool has_blob = !constants_.blob().empty();
    const Name& torch_version = methods_[0].program->torch_version;
    std::string out = "// Written by `davit embed`: " + embed_text::comment(options_.name);
    if (!torch_version.empty()) out += ", exported by torch " + embed_text::comment(torch_version);
    out += ".\n";
    for (const std::string& assertion : unchecked()) out += "// Not checked: " + embed_text::comment(assertion) + "\n";
    for (const ProgramMethod& method : methods_)
      for (std::size_t guard = 0; guard < method.program->guards.size(); ++guard)
        out += "// Holds: " + (is_one_ ? "" : embed_text::comment(method.name.view()) + ": ") +
               embed_text::comment(print_guard(method.program->guards, guard, guard_names(*method.program))) + "\n";
    for (const std::string& size : left_out_) out += "// Left out: " + embed_text::comment(size) + "\n";
    out +=
        "#pragma once\n\n#include <array>\n#include <bit>\n#include <cstddef>\n#include <cstdint>\n#include "
        "<limits>\n#include <string_view>\n\n";
    if (!is_one_) out += "#include \"davit/core/error.hpp\"\n";
    out += "#include \"davit/embed/static_program.hpp\"\n\n";
    if (!constants_.arrays().empty())
      out += "/// The constants that constant evaluation reads.\nnamespace " + type_ + "_constants {\n" +
             constants_.arrays() + "}  // namespace " + type_ + "_constants\n\n";
    if (has_blob)
      out +=
          "static_assert(std::endian::native == std::endian::little, \"davit: these weights are little-endian\");\n" +
          blob_text();
    if (is_one_) return out + program("forward", type_, options_.name, sizes_[0]);
    std::string list, calls;
    out += "/// " + std::to_string(methods_.size()) + " methods over one state.\nstruct " + type_ +
           " {\n  static constexpr std::string_view name = \"" + embed_text::escaped(options_.name) + "\";\n\n";
    for (std::size_t m = 0; m < methods_.size(); ++m) {
      out += indented(
                 program(embed_text::comment(methods_[m].name.view()), names_[m], methods_[m].name.view(), sizes_[m])) +
             "\n";
      list += (m == 0 ? "" : ", ") + names_[m];
      calls += "    template <class... Tensors>\n    constexpr davit::Status " + names_[m] +
               "(Tensors&&... tensors) noexcept {\n      return static_cast<Module&>(*this).template call<struct " +
               type_ + "::" + names_[m] + ">(tensors...);\n    }\n";
    }
    return out + "  using methods = davit::static_methods<" + list + ">;\n" +
           "  /// What a static_module of the program derives from.\n  template <class Module>\n  struct calls {\n" +
           calls + "  };\n};\n";
  }
  /// Prints a method as a StaticProgram; as several if it has several sizes.
  [[nodiscard]] std::string program(std::string_view called, std::string_view type, std::string_view name,
                                    const std::vector<Size>& sizes) const {
    const std::string head = "struct " + std::string(type) + " {\n  static constexpr std::string_view name = \"" +
                             embed_text::escaped(name) + "\";\n";
    const std::string weights = constants_.blob().empty()
                                    ? ""
                                    : "  static const std::byte* weights() noexcept { return " + blob_name() + "; }\n";
    const std::string about = "/// " + std::string(called) + ": ";
    if (sizes[0].symbols.empty())
      return about + sizes[0].text->arguments() + "\n" + head + sizes[0].text->members() + weights + "};\n";
    std::string out = about, list, dims;
    for (const auto& [symbol, number] : sizes[0].symbols)
      dims += (dims.empty() ? "" : ", ") + embed_text::comment(symbol);
    out += "with_dims(" + dims + "), " + sizes.front().text->arguments() + "\n/// to " +
           sizes.back().text->arguments() + "\n" + head;
    const std::string prefix = type.starts_with("at_") ? "size" : "at";
    for (const Size& size : sizes) {
      std::string own = prefix, numbers;
      for (const auto& [symbol, number] : size.symbols) {
        own.append("_").append(std::to_string(number));
        numbers += (numbers.empty() ? "" : ", ") + std::to_string(number);
      }
      out += "\n" + indented("/// With " + embed_text::comment(listed(size)) + ".\nstruct " + own +
                             " {\n  static constexpr std::string_view name = \"" + embed_text::escaped(name) +
                             "\";\n  static constexpr std::array<std::int64_t, " + std::to_string(size.symbols.size()) +
                             "> symbols{" + numbers + "};\n" + size.text->members() + weights + "};\n");
      list += (list.empty() ? "" : ", ") + own;
    }
    return out + "\n  using sizes = davit::static_sizes<" + list + ">;\n};\n";
  }
  [[nodiscard]] static std::string indented(std::string_view text) {
    std::string out;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin) + 1;
      out.append("  ").append(text.substr(begin, end - begin));
      begin = end;
    }
    return out;
  }
  [[nodiscard]] std::string blob_name() const {
    return options_.weights_as_array ? "reinterpret_cast<const std::byte*>(" + type_ + "_constants::weights)"
                                     : "davit_weights_" + type_;
  }
  [[nodiscard]] std::string section() const {
    return options_.section.empty() ? ".rodata.davit.weights." + type_ : options_.section;
  }
  [[nodiscard]] std::string blob_text() const {
    const std::vector<std::byte>& blob = constants_.blob();
    std::string out;
    if (options_.weights_as_array) {
      const bool is_long = blob.size() >= 65536;  // clang warns of such literals
      out += "namespace " + type_ + "_constants {\n";
      if (is_long) out += "#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n";
      out += "[[gnu::section(\"" + section() + "\")]] alignas(16) inline constexpr char weights[] =";
      embed_text::append_bytes(out, blob, "    ");
      out += ";\n";
      if (is_long) out += "#pragma GCC diagnostic pop\n";
      return out + "}  // namespace " + type_ + "_constants\n\n";
    }
    const std::string symbol = "davit_weights_" + type_;
    out += "// The weights, from " + embed_text::comment(options_.name) +
           ".bin: its folder must be among the include paths.\n";
    // Split, because ccache does not cache files that seem to contain this directive.
    out += "asm(R\"(\n  .pushsection " + section() + ", \"aG\", %progbits, " + symbol +
           ", comdat\n  .balign 16\n  .weak " + symbol + "\n  .hidden " + symbol + "\n  .type " + symbol +
           ", %object\n" + symbol +
           ":\n  .inc"
           "bin \"" +
           options_.name + ".bin\", 0, " + std::to_string(blob.size()) + "\n  .size " + symbol + ", " +
           std::to_string(blob.size()) +
           "\n  .popsection\n)\");\nextern \"C\" [[gnu::visibility(\"hidden\")]] const std::byte " + symbol + "[];\n\n";
    return out;
  }
  std::vector<ProgramMethod> methods_;
  const EmbedOptions& options_;
  bool is_one_;
  std::string type_;
  EmbedConstants constants_;
  std::vector<std::string> names_;        ///< C++ names per method
  std::vector<std::vector<Size>> sizes_;  ///< per method
  std::vector<std::string> left_out_;     ///< sizes that break a guard
};

}  // namespace detail

Result<EmbeddedProgram> embed_program(const ExportedProgram& program, const EmbedOptions& options) {
  const ProgramMethod forward{"forward", &program};
  return detail::ProgramEmbedder(std::span(&forward, 1), options, true).run();
}
Result<EmbeddedProgram> embed_program(std::span<const ProgramMethod> methods, const EmbedOptions& options) {
  return detail::ProgramEmbedder(methods, options, false).run();
}

}  // namespace davit::formats
