#!/bin/bash
# The cost of a call: tests/bench.sh BUILD. Prints, per trace mode, what a barrier on MPI_COMM_SELF
# takes with and without interception in one run, the difference beside its goal, and the bytes of
# log and archive a call. Nothing is asserted: the numbers are this machine's, at this moment.
set -u
export LC_ALL=C

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$(cd "${1:-$ROOT/build}" && pwd) || exit 1
MPIEXEC=$("$ROOT/.ci/find-mpi" exec) || { echo "bench: no MPICH launcher found" >&2; exit 1; }
WORK=$(mktemp -d "${TMPDIR:-/tmp}/stagger-bench-XXXXXX") || exit 1
trap 'rm -rf "$WORK"' EXIT
unset "${!STAGGER_@}"

bytes_of() { find "$1" -type f -printf '%s\n' 2>/dev/null | awk '{ sum += $1 } END { print sum + 0 }'; }

# measure MODE DIRECTORY [leave]: prints bench_call's line: plain, intercepted, added (ns), calls
measure() {
    STAGGER_TRACE=$1 STAGGER_DIR=$WORK/$2 STAGGER_QUIET=1 \
        timeout 100 "$MPIEXEC" -genv LD_PRELOAD "$BUILD/libstagger.so" -n 1 \
        "$BUILD/mpi/bench_call" "${@:3}" </dev/null
}

# Of a log, which is allocated ahead, the slots that are in use.
log_bytes() {
    /usr/bin/python3 - "$1" <<'END'
import sys

HEADER, SLOT = 4096, 64
kinds = open(sys.argv[1], "rb").read()[HEADER::SLOT]
print(HEADER + SLOT * (len(kinds) - kinds.count(0)))
END
}

per_call() { awk -v bytes="$1" -v calls="$2" 'BEGIN { printf "%.1f", bytes / calls }'; }

printf 'MPI_Barrier on MPI_COMM_SELF, medians over blocks of 1000 calls, on %s\n\n' \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
printf '%-6s %10s %14s %9s %9s %13s %17s\n' mode 'plain ns' 'intercepted ns' 'added ns' 'goal ns' \
    'log B/call' 'archive B/call'
status=0
for row in off:30 stats:80 otf2:150; do
    mode=${row%:*}
    if ! line=$(measure "$mode" "$mode"); then
        echo "bench: the run with STAGGER_TRACE=$mode failed" >&2
        status=1
        continue
    fi
    read -r plain intercepted added calls <<<"$line"
    log=- archive=-
    if [ "$mode" != off ]; then
        measure "$mode" "$mode-left" leave >/dev/null
        log=$(per_call "$(log_bytes "$WORK/$mode-left/rank-000000.log")" "$calls")
    fi
    [ "$mode" = otf2 ] && archive=$(per_call "$(bytes_of "$WORK/otf2")" "$calls")
    printf '%-6s %10s %14s %9s %9s %13s %17s\n' "$mode" "$plain" "$intercepted" "$added" \
        "${row#*:}" "$log" "$archive"
done
exit "$status"
