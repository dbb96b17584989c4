// SPDX-License-Identifier: MIT
#include "report_page.hpp"

#include "commands.hpp"
#include "davit/formats/mapped_file.hpp"
#include "page.hpp"
#include "page_text.hpp"

namespace tool {

using namespace davit;

Result<void> check_page(std::string_view file) {
  if (file.empty() || !page_before_data.empty()) return {};
  return std::unexpected(Error{
      .code = ErrorCode::not_found,
      .stage = Stage::save,
      .where = concat("--html ", file),
      .what = "the page draws the graph with dagre, and davit was built without dagre",
      .fix = "install node-dagre-layout (Debian), or name a dagre.min.js (-Ddagre=FILE in Meson, -DDAVIT_DAGRE=FILE "
             "in CMake), and build davit again"});
}

std::string with_member(std::string_view object, std::string_view name, std::string_view value) {
  std::string out(object.substr(0, object.rfind('}')));
  return out.append(",\"").append(name).append("\":").append(value).append("}");
}

Result<void> write_page(const std::string& file, std::string_view json) {
  if (Result<void> written = formats::write_file(file, page_of(page_before_data, json, page_after_data)); !written)
    return written;
  print_written(file);
  return {};
}

}  // namespace tool
