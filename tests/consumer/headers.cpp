// SPDX-License-Identifier: MIT
// Uses headers, and compiles what little it needs of the definitions: an archive that is none, and JSON that is.
#include <davit/core.hpp>
#include <davit/formats/json/json_document.hpp>
#include <davit/formats/zip/zip.hpp>
#include <davit/impl/core.cpp>

int main() {
  const auto archive = davit::formats::ZipArchive::open({}, "nothing");
  const auto list = davit::formats::parse_json("[1, 2]");
  return archive || !list ? 1 : 0;
}
