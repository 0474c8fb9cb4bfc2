#!/bin/bash
# The command under valgrind: no errors and no leaks.
. "$(dirname "$0")/../lib/sh.sh"

if ! command -v valgrind >/dev/null; then
    skip "the command is clean under valgrind" "valgrind is not installed"
    exit
fi
observe sites 2 "$PROGRAMS/sites"
observe kill 2 "$PROGRAMS/ending" kill 20
STAGGER_TRACE=stats observe stats 2 "$PROGRAMS/sites"

clean() {
    timeout "$PROGRAM_SECONDS" valgrind -q --error-exitcode=99 --leak-check=full \
        --suppressions="$ROOT/tests/report/valgrind.supp" --errors-for-leak-kinds=definite \
        "$STAGGER" "$@" >valgrind.out 2>valgrind.err
    is 0 $? || { cat valgrind.err; return 1; }
}
check "stagger --help is clean" clean --help
check "stagger info is clean" clean info
check "stagger report is clean" clean report sites.trace
check "stagger report --json is clean" clean report --json sites.trace
check "stagger report --csv is clean" clean report --csv sites.trace
check "stagger report of statistics is clean" clean report stats.trace
check "stagger recover is clean" clean recover kill.trace
check "stagger report of a recovered run is clean" clean report kill.trace
