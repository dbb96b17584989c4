// SPDX-License-Identifier: MIT
#include <cstddef>
#include <string_view>
#include <vector>

#include "command_line.hpp"

namespace tool {

namespace {

/// An option or argument of a command, for completion.
struct Choice {
  std::vector<std::string> names;  ///< with their dashes; empty: an argument
  bool takes_value = false;
  std::string values;  ///< separated by blanks; empty: any
  bool files = false;  ///< any text, possibly a file
  std::string text;
};
struct Command {
  std::string name;
  std::string text;
  std::vector<Choice> choices;
};

/// Returns the members of a set that help prints as {a,b}.
[[nodiscard]] std::string values_of(std::string_view type) {
  const std::size_t begin = type.find('{'), end = type.find('}');
  if (begin == std::string_view::npos || end == std::string_view::npos) return {};
  std::string values(type.substr(begin + 1, end - begin - 1));
  for (char& c : values)
    if (c == ',') c = ' ';
  return values;
}

[[nodiscard]] Command command_of(const CLI::App& app) {
  Command command{app.get_name(), app.get_description(), {}};
  for (const CLI::Option* option : app.get_options()) {
    Choice& choice = command.choices.emplace_back();
    for (const std::string& name : option->get_lnames()) choice.names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) choice.names.push_back("-" + name);
    choice.takes_value = option->get_items_expected_max() > 0;
    choice.values = values_of(option->get_type_name());
    choice.files = choice.values.empty() && option->get_type_name().starts_with("TEXT");
    choice.text = option->get_description();
  }
  return command;
}

[[nodiscard]] std::string replaced(std::string_view text, char what, std::string_view by) {
  std::string out;
  for (const char c : text) c == what ? out += by : out += c;
  return out;
}
/// Quotes a text for a Bourne shell.
[[nodiscard]] std::string shell_text(std::string_view text) { return "'" + replaced(text, '\'', "'\\''") + "'"; }

/// Returns the names of the options, and the possible values of arguments.
[[nodiscard]] std::string words_of(const Command& command, bool options) {
  std::string words;
  for (const Choice& choice : command.choices) {
    if (!options && choice.names.empty()) words += choice.values + " ";
    for (const std::string& name : choice.names)
      if (options) words += name + " ";
  }
  if (!words.empty() && words.back() == ' ') words.pop_back();
  return words;
}

[[nodiscard]] std::string bash(const Command& all, const std::vector<Command>& commands) {
  std::string names, values, arguments, options;
  for (const Command& command : commands) {
    names += command.name + " ";
    arguments += "    " + command.name + ") words=" + shell_text(words_of(command, false)) + " ;;\n";
    options += "    " + command.name + ") words=" + shell_text(words_of(command, true)) + " ;;\n";
    std::string any;  // options with arbitrary values
    for (const Choice& choice : command.choices)
      for (const std::string& name : choice.names) {
        if (!choice.takes_value) continue;
        const std::string pattern = command.name + "," + name;
        if (choice.values.empty())
          (any += any.empty() ? "" : "|") += pattern;
        else
          values += "    " + pattern + ") words=" + shell_text(choice.values) + " ;;\n";
      }
    if (!any.empty()) values += "    " + any + ") words= ;;\n";
  }
  return "# bash completion of davit: davit completions bash >~/.local/share/bash-completion/completions/davit\n"
         "_davit() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words before=\n"
         "  case \"$command,${COMP_WORDS[COMP_CWORD-1]}\" in\n" +
         values + "    *) if [ \"$COMP_CWORD\" = 1 ]; then words=" + shell_text(names + words_of(all, true)) +
         "\n"
         "    elif [[ $current == -* ]]; then case \"$command\" in\n" +
         options +
         "    esac\n"
         "    else case \"$command\" in\n" +
         arguments +
         "    esac\n"
         "    fi ;;\n"
         "  esac\n"
         "  [[ $current != *,* ]] || before=${current%,*},\n"
         "  COMPREPLY=($(compgen -P \"$before\" -W \"$words\" -- \"${current##*,}\"))\n"
         "  [[ ${COMPREPLY[0]-} != *: ]] || compopt -o nospace 2>/dev/null\n"
         "}\n"
         "complete -o default -F _davit davit\n";
}

[[nodiscard]] std::string zsh(const std::vector<Command>& commands) {
  std::string names, cases;
  for (const Command& command : commands) {
    names += "    " + shell_text(command.name + ":" + command.text) + "\n";
    cases += "    " + command.name + ") _arguments";
    for (const Choice& choice : command.choices) {
      const std::string what =
          choice.files ? ":file:_files"
                       : ":value:" + (choice.values.empty() ? " " : "(" + replaced(choice.values, ':', "\\:") + ")");
      const std::string text = "[" + replaced(replaced(choice.text, '[', "\\["), ']', "\\]") + "]";
      if (choice.names.empty()) cases += " \\\n      " + shell_text("*" + what);
      for (const std::string& name : choice.names)
        cases += " \\\n      " + shell_text("*" + name + text + (choice.takes_value ? what : ""));
    }
    cases += " ;;\n";
  }
  return "#compdef davit\n"
         "# zsh completion of davit: davit completions zsh >_davit, in a folder of $fpath\n"
         "_davit() {\n"
         "  local -a commands=(\n" +
         names +
         "  )\n"
         "  if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
         "  local command=$words[2]\n"
         "  shift words\n"
         "  (( CURRENT-- ))\n"
         "  case $command in\n" +
         cases +
         "  esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _davit ]; then _davit \"$@\"; else compdef _davit davit; fi\n";
}

[[nodiscard]] std::string fish(const std::vector<Command>& commands) {
  const auto literal = [](std::string_view text) {
    return "'" + replaced(replaced(text, '\\', "\\\\"), '\'', "\\'") + "'";
  };
  std::string out = "# fish completion of davit: davit completions fish >~/.config/fish/completions/davit.fish\n";
  for (const Command& command : commands) {
    out += "complete -c davit -f -n __fish_use_subcommand -a " + command.name + " -d " + literal(command.text) + "\n";
    for (const Choice& choice : command.choices) {
      std::string line = "complete -c davit -n '__fish_seen_subcommand_from " + command.name + "'";
      for (const std::string& name : choice.names)
        line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (choice.names.empty() && choice.values.empty()) continue;  // the default completion is files
      if (choice.takes_value) line += choice.files ? " -r" : choice.names.empty() ? " -f" : " -x";
      if (!choice.values.empty()) line += " -a " + literal(choice.values);
      out += line + " -d " + literal(choice.text) + "\n";
    }
  }
  return out;
}

}  // namespace

std::string completions(const CLI::App& app, const std::string& shell) {
  std::vector<Command> commands;
  for (const CLI::App* command : app.get_subcommands({})) commands.push_back(command_of(*command));
  if (shell == "zsh") return zsh(commands);
  return shell == "fish" ? fish(commands) : bash(command_of(app), commands);
}

}  // namespace tool
