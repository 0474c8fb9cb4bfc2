#!/bin/bash
# STAGGER_CALLS and STAGGER_EVENTS: which functions the library intercepts, and which are in the
# trace.
. "$(dirname "$0")/../lib/sh.sh"

mkdir alone && cp "$LIB" alone/
# functions DIR: the functions with calls, from the tables of all calls and of collectives.
functions() {
    report_json "$1" calls.json && json calls.json \
        '" ".join(sorted(set(f["mpi_function"] for f in d["functions"] if f["calls"])))'
}
traced() {
    "$BUILD/tests/profile/print_log" "$1.trace"/rank-000000.log |
        awk '/^call / { print $2 } /^[0-9]+ MPI/ { print $2 }' | LC_ALL=C sort -u | tr '\n' ' '
}

STAGGER_TRACE=stats STAGGER_CALLS='bcast, MPI_All*' observe calls 2 "$PROGRAMS/known_events" collectives
check "a program runs with STAGGER_CALLS" ran_well calls
check "functions that STAGGER_CALLS does not name are not counted" \
    is "MPI_Allreduce MPI_Bcast" "$(functions calls.trace)"

PRELOAD=$WORK/alone/libstagger.so STAGGER_EVENTS='MPI_*bcast,Barr*' \
    observe events 2 "$PROGRAMS/known_events" collectives
check "a program runs with STAGGER_EVENTS" is 0 "$status"
check "the log has calls of the functions that STAGGER_EVENTS names" \
    is "MPI_Bcast MPI_Ibcast barrier bcast " "$(traced events)"
"$BUILD/tests/profile/print_log" events.trace/rank-000000.log >events.log
check "these calls are in the same order as with the others" \
    has_lines events.log '^call bcast 7$' 1

STAGGER_TRACE=stats STAGGER_CALLS=Sned,mpi_send,MPI_Foo* observe wrong 2 "$PROGRAMS/known_events" messages
check "globs that match no function are reported, one line each, and ignored" \
    all 'is 0 "$status"' 'has_lines wrong.err "matches no function" 2' \
    'has_lines wrong.err "^stagger: STAGGER_CALLS: Sned matches no function and is ignored; the nearest name is MPI_Send$" 1' \
    'is MPI_Send "$(functions wrong.trace)"'
STAGGER_TRACE=stats STAGGER_CALLS=MPI_Foo* observe none 2 "$PROGRAMS/known_events" messages
check "without a valid glob all functions are recorded" \
    is "MPI_Iprobe MPI_Probe MPI_Recv MPI_Send MPI_Sendrecv MPI_Sendrecv_replace MPI_Ssend" \
    "$(functions none.trace)"
