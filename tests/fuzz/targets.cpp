// SPDX-License-Identifier: MIT

// libFuzzer targets for the readers of small files, and for what is written of a hostile program. The name of the program says
// which: npy, costs, signature, case, sympy, embed, package (link the names to one program); make_packages makes seeds. An input that is taken must be sound:
// what it became is written and read again, run, or scanned as C++. See tests/fuzz/run.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "davit/backends/portable.hpp"
#include "davit/core/content_hash.hpp"
#include "davit/formats/case_files.hpp"
#include "davit/formats/cost_table_json.hpp"
#include "davit/formats/embed_program.hpp"
#include "davit/formats/exported_program_json.hpp"
#include "davit/formats/npy.hpp"
#include "davit/formats/package.hpp"
#include "davit/formats/package_layout.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/formats/recorded_case.hpp"
#include "davit/formats/signature_json.hpp"
#include "davit/formats/signature_queries.hpp"
#include "davit/formats/sympy.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/program/check_tables.hpp"
#include "davit/program/symbols.hpp"
#include "davit/program/verify.hpp"
#include "davit/runtime/session.hpp"

namespace {

using namespace davit;
using namespace davit::formats;

void require(bool condition) {
  if (!condition) __builtin_trap();
}
void check(const Error& error) {
  require(error.code != ErrorCode::ok && !error.what.empty());
  for (const char c : to_string(error)) require(c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 0x20);
}
std::string_view text_of(const SharedBytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

void npy(const SharedBytes& bytes) {
  const Result<Tensor> tensor = read_npy(bytes, "fuzz");
  if (!tensor) return check(tensor.error());
  const TensorView view = tensor->view();
  require(tensor->storage.size() == view.nbytes() && view.is_contiguous() && view.numel() >= 0);
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

/// A case.json beside the files of a folder that is made once.
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

/// True if the text is nothing but directives of includes and pragmas, comments of one line, literals that end on their line, and
/// code with as many closing as opening brackets: what a hostile name could break.
bool is_plain_cpp(std::string_view text) {
  int depth = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == text.npos) return false;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    for (const char c : line)
      if (c < ' ' || c > '~') return false;
    if (line.ends_with('\\')) return false;
    if (line.starts_with("asm(R\"(")) {  // the model's name has been checked
      const std::size_t close = text.find(")\");\n");
      if (close == text.npos) return false;
      text.remove_prefix(close + 5);
      continue;
    }
    if (line.starts_with('#') && !line.starts_with("#include <") && !line.starts_with("#include \"davit/") && !line.starts_with("#pragma ")) return false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line.substr(i).starts_with("//")) break;
      if (line.substr(i).starts_with("/*")) return false;
      if (line[i] == '"') {
        for (++i; i < line.size() && line[i] != '"'; ++i) i += line[i] == '\\' ? 1 : 0;
        if (i >= line.size()) return false;
      }
      depth += line[i] == '{' || line[i] == '(' ? 1 : line[i] == '}' || line[i] == ')' ? -1 : 0;
      if (depth < 0) return false;
    }
  }
  return depth == 0;
}

void embed(const SharedBytes& bytes) {
  const Result<ExportedProgram> program = read_pt2(bytes, {.verify_checksums = false});
  if (!program) return check(program.error());
  EmbedOptions options{.name = "fuzz", .weights_as_array = true, .source_lines = true};
  for (const Expr& e : program->view().exprs)
    if (e.op == ExprOp::symbol) options.symbols.emplace_back(std::string(program->view().str(e.name)), 3);
  const Result<EmbeddedProgram> embedded = embed_program(*program, options);
  if (!embedded) return check(embedded.error());
  require(is_plain_cpp(embedded->header));
}

/// The package with its hashes made right, so that changes get past them.
SharedBytes mended(const SharedBytes& bytes) {
  SharedBytes copy = SharedBytes::copy_of(bytes.bytes());
  PackageHeader header{};
  if (copy.size() < sizeof header) return copy;
  std::byte* const data = copy.writable();
  std::memcpy(&header, data, sizeof header);
  std::memcpy(header.magic, package_magic, sizeof package_magic);
  header.major = package_major;
  if (header.sections == 0 || header.has_debug_map > 1 || header.sections < 1 + header.has_debug_map ||
      header.sections > (copy.size() - sizeof header) / sizeof(PackageSection))
    return copy;
  std::vector<PackageSection> sections(header.sections);
  std::memcpy(sections.data(), data + sizeof header, sections.size() * sizeof(PackageSection));
  for (PackageSection& s : sections)
    if (s.offset <= copy.size() && s.size <= copy.size() - s.offset) s.hash = content_hash(copy.bytes().subspan(s.offset, s.size));
  header.hash = formats::detail::package_hash(sections, header.has_debug_map != 0);
  std::memcpy(data, &header, sizeof header);
  std::memcpy(data + sizeof header, sections.data(), sections.size() * sizeof(PackageSection));
  return copy;
}

void package(const SharedBytes& bytes) {
  const Result<LoweredProgram> program = load_program<BackendList<portable>>(mended(bytes));
  if (!program) return check(program.error());
  Result<Session> session = Session::make(*program, {.limits = {.max_memory = std::uint64_t{1} << 24, .max_loop_iterations = 8}});
  if (!session) return check(session.error());
  for (std::size_t m = 0; m < program->methods().size(); ++m) {
    std::vector<Tensor> tensors;
    std::vector<EValue> inputs;
    bool small = true;
    for (const InputPort& port : program->methods()[m].interface.inputs) {
      if (port.role != InputRole::user) continue;
      std::vector<std::int64_t> sizes;
      for (const Dim& dim : port.type.dims) sizes.push_back(dim.is_static() ? dim.value : 2);
      const std::int64_t count = checked_numel(sizes, 1 << 16);
      small = small && count >= 0;
      if (!small) break;
      switch (port.type.tag) {
        case EValue::Tag::tensor: tensors.push_back(Tensor::zeros(port.type.dtype, sizes)); break;
        case EValue::Tag::int_: inputs.emplace_back(std::int64_t{2}); continue;
        case EValue::Tag::float_: inputs.emplace_back(0.5); continue;
        case EValue::Tag::bool_: inputs.emplace_back(true); continue;
        default: inputs.emplace_back(); continue;
      }
      inputs.emplace_back(tensors.back().view());
    }
    if (!small) continue;
    for (std::size_t i = 0, t = 0; i < inputs.size(); ++i)  // the vector has moved its tensors
      if (inputs[i].is_tensor()) inputs[i] = EValue(tensors[t++].view());
    const Result<Outputs> outputs = session->run(m, inputs);
    if (!outputs) check(outputs.error());
  }
}

struct Target {
  std::string_view name;
  void (*run)(const SharedBytes&);
};
constexpr Target targets[] = {{"npy", npy},     {"costs", costs}, {"signature", signature}, {"case", recorded},
                              {"sympy", sympy}, {"embed", embed}, {"package", package}};
const Target* chosen = nullptr;

}  // namespace

/// Writes FILE.davit for each .pt2 file that portable takes: seeds of `package`.
[[noreturn]] void make_packages(int count, char** files) {
  for (int i = 1; i < count; ++i) {
    const Result<ExportedProgram> program = read_pt2(std::string(files[i]));
    if (!program) continue;
    if (const auto lowered = to_backend<portable>(*program)) (void)save_program(*lowered, std::string(files[i]) + ".davit");
  }
  std::_Exit(0);
}

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  const std::string name = std::filesystem::path((*arguments)[0]).filename().string();
  if (name == "make_packages") make_packages(*count, *arguments);
  for (const Target& target : targets)
    if (target.name == name) chosen = &target;
  require(chosen != nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size != 0) chosen->run(SharedBytes::copy_of(std::as_bytes(std::span(data, size))));  // of the exact size, so that a read past it is seen
  return 0;
}
