// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <span>
#include <string>
#include <string_view>

#include "support/compiler_demo.hpp"
#include "davit/testing/backend_laws.hpp"
#include "programs.hpp"

/// Backends that break one law, to see the suite fail: compiler_demo with one mistake.
namespace faulty {

using namespace davit;

/// Runs `Do` after the right execute.
template <class Do>
struct executes : compiler_demo {
  template <Tracer T, class Report>
  static Status execute(const Handle& handle, std::span<const EValue> in, std::span<EValue> out,
                        ExecuteContext<T, Report, Workspace>& context) {
    const Status status = compiler_demo::execute(handle, in, out, context);
    Do::after(in, out, context);
    return status;
  }
};

/// The laws that B breaks for x + h, in the suite's order.
template <class B>
std::string broken_laws(const ExportedProgram& program = programs::add()) {
  const Tensor x = programs::scalar(3);
  const Tensor h = programs::scalar(4);
  const EValue first[] = {x, h};
  const EValue second[] = {h, h};
  const testing::SampleInputs samples[] = {first, second};
  std::string text;
  testing::check_backend_laws<B>(program, {}, samples, [&](std::string_view law, std::string_view what) {
    CHECK(!what.empty());
    if (text.find(law) == std::string::npos) (text += text.empty() ? "" : " ") += law;
  });
  return text;
}
inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace faulty
