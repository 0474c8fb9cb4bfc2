#!/bin/bash
# A program that makes and frees communicators endlessly: their definitions leave space in the log,
# and calls on the remaining ones are still counted.
. "$(dirname "$0")/../lib/sh.sh"

STAGGER_TRACE_BYTES=1m observe many 2 "$PROGRAMS/many_comms" 20000
check "20000 communicators after one another run through" is 0 "$status"
check "once, and at the end with their number, it is said that there is no room for all" all \
    'has_lines many.err "communicators fill a quarter of the log" 1' \
    'has_lines many.err "definitions of communicators are missing from the log of rank 0" 1'
check "a log is hardly larger than its room" within 1000000 1300000 \
    "$(stat -c %s many.trace/rank-000000.log)"
check "definitions use no more than their share" within 1500 4096 \
    "$("$BUILD/tests/profile/print_log" many.trace/rank-000000.log | grep -c '^comm \|^managed ')"
check "what was called on others is counted" has <("$STAGGER" report many.trace 2>&1) 'PARTIAL'
report_json many.trace many.json
check "calls on communicators that have a definition are in the trace" is 10 \
    "$(json many.json 'sum(s["calls"] for s in d["sites"] if s["op"] == "barrier") // 2')"
check "all calls are in the statistics" is 40000 \
    "$(json many.json 'sum(f["calls"] for f in d["functions"] if f["mpi_function"] == "MPI_Sendrecv")')"

STAGGER_TRACE=stats observe stats 2 "$PROGRAMS/many_comms" 500
check "without events all are in the log" all 'is 0 "$status"' 'lacks stats.err communicators'
