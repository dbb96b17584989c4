# SPDX-License-Identifier: MIT
# Builds test programs with sanitizers, runs and judges them; sourced by tests/run and some checks.

# A sanitizer's finding ends the program; its report names lines. Functions that are always inlined, above all unrolled loops of tiles, are
# not sanitized: each copy would have its own checks, which took more than a quarter of the build's time.
sanitizer_flags=(-gline-tables-only -fsanitize=address,undefined -fno-sanitize-recover=all -Dalways_inline=unused
  "-fsanitize-ignorelist=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/ubsan_ignore.txt")
# some tests request more memory than the machine has
symbolizer=external_symbolizer_path=$(command -v addr2line || true)
export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1:exitcode=86:$symbolizer
export UBSAN_OPTIONS=print_stacktrace=1:exitcode=86:$symbolizer

# judge NAME LOG COMMAND...: runs a test program and sets verdict to its "PASSED FAILED SKIPPED". A sanitizer's report, an early end, and a
# status that contradicts the counts are failures, too. Prints the failures with their places.
judge() {
  local program=$1 log=$2 status=0 line found passed=0 failed=0 skipped=0
  shift 2
  { "$@" >"$log" 2>&1; } 2>/dev/null || status=$?
  # the last line of doctest, or of a program with its own counts
  line=$(grep -aE '^\[doctest\] test cases:|^[0-9]+ passed, [0-9]+ failed' "$log" | tail -1 || true)
  found=$(grep -anE '(ERROR|FATAL): [A-Za-z]*Sanitizer|: runtime error: |Sanitizer has encountered a fatal error' "$log" | head -1 || true)
  if [ -n "$line" ]; then
    passed=$(grep -oE '[0-9]+ passed' <<<"$line" | grep -oE '[0-9]+') || passed=0
    failed=$(grep -oE '[0-9]+ failed' <<<"$line" | grep -oE '[0-9]+') || failed=0
    skipped=$(grep -oE '[0-9]+ skipped' <<<"$line" | grep -oE '[0-9]+') || skipped=0
  fi
  [ "$failed" = 0 ] || grep -aE 'ERROR|TEST CASE:' "$log" | head -40 || true
  if [ -n "$found" ]; then
    echo "$program: found by a sanitizer (all of it in $log):"
    tail -n "+${found%%:*}" "$log" | head -25
    failed=$((failed + 1))
  elif [ -z "$line" ]; then
    tail -20 "$log"
    echo "$program ended early, with status $status (all of it in $log)"
    failed=$((failed + 1))
  elif [ "$status" != 0 ] && [ "$failed" = 0 ]; then
    tail -20 "$log"
    echo "$program counts no failure and ended with status $status (all of it in $log)"
    failed=1
  elif [ $((passed + failed)) = 0 ]; then
    echo "$program tested nothing"
    failed=1
  fi
  verdict="$passed $failed $skipped"
}
