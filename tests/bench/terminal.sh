#!/bin/bash
# stagger-bench's progress line: shown on a terminal, and only if nothing else is printed there.
. "$(dirname "$0")/../lib/sh.sh"
BENCH=$BUILD/stagger-bench
command -v script >/dev/null || { skip "a terminal shows a line of progress" "script(1) is not installed"; exit 0; }

# on_terminal COMMAND-LINE: runs it on a terminal of its own; the terminal's output is in the file
# "shown"
on_terminal() {
    timeout --kill-after=5 "$PROGRAM_SECONDS" script --quiet --return --command "$1" typescript \
        </dev/null >/dev/null
    status=$?
    sed '/^Script /d' typescript >shown # what script says of itself
}
quick="--time 0.02 --scheme loop"
wiped() { is "$(printf '\r\033[K')" "$(tr -d '\n' <shown | tail -c 4)"; }

on_terminal "'$BENCH' noise --time 0.02 --json >noise.json"
check "the line names the command" all 'is 0 "$status"' 'has shown "stagger-bench noise"' 'json noise.json 1'
on_terminal "'$MPIEXEC' -n 2 '$BENCH' latency $quick --json --ops barrier,allreduce --bytes 8,64 >latency.json"
check "under a launcher a terminal shows the line, with the operation measured" all 'is 0 "$status"' \
    'has shown "stagger-bench latency: barrier, 1 of 3"' 'has shown "allreduce of 8 bytes, 2 of 3"' \
    'has shown "allreduce of 64 bytes, 3 of 3"' 'json latency.json 1'
check "the line is wiped at the end" wiped
on_terminal "'$MPIEXEC' -n 2 '$BENCH' latency $quick --ops barrier >table"
check "the line is wiped when the table goes to a file" all 'has shown "stagger-bench latency: barrier"' 'has table "^barrier "'

on_terminal "'$MPIEXEC' -n 2 '$BENCH' latency $quick --ops barrier"
check "a table on the terminal has no line of progress in it" all 'is 0 "$status"' \
    'has shown "^barrier "' 'lacks shown "stagger-bench latency:"'
on_terminal "'$MPIEXEC' -n 2 '$BENCH' latency $quick --ops barrier --json >file.json 2>file.err"
check "stderr in a file gets no line of progress" all 'is 0 "$status"' 'lacks shown "stagger-bench"' \
    'lacks file.err "stagger-bench"'
on_terminal "'$MPIEXEC' -n 1 sh -c \"'$BENCH' latency $quick --ops barrier --json >own.json 2>own.err\""
check "a program's stderr in a file gets no line of progress" all 'is 0 "$status"' 'lacks shown "stagger-bench"' 'lacks own.err "stagger-bench"'
setsid "$MPIEXEC" -n 2 "$BENCH" latency $quick --ops barrier --json >none.json 2>none.err </dev/null
check "without a terminal there is no line of progress" all 'json none.json 1' 'lacks none.err "stagger-bench"'
