#!/bin/bash
# A program that makes and frees communicators endlessly: their definitions leave space in the log,
# and calls on the remaining ones are still counted.
. "$(dirname "$0")/../lib/sh.sh"

STAGGER_TRACE_BYTES=1m observe many 2 "$PROGRAMS/many_comms" 2500
check "2500 communicators one after another work" is 0 "$status"
check "one line says when the log is full, another at the end gives the number of missing communicators" all \
    'has_lines many.err "communicators fill a quarter of the log" 1' \
    'has_lines many.err "definitions of communicators are missing from the log of rank 0" 1'
check "a log is hardly larger than its limit" within 1000000 1300000 \
    "$(stat -c %s many.trace/rank-000000.log)"
check "definitions use no more than their share" within 1500 4096 \
    "$("$BUILD/tests/profile/print_log" many.trace/rank-000000.log | grep -c '^comm \|^managed ')"
check "calls on undefined communicators are counted" has <("$STAGGER" report --all many.trace 2>&1) 'PARTIAL'
report_json many.trace many.json
check "the trace has the calls on communicators with a definition" is 10 \
    "$(json many.json 'sum(s["calls"] for s in d["sites"] if s["op"] == "barrier") // 2')"
check "the statistics have all calls" is 5000 \
    "$(json many.json 'sum(f["calls"] for f in d["functions"] if f["mpi_function"] == "MPI_Sendrecv")')"

STAGGER_TRACE=stats observe stats 2 "$PROGRAMS/many_comms" 500
check "without events the log has all communicators" all 'is 0 "$status"' 'lacks stats.err communicators'
