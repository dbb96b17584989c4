// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace davit::formats {

/// Pickle opcodes that read_pickle() accepts: those of protocols 2 to 5 that torch.save and plain values in its
/// dictionaries need. Source: CPython's Lib/pickletools.py, with its names.
enum class PickleOp : std::uint8_t {
  mark = 0x28,
  empty_tuple = 0x29,
  stop = 0x2e,
  binbytes = 0x42,
  short_binbytes = 0x43,
  binfloat = 0x47,
  binint = 0x4a,
  binint1 = 0x4b,
  binint2 = 0x4d,
  none = 0x4e,
  binpersid = 0x51,
  reduce = 0x52,
  binunicode = 0x58,
  empty_list = 0x5d,
  append = 0x61,
  build = 0x62,
  global = 0x63,
  dict = 0x64,
  appends = 0x65,
  binget = 0x68,
  long_binget = 0x6a,
  list = 0x6c,
  binput = 0x71,
  long_binput = 0x72,
  setitem = 0x73,
  tuple = 0x74,
  setitems = 0x75,
  empty_dict = 0x7d,
  proto = 0x80,
  newobj = 0x81,
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,
  newtrue = 0x88,
  newfalse = 0x89,
  long1 = 0x8a,
  long4 = 0x8b,
  short_binunicode = 0x8c,
  binunicode8 = 0x8d,
  binbytes8 = 0x8e,
  empty_set = 0x8f,
  additems = 0x90,
  frozenset = 0x91,
  stack_global = 0x93,
  memoize = 0x94,
  frame = 0x95,
};

}  // namespace davit::formats
