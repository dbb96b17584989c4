// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/pickle.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "support/zip_file.hpp"

using namespace davit;
using namespace davit::formats;
using namespace std::string_literals;

namespace {

Pickle parsed(const std::string& opcodes) {
  auto pickle = read_pickle(bytes_of("\x80\x02" + opcodes), "data.pkl");
  REQUIRE_MESSAGE(pickle, to_string(pickle.error()));
  return *std::move(pickle);
}

std::int64_t integer(const std::string& opcodes) {
  const Pickle pickle = parsed(opcodes + ".");
  REQUIRE(pickle[pickle.root()].kind == PickleKind::integer);
  return pickle[pickle.root()].number;
}

void check_refused(const std::string& opcodes, std::string_view what) {
  const auto pickle = read_pickle(bytes_of("\x80\x02" + opcodes), "data.pkl");
  REQUIRE(!pickle);
  CHECK(pickle.error().code == ErrorCode::corrupt_data);
  CHECK(pickle.error().where.view().starts_with("data.pkl, byte "));
  CHECK(pickle.error().what.view().find(what) != std::string_view::npos);
}

}  // namespace

TEST_CASE("integers of every form") {
  CHECK(integer("K\xff") == 255);
  CHECK(integer("M\x34\x12") == 0x1234);
  CHECK(integer("J\xff\xff\xff\xff") == -1);
  CHECK(integer("J\x00\x00\x00\x80"s) == INT32_MIN);
  CHECK(integer("\x8a\x00"s) == 0);
  CHECK(integer("\x8a\x01\xff") == -1);
  CHECK(integer("\x8a\x05\x00\x00\x00\x00\x01"s) == std::int64_t{1} << 32);
  CHECK(integer("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f") == INT64_MAX);
  CHECK(integer("\x8b\x01\x00\x00\x00\x80"s) == -128);
  const Pickle big = parsed("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01."s);
  CHECK(big[big.root()].kind == PickleKind::big_integer);
}

TEST_CASE("other plain values") {
  Pickle pickle = parsed("G\x3f\xf8\x00\x00\x00\x00\x00\x00."s);
  CHECK(pickle[pickle.root()].real == 1.5);
  pickle = parsed(
      "X\x03\x00\x00\x00"
      "abc."s);
  CHECK(pickle[pickle.root()].text == "abc");
  pickle = parsed(
      "\x8c\x02"
      "ab.");
  CHECK(pickle[pickle.root()].text == "ab");
  pickle = parsed("C\x01z.");
  CHECK(pickle[pickle.root()].kind == PickleKind::bytes);
  pickle = parsed("(N\x88\x89t.");
  const auto items = pickle.tuple(pickle.root());
  REQUIRE(items.size() == 3);
  CHECK(pickle[items[0]].kind == PickleKind::none);
  CHECK(pickle[items[1]].number == 1);
  CHECK(pickle[items[2]].number == 0);
  CHECK(parsed(")K\x01\x85K\x01K\x02\x86\x87.").size() > 4);
}

TEST_CASE("containers grow by their opcodes") {
  Pickle pickle = parsed(
      "](K\x01K\x02"
      "eK\x03"
      "a.");
  CHECK(pickle[pickle.root()].kind == PickleKind::list);
  CHECK(pickle[pickle.root()].items.size() == 3);
  pickle = parsed("}(K\x01NK\x02Nu.");
  CHECK(pickle[pickle.root()].kind == PickleKind::dict);
  CHECK(pickle[pickle.root()].items.size() == 4);
  pickle = parsed("ccollections\nOrderedDict\n)RK\x01Ns.");
  const PickleValue& ordered = pickle[pickle.root()];
  CHECK(ordered.kind == PickleKind::call);
  CHECK(pickle.is_global(ordered.callable, "collections", "OrderedDict"));
  CHECK(ordered.items.size() == 2);
}

TEST_CASE("calls and objects are records; nothing is called") {
  Pickle pickle = parsed("cos\nsystem\nX\x02\x00\x00\x00ls\x85R."s);
  CHECK(pickle[pickle.root()].kind == PickleKind::call);
  CHECK(pickle.is_global(pickle[pickle.root()].callable, "os", "system"));
  pickle = parsed(
      "\x8c\x05torch\x8c\x0cScriptObject\x93)\x81q\x01K\x07K\x08\x86"
      "b.");
  const PickleValue& object = pickle[pickle.root()];
  CHECK(object.kind == PickleKind::object);
  CHECK(pickle.tuple(object.state).size() == 2);
  CHECK(text_of(pickle.state_bytes(object)) == "K\x07K\x08\x86");
  pickle = parsed("(K\x01K\x02tQ.");
  CHECK(pickle[pickle.root()].kind == PickleKind::persistent);
}

TEST_CASE("the memo shares values, also within themselves") {
  Pickle pickle = parsed(
      "]q\x05h\x05"
      "a.");
  CHECK(pickle[pickle.root()].items == std::vector<PickleId>{pickle.root()});
  pickle = parsed("]r\x09\x00\x00\x00j\x09\x00\x00\x00\x86."s);
  CHECK(pickle.tuple(pickle.root())[0] == pickle.tuple(pickle.root())[1]);
  pickle = parsed("]\x94h\x00\x86."s);
  CHECK(pickle.tuple(pickle.root())[0] == pickle.tuple(pickle.root())[1]);
}

TEST_CASE("damaged pickles are refused") {
  check_refused("", "ends too early");
  check_refused("K", "ends too early");
  check_refused(
      "X\xff\xff\xff\xff"
      "abc.",
      "ends too early");
  check_refused(
      "\x8d\xff\xff\xff\xff\xff\xff\xff\xff"
      "abc.",
      "ends too early");
  check_refused("cos\nsystem", "ends too early");
  check_refused(".", "takes more from its stack");
  check_refused("NR.", "takes more from its stack");
  check_refused("N(\x85.", "takes more from its stack");
  check_refused("t.", "takes a mark");
  check_refused("(K\x01u.", "no container");
  check_refused("}(K\x01u.", "a key has no value");
  check_refused(
      "N(K\x01"
      "e.",
      "no list");
  check_refused(")NNs.", "no dictionary");
  check_refused("NNb.", "no object");
  check_refused("NN\x93.", "not named by text");
  check_refused("h\x00."s, "memo entry 0 is not there");
  check_refused("Nr\xff\xff\xff\xff.", "more than the pickle can have");
  check_refused("I7\n.", "opcode 73");
  check_refused("\x80\x09.", "protocol 9");
}

TEST_CASE("bombs stay small") {
  // lists of ten references to the previous list: 10^40 leaves, if they were unfolded
  std::string laughs = "]q\x00"s;
  for (char i = 0; i < 40; ++i) {
    laughs += ']';
    laughs += "q"s + static_cast<char>(i + 1) + "(";
    for (int k = 0; k < 10; ++k) laughs += "h"s + i;
    laughs += 'e';
  }
  CHECK(parsed(laughs + ".").size() < 60);
  std::string deep(100000, '(');
  CHECK(parsed(deep + std::string(100000, 't') + ".").size() > 100000);
  check_refused(std::string(Limits{}.max_nodes / 16 + 1, ']') + ".", "too many values");
}

TEST_CASE("cut and changed pickles are errors or values, never more") {
  const std::string text =
      "\x80\x02}q\x00(X\x01\x00\x00\x00wq\x01"
      "ctorch._utils\n_rebuild_tensor_v2\nq\x02((X\x07\x00\x00\x00storageq\x03"
      "ctorch\n"
      "FloatStorage\nq\x04X\x01\x00\x00\x00"
      "0q\x05X\x03\x00\x00\x00"
      "cpuq\x06K\x02tq\x07QK\x00K\x02\x85q\x08K\x01\x85q\x09\x89"
      "ccollections\nOrderedDict\nq\x0a)Rq\x0btq\x0cRq\x0d"
      "u."s;
  REQUIRE(read_pickle(bytes_of(text), "whole"));
  for (std::size_t size = 0; size < text.size(); ++size) CHECK(!read_pickle(bytes_of(text.substr(0, size)), "cut"));
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = text;
      changed[i] = static_cast<char>(value);
      const auto pickle = read_pickle(bytes_of(changed), "changed");
      if (pickle) CHECK(pickle->root() < pickle->size());
    }
  }
}
