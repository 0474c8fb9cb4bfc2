#!/bin/bash
# Measures the cost and benefit of stagger: bench/bench.sh BUILD [--full]. Prints
#
#   - per trace mode, the time of a barrier on MPI_COMM_SELF with and without interception in one run, the
#     difference beside its goal, and the bytes of log and archive per call;
#   - the time of collectives of 2, 4 and 8 ranks against stock MPICH in the same runs, beside the goals;
#     also Open MPI's times, from runs in between, if BUILD holds the benchmark built for it;
#   - the measuring instrument's own figures: clocks, noise, calls one at a time, overlap, with plots;
#   - between virtual nodes, the processor time of a reduce and the synchronization delay of barrier and
#     allreduce, for 2, 4 and 8 ranks; with --full also for 16 and 32, which takes many minutes;
#   - one line per goal: goal, measured value, the machine's limit.
#
# Leaves everything in BUILD/bench: the printed text (summary.txt), goals.json, each run's JSON,
# plots. Without --full it takes less than ten minutes.
#
# Asserts nothing: the numbers describe this machine at this moment. STAGGER_RULES may choose the
# algorithms.
set -u
export LC_ALL=C

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$(cd "${1:-$ROOT/build}" && pwd) || exit 1
MPIEXEC=$("$ROOT/.ci/find-mpi" exec) || { echo "bench: no MPICH launcher found" >&2; exit 1; }
WORK=$(mktemp -d "${TMPDIR:-/tmp}/stagger-bench-XXXXXX") || exit 1
trap 'rm -rf "$WORK"' EXIT
OUT=$BUILD/bench
rm -rf "$OUT"
mkdir "$OUT" || exit 1
full=0
[ "${2:-}" = --full ] && full=1
rules=${STAGGER_RULES:-}
unset "${!STAGGER_@}"
exec > >(tee "$OUT/summary.txt")
printer=$!
# Waits at exit until all output has been printed.
trap 'exec >/dev/null; wait "$printer"; rm -rf "$WORK"' EXIT

bytes_of() { find "$1" -type f -printf '%s\n' 2>/dev/null | awk '{ sum += $1 } END { print sum + 0 }'; }

# measure MODE DIRECTORY [leave]: prints bench_call's line: plain, intercepted, added (ns), calls
measure() {
    STAGGER_TRACE=$1 STAGGER_DIR=$WORK/$2 STAGGER_QUIET=1 \
        timeout 100 "$MPIEXEC" -genv LD_PRELOAD "$BUILD/libstagger.so" -n 1 \
        "$BUILD/mpi/bench_call" "${@:3}" </dev/null
}

# Counts the used slots of a log, whose file is allocated ahead.
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
calls_json=
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
    calls_json+="${calls_json:+, }{\"mode\": \"$mode\", \"added_ns\": $added, \"goal_ns\": ${row#*:}}"
done
echo "[$calls_json]" >"$OUT/calls.json"

# ---- speed -------------------------------------------------------------------------------------------
ROUNDS=3
ROW_S=0.7         # of each row in each round
TRACED_ROW_S=0.06 # where every call is kept
TRACE_BYTES=512m
ROUNDS_END_S=120  # after which no other round begins
RUN_S=40          # a run that takes longer has failed
RESULTS=$OUT/speed
mkdir "$RESULTS"

# keep LABEL COMMAND...: saves the command's output as this round's result with that label.
keep() {
    local label=$1
    shift
    if ! timeout "$RUN_S" "$@" </dev/null >"$WORK/out" 2>"$WORK/err"; then
        echo "bench: the run '$label' failed:" >&2
        cat "$WORK/err" >&2
        status=1
        return 1
    fi
    mv "$WORK/out" "$RESULTS/$label.$round.json"
}

# ours LABEL TRACE RANKS OPTION...: measures against MPICH in the same run. MPICH waits there as it
# does without the library: the wait hook would make it yield its processor, too. (The library's
# algorithms yield by themselves.)
ours() {
    STAGGER_WAIT_HOOK=none STAGGER_TRACE=$2 STAGGER_TRACE_BYTES=$TRACE_BYTES STAGGER_RULES=$rules STAGGER_QUIET=1 \
        STAGGER_DIR=$WORK/$1.$round keep "$1" "$MPIEXEC" -genv LD_PRELOAD "$BUILD/libstagger.so" \
        -n "$3" "$BUILD/stagger-bench" latency --scheme loop --json "${@:4}"
}

# Measures Open MPI, if there is such a program. As with stagger's runs, oversubscription is
# intended.
theirs() {
    [ -x "$BUILD/openmpi/stagger-bench" ] || return 0
    keep "openmpi-$1" mpiexec.openmpi --allow-run-as-root --oversubscribe -n "$2" \
        "$BUILD/openmpi/stagger-bench" latency --scheme loop --json "${@:3}"
}

# A recording that ended early would flatter the figures with trace.
check_whole() {
    [ -d "$1" ] || return 0
    if "$BUILD/stagger" report --json "$1" | grep -q '"partial": true'; then
        echo "bench: the trace of $(basename "$1") is not whole: its figures are too good" >&2
        status=1
    fi
    rm -rf "$1"
}

small=(--ops barrier,allreduce,reduce --bytes 8)
large=(--ops allreduce --bytes 64k,1m,8m)
broadcasts=(--ops bcast --bytes 8,4k,64k,1m)
oversubscribed=(--ops barrier,allreduce --bytes 8)
late=(--ops reduce --bytes 8 --skew-us 1000)
for ((round = 1; round <= ROUNDS; round++)); do
    if [ "$SECONDS" -ge "$ROUNDS_END_S" ]; then
        echo "bench: the machine is busy: $((round - 1)) of $ROUNDS rounds" >&2
        break
    fi
    ours small-off off 2 "${small[@]}" --time "$ROW_S"
    theirs small 2 "${small[@]}" --time "$ROW_S"
    ours small-otf2 otf2 2 "${small[@]}" --time "$TRACED_ROW_S"
    check_whole "$WORK/small-otf2.$round"
    ours large off 2 "${large[@]}" --time "$ROW_S"
    theirs large 2 "${large[@]}" --time "$ROW_S"
    ours bcast off 2 "${broadcasts[@]}" --time "$ROW_S"
    theirs bcast 2 "${broadcasts[@]}" --time "$ROW_S"
    ours four off 4 "${oversubscribed[@]}" --time "$ROW_S"
    theirs four 4 "${oversubscribed[@]}" --time "$ROW_S"
    ours eight off 8 "${oversubscribed[@]}" --time "$ROW_S"
    theirs eight 8 "${oversubscribed[@]}" --time "$ROW_S"
    ours late off 4 "${late[@]}" --time "$ROW_S"
    theirs late 4 "${late[@]}" --time "$ROW_S"
done
echo
/usr/bin/python3 "$ROOT/bench/speed.py" "$RESULTS" || status=1

# ---- the instrument ----------------------------------------------------------------------------------
echo
. "$ROOT/bench/instrument.bash"
/usr/bin/python3 "$ROOT/bench/instrument.py" "$INSTRUMENT" || status=1

# ---- between nodes -----------------------------------------------------------------------------------
echo
. "$ROOT/bench/nodes.bash"
/usr/bin/python3 "$ROOT/bench/nodes.py" "$NODES" || status=1
echo
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$ROOT/bench/goals.py" "$OUT" || status=1
exit "$status"
