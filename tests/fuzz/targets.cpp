// SPDX-License-Identifier: MIT

// libFuzzer targets for everything that davit reads except packages, and for the C++ that it writes of a hostile
// program. The program's name selects one of the targets at the end (link the names to one program). An accepted input
// must be sound: its result is written and read again, or scanned as C++. As `write_headers FOLDER FILES` it embeds
// programs. See tests/checks/fuzz.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "davit/core/content_hash.hpp"
#include "davit/formats/cost_table_json.hpp"
#include "davit/formats/embed_program.hpp"
#include "davit/formats/mapped_file.hpp"
#include "davit/formats/npy.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/formats/pt2/exported_program_json.hpp"
#include "davit/formats/pt2/signature_json.hpp"
#include "davit/formats/pt2/sympy.hpp"
#include "davit/program/check_tables.hpp"
#include "davit/program/symbols.hpp"
#include "davit/program/verify.hpp"
// the definitions that the targets need, without kernels, which take minutes to optimize
#include "davit/backend/impl/backend_table.ipp"
#include "davit/backend/impl/debug_handles.ipp"
#include "davit/backend/impl/program_body.ipp"
#include "davit/formats/impl/file_kind.ipp"
#include "davit/formats/impl/mapped_file.ipp"
#include "davit/impl/core.cpp"
#include "davit/impl/decomposition.cpp"
#include "davit/impl/formats.cpp"
#include "davit/impl/formats_text.cpp"
#include "davit/impl/lowered.cpp"
#include "davit/impl/lowering.cpp"
#include "davit/impl/program.cpp"
#include "davit/runtime/impl/node_call.ipp"
#include "davit/runtime/impl/prepare_delegate.ipp"
#include "../../tools/davit/recorded_case.hpp"
#include "../../tools/davit/signature_queries.hpp"
#include "plain_cpp.hpp"
#include "pt2.hpp"
#include "target.hpp"

namespace {

using namespace fuzz;

void npy(const SharedBytes& bytes) {
  const Result<Tensor> tensor = read_npy(bytes, "fuzz");
  if (!tensor) return check(tensor.error());
  const TensorView view = tensor->view();
  require(tensor->storage.size() == view.nbytes() && view.numel() >= 0);
}

void costs(const SharedBytes& bytes) {
  const Result<CostTable> table = parse_cost_table(text_of(bytes));
  if (!table) return check(table.error());
  const std::string text = print_cost_table(*table);
  const Result<CostTable> again = parse_cost_table(text);
  require(again.has_value() && print_cost_table(*again) == text);
}

void signature(const SharedBytes& bytes) {
  const Result<JsonDocument> document = parse_json(text_of(bytes));
  if (!document) return check(document.error());
  const Result<ExportGraphSignature> signature = read_signature(document->root());
  if (!signature) return check(signature.error());
  const Result<std::string> queries = signature_queries_json(*signature);
  if (!queries) return check(queries.error());
  require(parse_json(*queries).has_value());
}

/// Reads a case.json beside the files of a folder that is made once.
void recorded(const SharedBytes& bytes) {
  static const std::filesystem::path folder = [] {
    std::string name = (std::filesystem::temp_directory_path() / "davit_fuzz_XXXXXX").string();
    require(::mkdtemp(name.data()) != nullptr);
    const float numbers[] = {1, 2, 3, 4, 5, 6};
    const auto tensor = davit::tensor(numbers, {2, 3});
    require(write_npy(name + "/in.npy", tensor->view()).has_value());
    return std::filesystem::path(name);
  }();
  std::FILE* const file = std::fopen((folder / "case.json").c_str(), "wb");
  require(file != nullptr);
  std::fwrite(bytes.data(), 1, bytes.size(), file);
  std::fclose(file);
  const Result<RecordedCase> read = read_case(CaseFiles::folder(folder));
  if (!read) check(read.error());
}

void sympy(const SharedBytes& bytes) {
  GraphBuilder builder;
  builder.begin_graph();
  SympyReader reader(builder);
  const Result<ExprId> id = reader.read(text_of(bytes));
  builder.end_graph(std::span<const Argument>());
  if (!id) return check(id.error());
  const GraphModuleView graph = builder.module().view();
  require(*id < graph.exprs.size() && check_tables(graph).has_value());
  SymbolValues values(graph.exprs);
  values.settle();
  for (ExprId e = 0; e < graph.exprs.size(); ++e)
    if (graph.exprs[e].op == ExprOp::symbol) (void)values.bind(e, 7);
  values.settle();
  (void)values.bind(*id, 3);
}

Result<EmbeddedProgram> embedded(const SharedBytes& bytes, std::string name) {
  const Result<ExportedProgram> program = read_pt2(bytes, {.verify_checksums = false});
  if (!program) return std::unexpected(program.error());
  EmbedOptions options{.name = std::move(name), .weights_as_array = true, .source_lines = true};
  for (const Expr& e : program->view().exprs)
    if (e.op == ExprOp::symbol)
      options.symbols.push_back({.name = std::string(program->view().str(e.name)), .first = 2, .last = 3});
  return embed_program(*program, options);
}
void embed(const SharedBytes& bytes) {
  const Result<EmbeddedProgram> made = embedded(bytes, "fuzz");
  if (!made) return check(made.error());
  require(is_plain_cpp(made->header));
}

/// Writes FOLDER/N.hpp for each program file that embed accepts.
void write_headers(const std::string& folder, std::span<char*> files) {
  int count = 0;
  for (const char* file : files) {
    const Result<SharedBytes> bytes = map_file(file);
    if (!bytes) continue;
    const std::string number = std::to_string(count);
    const Result<EmbeddedProgram> made = embedded(*bytes, "fuzz" + number);
    if (!made) continue;
    require(write_file(folder + "/" + number + ".hpp", made->header).has_value());
    ++count;
  }
}

constexpr Target targets[] = {{"pt2", pt2},       {"npy", npy},     {"costs", costs}, {"signature", signature},
                              {"case", recorded}, {"sympy", sympy}, {"embed", embed}};

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  if (*count > 2 && std::string((*arguments)[0]).ends_with("write_headers")) {
    write_headers((*arguments)[1], std::span(*arguments + 2, static_cast<std::size_t>(*count - 2)));
    std::exit(0);
  }
  choose(targets, (*arguments)[0]);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { return run_chosen(data, size); }
