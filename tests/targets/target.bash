# SPDX-License-Identifier: MIT
# The common part of this folder's scripts, each of which builds davit for another target, runs it there or under an emulator, and prints a
# row of README's table of targets and "N passed, N failed". Sourced, with the checkout's root in $root. QUICK=1 builds and tests the
# command alone: no tests of kernels, and no random programs.
source "$root/tests/judge.bash"
source "$root/tests/progress.bash"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/davit/targets
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
jobs=${JOBS:-$(nproc)}
passed=0 failed=0

# unpack FOLDER DEBIAN-ARCHITECTURE SUITE PACKAGE...: unpacks packages of another architecture, and of a suite unless it is empty, into a
# folder of its own, with what they depend on if $dependencies is 1: this machine's dpkg does not change.
unpack() {
  local folder=$1 architecture=$2 suite=$3 apt=$1.apt
  shift 3
  rm -rf "$folder" "$apt"
  mkdir -p "$folder" "$apt"/{state/lists/partial,cache/archives/partial,sources}
  touch "$apt/status"
  cp -r /etc/apt/sources.list /etc/apt/sources.list.d "$apt/sources/" 2>/dev/null || true
  if [ -n "$suite" ]; then
    find "$apt/sources" -type f -exec sed -i "s/\b$(. /etc/os-release && echo "$VERSION_CODENAME")\b/$suite/g" {} +
  fi
  local options=(-qq -o "Dir::State=$apt/state" -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root
    -o "Dir::Etc::sourcelist=$apt/sources/sources.list" -o "Dir::Etc::sourceparts=$apt/sources/sources.list.d"
    -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture")
  local take=(download)
  if [ -n "${dependencies:-}" ]; then take=(install -y --no-install-recommends --download-only); fi
  # a list that a mirror is changing just then may not be needed
  (cd "$apt/cache/archives" && { apt-get "${options[@]}" update || true; } && apt-get "${options[@]}" "${take[@]}" "$@")
  local package
  for package in "$apt"/cache/archives/*.deb; do dpkg -x "$package" "$folder"; done
  rm -rf "$apt"
}

# libraries NAME DEBIAN-ARCHITECTURE TRIPLET [SUITE]: puts zlib of that architecture into a folder of its own, $cache/NAME, and makes
# pkg-config find it.
libraries() {
  local folder=$cache/$1
  if [ ! -e "$folder/complete" ]; then
    unpack "$folder" "$2" "${4:-}" zlib1g-dev
    find "$folder" -name "*.so*" -delete  # programs are static: they run without a root of their own
    touch "$folder/complete"
  fi
  export PKG_CONFIG_LIBDIR=$folder/usr/lib/$3/pkgconfig:/usr/share/pkgconfig PKG_CONFIG_SYSROOT_DIR=$folder
}

# headers NAME FOLDER: makes a folder, $cache/NAME, for a compiler that must not see this machine's headers: those of the header-only
# libraries, which Meson and pkg-config find there. The compiler brings zlib; FOLDER has its pkg-config files.
headers() {
  local folder=$cache/$1 name
  mkdir -p "$folder/include" "$folder/pkgconfig"
  for name in boost rapidjson CLI doctest; do ln -sfn "/usr/include/$name" "$folder/include/$name"; done
  for name in RapidJSON CLI11 doctest; do
    printf 'Name: %s\nDescription: headers\nVersion: %s\nCflags: -isystem %s\n' \
      "$name" "$(dpkg-query -W -f='${Version}' "$([ $name = CLI11 ] && echo libcli11-dev || echo "${name,,}-dev")" | sed 's/[^0-9.].*//')" "$folder/include" \
      >"$folder/pkgconfig/$name.pc"
  done
  printf "[properties]\nboost_includedir = '%s'\nboost_librarydir = '%s'\n" "$folder/include" "$folder" >"$folder/headers.ini"
  export PKG_CONFIG_LIBDIR=$folder/pkgconfig:$2
}

# build NAME TARGET...: builds the targets in build/NAME with cross/NAME.ini (or cross/$cross.ini), or with the build machine's compiler $CXX. $optimization is s
# where the command shall be small: it is static, and functions that nothing calls are left out; g++'s warnings are then not errors, as some
# are false.
build() {
  local name=${cross:-$1} folder=$root/build/$1
  local options=(-Doptimization="${optimization:-1}" -Ddebug=false -Dwerror="$([ "${optimization:-1}" = s ] && echo false || echo true)" -Dtests=enabled
    -Ddagre=none -Dprefer_static=true)
  shift
  if [ "${optimization:-1}" = s ]; then
    options+=(-Dcpp_args='-ffunction-sections -fdata-sections -Wno-psabi' -Dcpp_link_args='-static -Wl,--gc-sections')
  fi
  if [ -e "$root/cross/$name.ini" ]; then options+=(--cross-file "$root/cross/$name.ini"); fi
  if [ -e "$cache/$name/headers.ini" ]; then options+=(--cross-file "$cache/$name/headers.ini"); fi
  # a build with other options is set up again
  local said="${CXX:-} ${CXXFLAGS:-} ${LDFLAGS:-} ${options[*]} $(cat "$root/cross/$name.ini" 2>/dev/null || true)"
  if [ "$said" != "$(cat "$folder.options" 2>/dev/null)" ]; then rm -rf "$folder"; fi
  if [ ! -f "$folder/build.ninja" ]; then
    mkdir -p "$root/build"
    echo "$said" >"$folder.options"
    # (CMake, which Meson asks for doctest, leaves a folder where it is run)
    (cd "$root/build" && meson setup "$folder" "$root" "${options[@]}") >"$folder.log" 2>&1 || { tail -20 "$folder.log"; exit 1; }
  fi
  if [ -n "${QUICK:-}" ]; then set -- "$1"; fi
  with_progress "${folder#"$root"/}" "$folder.log" ninja -k 0 -j"$jobs" -C "$folder" "$@" ||
    { grep -E 'error|FAILED|undefined' "$folder.log" | head -40; echo "the build failed: see $folder.log"; exit 1; }
}

# run NAME COMMAND...: judges a program that counts its tests
run() {
  local name=$1 log=$root/build/$target.$1.log
  SECONDS=0
  shift
  judge "$name" "$log" "$@"
  read -r p f s <<<"$verdict"
  passed=$((passed + p)) failed=$((failed + f))
  echo "$name: $p passed, $f failed, $SECONDS s"
}
# expect NAME TEXT COMMAND...: judges a program by a text in its output
expect() {
  local name=$1 text=$2 said
  shift 2
  said=$("$@" 2>&1) || true
  if [[ $said == *"$text"* ]]; then passed=$((passed + 1)) && echo "$name: passed"; else failed=$((failed + 1)) && echo "$name failed: $said"; fi
}

# test_target [EMULATOR...]: runs the tests of kernels, the recorded cases, loaded from packages too, and some random programs; compares the
# results' bits with another machine's; runs a program that loads a package, and a static one. $compile is the compiler's command with its
# libraries; programs' names end in $exe. $most_bytes is the command's largest size.
test_target() {
  local folder=$root/build/$target exe=${exe:-}
  local davit=$folder/tools/davit/davit$exe
  export DAVIT_TEST_DATA=$root/tests/cases
  # qemu-user fails to fork a process of several threads
  local without=()
  if [[ ${1:-} == qemu-* ]]; then without=(--test-case-exclude='*child of fork*,*threads that were lent*'); fi
  [ -n "${QUICK:-}" ] || run kernels "$@" "$folder/tests/kernel_tests$exe" "${without[@]}"
  run cases "$@" "$davit" check "$root/tests/cases/models" --backends portable
  local cases=$p
  run saved_cases "$@" "$davit" check "$root/tests/cases/models" --backends portable --saved
  run results python3 "$root/tests/targets/results.py" "$@" "$davit"
  [ -n "${QUICK:-}" ] || run random_programs "$@" "$folder/tests/random_programs$exe" 0 "${RANDOM_PROGRAMS:-200}" 1
  "${compile[@]}" -std=c++23 -Os -I"$root/include" -I"$root/tests/cases/embed" "$root/examples/embedded.cpp" -o "$folder/digits$exe"
  expect static_digits 'a 7;' "$@" "$folder/digits$exe"
  # lowered here, and loaded by a program without lowering
  "$@" "$davit" lower "$root/examples/data/digits_cnn.pt2" --backends portable -o "$folder/digits.davit" >/dev/null
  "${compile[@]}" -std=c++23 -Os -I"$root/include" "$root/tests/targets/loader.cpp" -o "$folder/loader$exe" \
    -Wl,--gc-sections,--start-group "$folder"/include/davit/impl/libdavit*.a -Wl,--end-group $(pkg-config --cflags --libs zlib)
  expect loader "loader: $(python3 -c '
import struct, sys
scores = struct.unpack("<3600f", open(sys.argv[1], "rb").read()[-3600 * 4:])
print(*(max(range(10), key=lambda k: scores[10 * i + k]) for i in range(12)))' "$root/examples/data/logits.npy")" "$@" "$folder/loader$exe" "$folder/digits.davit" "$root/examples/data/images.npy"
  local name sizes=()
  for name in tools/davit/davit loader digits; do
    cp "$folder/$name$exe" "$folder/stripped"
    "${strip:-strip}" "$folder/stripped"
    sizes+=("$(stat -c %s "$folder/stripped")")
  done
  if [ "${sizes[0]}" -gt "${most_bytes:-99999999}" ]; then failed=$((failed + 1)) && echo "davit has more than $most_bytes bytes"; fi
  echo "| $target | $("${compile[0]}" --version | head -1) | ${*:-as it is} | $cases | ${sizes[0]} | ${sizes[1]} | ${sizes[2]} |"
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}
