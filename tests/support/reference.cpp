// SPDX-License-Identifier: MIT
#include "support/reference.hpp"

#include "davit/backends/portable.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"

namespace support {

using namespace davit;

std::string differs_from_portable(const ExportedProgram& program, std::span<const EValue> inputs,
                                  std::span<const EValue> results, testing::Tolerance tolerance) {
  const auto lowered = to_backend<portable>(program, {});
  if (!lowered) return to_string(lowered.error());
  Session session = *Session::make(*lowered);
  const auto expected = session.run(0, inputs);
  if (!expected) return to_string(expected.error());
  if (expected->all().size() != results.size()) return "another number of results";
  std::string text;
  for (std::size_t i = 0; i < results.size(); ++i)
    text += testing::compare(results[i], expected->all()[i], tolerance, testing::Check::close);
  return text;
}

}  // namespace support
