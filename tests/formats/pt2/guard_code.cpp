// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/guard_code.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "davit/program/guard_values.hpp"
#include "support/data.hpp"
#include "support/guard_program.hpp"
#include "support/repeated.hpp"

using namespace davit;
using namespace davit::formats;
using support::repeated;

namespace {

/// Reads guards of one program.
struct Reader {
  ProgramTables program = guard_program::make();
  Guards guards{};
  GuardReader reader{program, guards};

  /// Prints the read guards, or the reason of a refusal: "byte 3: ...".
  std::string read(const std::string& text) {
    const std::size_t before = guards.nodes.size();
    const Result<void> done = reader.read(text);
    CHECK(guards_fit(guards, guard_inputs(program)));
    if (done) return print_guard(guards, guards.size() - 1, guard_names(program), 2000);
    CHECK(guards.nodes.size() == before);
    CHECK(done.error().code == ErrorCode::unsupported_argument);
    CHECK(done.error().stage == Stage::load);
    const std::string where(done.error().where.view());
    return where.substr(where.rfind("byte")) + ": " + std::string(done.error().what.view());
  }
};

/// "int 3", "float 0x1.8p+1", "bool True", or "none".
std::string answer_of(const PythonNumber& number) {
  if (number.kind == PythonNumber::Kind::integer) return "int " + std::to_string(number.integer);
  if (number.kind == PythonNumber::Kind::boolean) return number.integer != 0 ? "bool True" : "bool False";
  return number.kind == PythonNumber::Kind::real ? "float" : "none";
}
bool is_answer(const PythonNumber& number, const std::string& answer) {
  if (number.kind != PythonNumber::Kind::real)
    return answer_of(number) == answer || (!number.is_number() && answer.find(' ') == answer.npos);
  if (!answer.starts_with("float ")) return false;
  const double expected = std::strtod(answer.c_str() + 6, nullptr);
  if (std::isnan(expected)) return std::isnan(number.real);
  // functions of the C library may differ in the last bit
  return number.real == expected ? std::signbit(number.real) == std::signbit(expected)
                                 : std::fabs(number.real - expected) <= 1e-14 * std::fabs(expected);
}

/// Replaces the names of a printed guard by paths of inputs.
std::string by_path(const std::string& printed) {
  std::string out;
  for (std::size_t at = 0; at < printed.size();) {
    const std::size_t end =
        std::min(printed.size(),
                 printed.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", at));
    const std::string word = printed.substr(at, std::max(end, at + 1) - at);
    const bool is_input = word == "x" || word == "args_0" || word == "args_1" || word == "z_k_1" || word == "n" ||
                          word == "f" || word == "b";
    out += is_input && !out.ends_with('.') ? "L['" + word + "']" : word;
    at += word.size();
  }
  return out;
}

}  // namespace

TEST_CASE("guards have the values that Python gives them") {
  const char* const other = std::getenv("DAVIT_GUARD_EXPRESSIONS");
  std::ifstream file(other != nullptr ? std::filesystem::path(other) : test_data("guards/expressions.txt"));
  std::string line;
  std::size_t count = 0, errors = 0;
  while (std::getline(file, line)) {
    const std::size_t first = line.find('\t'), second = line.find('\t', first + 1);
    REQUIRE(second != line.npos);
    guard_program::Given given;
    std::istringstream numbers(line.substr(0, first));
    for (double& number : given.numbers) numbers >> number;
    const std::string answer = line.substr(first + 1, second - first - 1), text = line.substr(second + 1);
    CAPTURE(line);
    ++count;
    Reader r;
    const Result<void> done = r.reader.read(text);
    if (!done) {
      CHECK_MESSAGE(answer == "large", to_string(done.error()));
      continue;
    }
    const auto value = [&](const Guards& guards) { return given.evaluated(guards)[guards.roots[0]]; };
    const PythonNumber number = value(r.guards);
    errors += number.is_number() ? 0 : 1;
    CHECK_MESSAGE(is_answer(number, answer), answer_of(number), " ", to_string(number));
    // a printed guard has the same meaning
    ProgramTables named = guard_program::make();
    const std::string printed = by_path(print_guard(r.guards, 0, guard_names(named), 5000));
    Guards again;
    GuardReader second_reader(named, again);
    const Result<void> reread = second_reader.read(printed);
    REQUIRE_MESSAGE(reread, printed, " ", to_string(reread.error()));
    const PythonNumber other_number = value(again);
    CHECK_MESSAGE((other_number == number || (std::isnan(other_number.real) && std::isnan(number.real))), printed);
  }
  CHECK(count >= 200);
  CHECK(errors > 10);
}

TEST_CASE("guards are printed by the names of the user inputs") {
  Reader r;
  CHECK(r.read("L['x'].size()[0] % 2 == 0") == "x.shape[0] % 2 == 0");
  CHECK(r.read("L['z']['k'][1].stride()[-1] > L['args'][1].storage_offset()") ==
        "z_k_1.stride(2) > args_1.storage_offset()");
  CHECK(r.read("2 <= L['x'].shape[0] <= 64") == "2 <= x.shape[0] and x.shape[0] <= 64");
  CHECK(r.read("((L['n'] + 1)*2)**2 != -L['n'] - (1 - 2)") == "((n + 1) * 2) ** 2 != -n - (1 - 2)");
  CHECK(r.read("not (L['b'] or 1 < 2) and (-2)**2 == 4.0") == "not (b or 1 < 2) and (-2) ** 2 == 4.0");
  CHECK(r.read("max(L['n'], 2, 3) == math.floor(1.5 / 2)") == "max(max(n, 2), 3) == math.floor(1.5 / 2)");
  CHECK(r.read("IsNonOverlappingAndDenseIndicator(1, 2, 3, 4)") == "IsNonOverlappingAndDenseIndicator(1, 2, 3, 4)");
  CHECK(r.read("cast_symbool_to_symint_guardless(L['b']) + (1 if L['b'] else 2)") == "int(b) + (1 if b else 2)");
}

TEST_CASE("an input is found by each of its paths") {
  Reader r;
  for (const char* const path : {"L['args_0']", "L['args'][0]", "L['flat_args'][1]", "L[\"args\"][0][1]"})
    CHECK(r.read(std::string(path) + ".size()[0] > 1") == "args_0.shape[0] > 1");
  for (const char* const path : {"L['z']['k'][1]", "L['z'].k[1]", "L['kwargs']['z']['k'][1]",
                                 "L['args'][1]['z']['k'][1]", "L['flat_args'][7]", "L['z_k_1']"})
    CHECK(r.read(std::string(path) + ".size(1) > 1") == "z_k_1.shape[1] > 1");
  for (const char* const path : {"L['n']", "L['kwargs']['n']", "L['flat_args'][3]"})
    CHECK(r.read(std::string(path) + " > 1") == "n > 1");
}

TEST_CASE("unreadable guards are refused with their place") {
  Reader r;
  CHECK(r.read("") == "byte 0: the guard ends early");
  CHECK(r.read("1 +") == "byte 3: the guard ends early");
  CHECK(r.read("1 2") == "byte 2: the guard should end here");
  CHECK(r.read("(1") == "byte 2: expected ')'");
  CHECK(r.read("foo(1)") == "byte 0: 'foo' is not known");
  CHECK(r.read("1 + math.gamma(2)") == "byte 4: 'math.gamma' is not known");
  CHECK(r.read("max()") == "byte 0: 'max' does not take 0 arguments");
  CHECK(r.read("max(1)") == "byte 0: 'max' does not take 1 arguments");
  CHECK(r.read("math.sqrt()") == "byte 0: 'math.sqrt' does not take 0 arguments");
  CHECK(r.read("abs") == "byte 0: 'abs' is not called");
  CHECK(r.read("IsNonOverlappingAndDenseIndicator(1)") ==
        "byte 0: 'IsNonOverlappingAndDenseIndicator' does not take 1 arguments");
  CHECK(r.read("L['q'].size()[0] > 1") == "byte 0: this leads to no user input of the model");
  CHECK(r.read("L['x'].size()[2] > 1") == "byte 0: this input has no such dimension");
  CHECK(r.read("L['n'].size()[0] > 1") == "byte 0: this input is no tensor");
  CHECK(r.read("L['x'] > 1") == "byte 0: this input is no number");
  CHECK(r.read("L['z']['k'][0] > 1") == "byte 0: this input is no number");
  CHECK(r.read("L['x'].numel() > 1") == "byte 6: 'numel' is not known");
  CHECK(r.read("L['x'].size()['a'] > 1") == "byte 0: this input has no such dimension");
  CHECK(r.read("L[0").starts_with("byte 3: expected the name or the number of an input"));
  CHECK(r.read("L['x'") == "byte 5: expected the name or the number of an input");
  CHECK(r.read("99999999999999999999") == "byte 0: '99999999999999999999' is no integer of 64 bits");
  CHECK(r.read("1e5x") == "byte 0: '1e5x' is no number");
  CHECK(r.read("007") == "byte 0: '007' is no integer of 64 bits");
  CHECK(r.read("1 + not 2") == "byte 4: 'not' cannot stand here without parentheses");
  CHECK(r.read("1 if 2") == "byte 6: expected 'else'");
  CHECK(r.read("'a' == 'a'") == "byte 0: expected a number, a size or a function");
  CHECK(r.guards.empty());
}

TEST_CASE("hostile texts neither recurse nor grow without end") {
  Reader r;
  for (const char* const text : {"(", "-", "not ", "abs(", "1**", "1 if 1 else ", "max(1,", "L['x", "L['x'][", "~("})
    CHECK(r.read(repeated(text, 100'000)).starts_with("byte"));
  CHECK(r.read(repeated("(", 200) + "1" + repeated(")", 200)) == "1");
  CHECK(r.read(repeated("L['n'] + ", 50'000) + "1 > 0").size() > 2000);
  CHECK(r.read("1" + repeated(" + 1", 300'000)).ends_with("the guards of the model are too many, or too long"));
  CHECK(r.read("1" + repeated(" < 1", 2'000)).size() > 2000);  // operands that are shared
}
