// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "draft.hpp"

namespace support {

/// cache[at] = row, as an operator without mutation; the output is the new cache doubled. Row i of the cache's 16 rows
/// is (i, i).
struct Cache {
  Draft d;
  davit::ValueId cache = davit::no_id, at = davit::no_id, row = davit::no_id, made = davit::no_id;

  Cache() {
    d.program.signature.input_specs.push_back(davit::InputToBufferSpec({"b_cache"}, "cache", true));
    cache = d.b.input("b_cache", davit::ScalarType::float32, {16, 2});
    davit::Tensor initial = davit::Tensor::zeros(davit::ScalarType::float32, std::vector<std::int64_t>{16, 2});
    for (int i = 0; i < 32; ++i) initial.view().as<float>()[i] = static_cast<float>(i / 2);
    d.program.state_dict.push_back({"cache", initial});
    d.program.signature.input_specs.push_back(davit::UserInputSpec{davit::TensorArgument{"at"}});
    at = d.b.input("at", davit::ScalarType::int64, {1});
    row = d.user("row", {1, 2});
  }
  davit::ValueId put(davit::ValueId values) {
    made = d.like(cache, "made");
    d.node("aten.index_put.default", {d.b.value(cache), d.b.tensors({at}), d.b.value(values)}, {made});
    return made;
  }
  davit::ExportedProgram finish(std::initializer_list<davit::ValueId> outputs) {
    d.mutate_buffer("cache", made);
    for (const davit::ValueId output : outputs) d.output(output);
    return d.finish();
  }
};
/// The index i, as a tensor of one element.
[[nodiscard]] inline davit::Tensor index(std::int64_t i) {
  davit::Tensor t = davit::Tensor::zeros(davit::ScalarType::int64, std::vector<std::int64_t>{1});
  t.view().as<std::int64_t>()[0] = i;
  return t;
}

}  // namespace support
