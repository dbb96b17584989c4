// SPDX-License-Identifier: MIT
#include <davit/davit.hpp>
#include <davit/formats/pt2.hpp>

int main() {
  static_assert(davit::check_backend<davit::portable>());
  const auto program = davit::formats::read_pt2("no such file.pt2");
  return program ? 1 : 0;
}
