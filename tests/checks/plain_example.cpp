// SPDX-License-Identifier: MIT
// Builds, verifies, lowers, saves, loads and runs a small program: the example binary that tests/checks/symbols
// inspects.

#include "support/compiler_demo.hpp"
#include "davit/davit.hpp"
#include "davit/implementation.hpp"
#include "davit/program.hpp"
#include "support/saved_program.hpp"

int main() {
  using namespace davit;
  GraphBuilder b;
  b.begin_graph("forward");
  const ValueId x = b.input("x", ScalarType::float32, {1});
  const ValueId h = b.input("h", ScalarType::float32, {1});
  const ValueId sum =
      b.call("aten.add.Tensor", {{"self", b.value(x)}, {"other", b.value(h)}}, "add", ScalarType::float32, {1});
  b.end_graph({sum});
  ExportedProgram program;
  program.graph_module = std::move(b).finish();
  program.signature.input_specs = {UserInputSpec{TensorArgument{"x"}}, UserInputSpec{TensorArgument{"h"}}};
  program.signature.output_specs = {UserOutputSpec{TensorArgument{"add"}}};
  if (!verify(program).empty()) return 1;

  const auto run = [&]<class B>() {
    const auto lowered = to_backend<B>(program);
    if (!lowered) return false;
    const auto loaded = support::loaded<B>(support::saved(*lowered));
    if (!loaded) return false;
    Session session = *Session::make(*loaded);
    float values[] = {1, 2};
    const auto outputs =
        session.run("forward", tensor(std::span(values, 1), {1}), tensor(std::span(values + 1, 1), {1}));
    return outputs && (*outputs)[0].template as<float>()->front() == 3;
  };
  return run.operator()<portable>() && run.operator()<compiler_demo>() ? 0 : 1;
}
