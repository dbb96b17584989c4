// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include "command_line.hpp"
#include "commands.hpp"
#include "partitioner_help.hpp"
#include "suggestion.hpp"

namespace tool {

namespace {

/// Wraps a text into lines of at most 78 characters, indented by four.
[[nodiscard]] std::string paragraph(std::string_view text) {
  constexpr std::size_t width = 74;
  std::string out;
  while (!text.empty()) {
    std::size_t end = text.size() <= width ? text.size() : text.rfind(' ', width);
    if (end == std::string_view::npos) end = std::min(text.find(' '), text.size());
    out.append("    ").append(text.substr(0, end)).append("\n");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

/// A text as roff shows it: no control lines, no hyphens, no escapes.
[[nodiscard]] std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') out += "\\e";
    if (c == '-') out += "\\-";
    if (c != '\\' && c != '-') out += c;
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}
/// The options and arguments of a command as a section's entries.
[[nodiscard]] std::string man_entries(const CLI::App& command) {
  std::string out;
  for (const CLI::Option* option : command.get_options()) {
    const std::string names = option->get_name(false, true);  // "-o,--output"
    const bool takes_value = option->get_items_expected_max() > 0 && option->get_expected_max() > 0;
    const std::string type = option->get_type_name();
    out.append(".TP\n.B ").append(roff(names));
    if (takes_value && !type.empty()) out.append(" ").append(roff(type));
    out.append("\n").append(roff(option->get_description())).append("\n");
  }
  return out;
}
/// The manual page of the command and all its sub-commands, for man(1).
[[nodiscard]] std::string man_page(const CLI::App& app) {
  std::string out = ".TH DAVIT 1 \"\" \"davit " DAVIT_VERSION "\" \"User Commands\"\n.SH NAME\n";
  out.append(roff("davit - " + app.get_description().substr(app.get_description().find(": ") + 2)));
  out.append("\n.SH SYNOPSIS\n.B davit\n.I command\n[\\fIarguments\\fR]\n.SH COMMANDS\n");
  const auto commands = app.get_subcommands({});
  for (const CLI::App* command : commands)
    out.append(".TP\n.B ")
        .append(roff(command->get_name()))
        .append("\n")
        .append(roff(command->get_description()))
        .append("\n");
  for (const CLI::App* command : commands) {
    std::string title = command->get_name();
    for (char& c : title) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    out.append(".SH DAVIT ").append(title).append("\n").append(man_entries(*command));
  }
  out.append(".SH PARTITIONERS\n");
  for (const PartitionerHelp& each : partitioner_help)
    out.append(".TP\n.B ").append(roff(each.form)).append("\n").append(roff(each.text)).append("\n");
  return out.append(
      ".SH EXIT STATUS\n0: done; 1: results differ (check, compare, diff); 2: an error, which standard error says.\n");
}

}  // namespace

int help(const CLI::App& app, const std::string& topic) {
  if (topic.empty()) {
    // app.help() would print the help of the current command
    print("%s", app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal).c_str());
    return 0;
  }
  if (topic == "man") {
    print("%s", man_page(app).c_str());
    return 0;
  }
  if (topic == "partitioner") {
    print(
        "--partitioner NAME: which backend gets which nodes. Nodes without a backend go to the last one compiled "
        "in.\n");
    for (const PartitionerHelp& each : partitioner_help)
      print("\n  %s\n%s", std::string(each.form).c_str(), paragraph(each.text).c_str());
    return 0;
  }
  for (const CLI::App* command : app.get_subcommands({}))
    if (command->get_name() == topic) {
      print("%s", command->help(app.get_name()).c_str());
      return 0;
    }
  std::fprintf(stderr,
               "davit: there is no help on '%s'%s; davit help lists the commands, davit help partitioner explains "
               "partitioners\n",
               topic.c_str(), suggest_command(app, topic).c_str());
  return 2;
}

}  // namespace tool
