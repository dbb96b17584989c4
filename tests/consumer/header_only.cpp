// SPDX-License-Identifier: MIT
// Header-only use of little, which compiles soon: an archive that is none, and JSON that is.
#include <davit/core.hpp>
#include <davit/formats/json/json_document.hpp>
#include <davit/formats/zip/zip.hpp>

int main() {
  const auto archive = davit::formats::ZipArchive::open({}, "nothing");
  const auto list = davit::formats::parse_json("[1, 2]");
  return archive || !list ? 1 : 0;
}
