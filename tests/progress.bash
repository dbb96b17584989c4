# SPDX-License-Identifier: MIT
# Shows the progress of a long command; sourced by tests/run and examples/quickstart.

# with_progress LABEL LOG COMMAND...: runs a command with its output in LOG, and prints its progress, ninja's last "[3/17]": on a terminal
# each second in a line that is erased at the end, elsewhere in a line every 15 seconds. Returns the command's status.
with_progress() {
  local label=$1 log=$2 status=0 ticker
  shift 2
  : >"$log"
  (
    start=$SECONDS
    # until it is stopped, or the script has ended
    while sleep 1 && kill -0 "$$" 2>/dev/null; do
      passed=$((SECONDS - start))
      [ -t 1 ] || [ $((passed % 15)) = 0 ] || continue
      step=$(grep -aoE '^\[[0-9]+/[0-9]+\]' "$log" | tail -1 || true)
      if [ -t 1 ]; then printf '\r\033[K%s: %s %d s' "$label" "$step" "$passed"; else printf '%s: %s %d s\n' "$label" "$step" "$passed"; fi
    done
  ) &
  ticker=$!
  "$@" >"$log" 2>&1 || status=$?
  kill "$ticker" 2>/dev/null || true
  wait "$ticker" 2>/dev/null || true
  [ ! -t 1 ] || printf '\r\033[K'
  return "$status"
}
