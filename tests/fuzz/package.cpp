// SPDX-License-Identifier: MIT

// The libFuzzer targets `package`: loads and runs packages of lowered programs, of all available backends; `lower`:
// lowers .pt2 files, unchanged and with every composite operator decomposed, and runs them; `graph`: the same for
// random programs with edits (edited_program.hpp); and `static`: embeds these for static portable. As write_packages
// FOLDER it writes some packages as seeds. See tests/checks/fuzz.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "davit/backends/portable.hpp"
#include "davit/backends/portable/embed.hpp"
#include "davit/core/content_hash.hpp"
#include "davit/embed/planned_program.hpp"
#include "davit/embed/select_steps.hpp"
#include "davit/embed/static_plan.hpp"
#include "davit/formats/embed_program.hpp"
#include "davit/formats/implementation.hpp"
#include "davit/formats/mapped_file.hpp"
#include "davit/formats/package.hpp"
#include "davit/formats/package_layout.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/implementation.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/decompose.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/program/verify.hpp"
#include "davit/runtime/session.hpp"
#include "davit/testing/detail/alternating_partitioner.hpp"
#include "davit/testing/random_program.hpp"
#include "davit/testing/detail/renamed_backend.hpp"
#if defined(DAVIT_WITH_ONEDNN)
#include "davit/backends/onednn.hpp"
#include "davit/backends/onednn/implementation.hpp"
#endif
#if defined(DAVIT_WITH_XNNPACK)
#include "davit/backends/xnnpack.hpp"
#include "davit/backends/xnnpack/implementation.hpp"
#endif
#include "support/quantized_net.hpp"
#include "edited_program.hpp"
#include "plain_cpp.hpp"
#include "target.hpp"

namespace {

using namespace fuzz;

using Backends = BackendList<
#if defined(DAVIT_WITH_ONEDNN)
    onednn,
#endif
#if defined(DAVIT_WITH_XNNPACK)
    xnnpack,
#endif
    testing::renamed_backend<portable, "second">, portable>;

/// Gives a package the right hashes of its bytes, as far as its sections are in the file.
void mend_hashes(std::vector<std::byte>& bytes) {
  PackageHeader header{};
  if (bytes.size() < sizeof header) return;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.sections == 0 || header.has_debug_map > 1 ||
      header.sections > (bytes.size() - sizeof header) / sizeof(PackageSection))
    return;
  std::vector<PackageSection> sections(header.sections);
  std::memcpy(sections.data(), bytes.data() + sizeof header, sections.size() * sizeof(PackageSection));
  for (PackageSection& s : sections)
    if (s.offset <= bytes.size() && s.size <= bytes.size() - s.offset)
      s.hash = content_hash(std::span(bytes).subspan(s.offset, s.size));
  header.hash = davit::formats::detail::package_hash(sections, header.has_debug_map != 0);
  std::memcpy(bytes.data() + sizeof header, sections.data(), sections.size() * sizeof(PackageSection));
  std::memcpy(bytes.data(), &header, sizeof header);
}

/// A value for each user input of a method: zeros, of size 2 where sizes are symbolic; an int is 2.
[[nodiscard]] std::vector<Tensor> zeros_for(const LoweredMethod& method, std::vector<EValue>& values) {
  std::vector<Tensor> out;
  for (const InputPort& port : method.interface.inputs) {
    if (port.role != InputRole::user) continue;
    if (port.type.tag != EValue::Tag::tensor) {
      values.emplace_back(std::int64_t{2});
      continue;
    }
    std::vector<std::int64_t> sizes;
    std::int64_t numel = 1;
    for (const Dim& d : port.type.dims) {
      sizes.push_back(d.is_static() ? d.value : 2);
      if (sizes.back() < 0 || (sizes.back() != 0 && numel > 4096 / sizes.back())) {
        values.clear();  // they would view freed memory
        return {};
      }
      numel *= sizes.back();
    }
    values.emplace_back(out.emplace_back(Tensor::zeros(port.type.dtype, sizes)).view());
  }
  return out;
}

/// Makes a session and runs every method.
void run_all(const LoweredProgram& program) {
  Limits limits;
  limits.max_memory = 1 << 22;
  limits.max_loop_iterations = 20;
  Result<Session> session = Session::make(program, {.limits = limits});
  if (!session) return check(session.error());
  for (std::size_t m = 0; m < program.methods().size(); ++m) {
    std::vector<EValue> inputs;
    const std::vector<Tensor> kept = zeros_for(program.methods()[m], inputs);
    if (const Result<Outputs> outputs = session->run(m, inputs); !outputs) check(outputs.error());
  }
}

/// Lowers a program unchanged and with every composite operator decomposed, and runs both.
void lower_and_run(const ExportedProgram& program) {
  const auto lower_one = [](const ExportedProgram& one) {
    const auto lowered = to_backend(one, CapabilityPartitioner<Backends>());
    if (!lowered) return check(lowered.error());
    run_all(*lowered);
  };
  lower_one(program);
  if (verify(program).empty()) lower_one(run_decompositions(program));
}

void lower(const SharedBytes& given) {
  const Result<ExportedProgram> program = read_pt2(given, {.verify_checksums = false});
  program ? lower_and_run(*program) : check(program.error());
}

void graph(const SharedBytes& given) { lower_and_run(EditedProgram(given.bytes()).program()); }

/// Embeds programs with edited tables: static portable's steps of each node, and the plan. An inference checks the
/// sizes, for as long as the program says: programs with large tensors are left out.
void embed_static(const SharedBytes& given) {
  const EditedProgram edited(given.bytes());
  const ExportedProgram& program = edited.program();
  if (!verify(program, {.allow_unknown_operators = true}).empty()) return;
  const GraphModuleView tables = program.view();
  for (const Value& value : tables.values) {
    std::vector<std::int64_t> sizes;
    for (const Dim& d : tables.dims_of(value.sizes)) sizes.push_back(d.value);
    if (checked_numel(sizes, 1 << 16) < 0) return;
  }
  formats::EmbedOptions options{.name = "fuzz", .weights_as_array = true};
  options.select = &select_steps<portable_static>;
  options.plan = &plan_static<portable_static>;
  options.kernels = BackendList<portable>::tables();
  for (const Expr& e : program.view().exprs)
    if (e.op == ExprOp::symbol)
      options.symbols.push_back({.name = std::string(program.view().str(e.name)), .first = 2, .last = 3});
  const Result<formats::EmbeddedProgram> made = formats::embed_program(program, options);
  if (!made) return check(made.error());
  require(is_plain_cpp(made->header));
}

void package(const SharedBytes& given) {
  std::vector<std::byte> bytes(given.bytes().begin(), given.bytes().end());
  mend_hashes(bytes);
  const Result<LoweredProgram> program = load_program<Backends>(SharedBytes::copy_of(bytes));
  if (!program) return check(program.error());
  run_all(*program);
  const Result<std::vector<std::byte>> saved = save_program(*program);
  require(saved.has_value() && load_program<Backends>(SharedBytes::copy_of(*saved)).has_value());
}

/// A convolution, a sum, maxima and a product with a matrix of bytes, as PT2E writes them.
[[nodiscard]] ExportedProgram program_of_bytes() {
  support::QuantizedNet n;
  const auto kernel = n.weights("kernel", {8, 8, 3, 3});
  const auto matrix = n.weights("matrix", {5, 32});
  const auto bias = n.weight("bias", {8});
  const auto x = n.input("x", {1, 8, 4, 4});
  const auto in = n.through_bytes("in", x, {1, 8, 4, 4}, {0.01, 3});
  const auto c = n.conv("c", in, n.dequantize("kernel_floats", kernel, {8, 8, 3, 3}), bias, {1, 8, 4, 4}, 1, 1, 1);
  const auto made = n.through_bytes("made", n.relu("r", c, {1, 8, 4, 4}), {1, 8, 4, 4}, {0.03, -128});
  const auto sum = n.through_bytes("sum", n.add("s", in, made, {1, 8, 4, 4}), {1, 8, 4, 4}, {0.04, 7});
  const auto pool =
      n.op("aten.max_pool2d.default", "p", {1, 8, 2, 2}, {{"self", n.v(sum)}, {"kernel_size", n.ints({2, 2})}});
  const auto row =
      n.op("aten.view.default", "v", {1, 32},
           {{"self", n.v(n.through_bytes("pooled", pool, {1, 8, 2, 2}, {0.04, 7}))}, {"size", n.ints({1, 32})}});
  const auto out = n.op("aten.linear.default", "l", {1, 5},
                        {{"input", n.v(n.through_bytes("row", row, {1, 32}, {0.04, 7}))},
                         {"weight", n.v(n.dequantize("matrix_floats", matrix, {5, 32}))}});
  return n.finish({n.quantize("out", out, {1, 5}, {0.05, 0})});
}

/// Writes packages of small random programs to a folder, as seeds.
void write_packages(const std::string& folder) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    testing::ProgramRecipe recipe = testing::ProgramRecipe::of(seed);
    recipe.steps.resize(1 + seed % 5);
    const testing::RandomProgram program(recipe);
    const auto lowered = to_backend(program.program(), testing::AlternatingPartitioner<Backends>{.seed = seed},
                                    {.keep_originals = seed % 2 == 0});
    require(lowered.has_value());
    require(save_program(*lowered, folder + "/" + std::to_string(seed) + ".davit", {.debug_map = seed % 3 == 0})
                .has_value());
  }
  const auto lowered = to_backend(program_of_bytes(), CapabilityPartitioner<Backends>());
  require(lowered.has_value() && save_program(*lowered, folder + "/bytes.davit").has_value());
}

constexpr Target targets[] = {{"package", package}, {"lower", lower}, {"graph", graph}, {"static", embed_static}};

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  if (*count == 2 && std::string((*arguments)[0]).ends_with("write_packages")) {
    write_packages((*arguments)[1]);
    std::exit(0);
  }
  choose(targets, (*arguments)[0]);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { return run_chosen(data, size); }
