# SPDX-License-Identifier: MIT
# A stand-in for the installed package; sourced by checks that compile programs against the libraries of a build.

# built_package BUILD DIR: writes davit-formats-compiled.pc of the Meson build directory BUILD to DIR, and has pkg-config find it.
built_package() {
  cat >"$2/davit-formats-compiled.pc" <<PC
Name: davit-formats-compiled
Description: the libraries of the build
Version: 0
Cflags: -std=c++23 -I$root/include
Libs: -Wl,--start-group $(echo "$1"/include/davit/impl/libdavit{-formats*,-cold,}.a) -Wl,--end-group -lz
PC
  export PKG_CONFIG_PATH=$2
}
