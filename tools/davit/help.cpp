// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstddef>
#include <cstdio>
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

}  // namespace

int help(const CLI::App& app, const std::string& topic) {
  if (topic.empty()) {
    // app.help() would print the help of the current command
    print("%s", app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal).c_str());
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
