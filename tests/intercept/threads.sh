#!/bin/bash
# Every thread level, and concurrent collectives on several communicators.
. "$(dirname "$0")/../lib/sh.sh"

for level in single funneled serialized multiple; do
    observe "$level" 2 "$PROGRAMS/thread_levels" "$level"
    check "a program at thread level $level runs under the library" ran_well "$level"
    check "its calls at thread level $level are each in the archive once" \
        archive_agrees "$level.trace" "$level.out"
done

observe threads 2 "$PROGRAMS/threads" 50
check "four threads with concurrent collectives run under the library" ran_well threads
check "concurrent collectives are each in the archive once" \
    archive_agrees threads.trace threads.out
check "the archive of four threads is sound" archive_sound threads.trace
otf2-print -G threads.trace/traces.otf2 >threads.defs
check "each recording thread has its own location" \
    has_lines threads.defs '^LOCATION .*(Master thread|Thread [1-9][0-9]*)"' \
    "$(grep -Ec '^LOCATION ' threads.defs)"
check "each rank has at least four locations" \
    within 8 10 "$(grep -Ec '^LOCATION ' threads.defs)"

STAGGER_TRACE=stats observe stats 2 "$PROGRAMS/threads" 50
report_json stats.trace stats.json
check "statistics of concurrent collectives count every call" \
    is "1200" "$(json stats.json 'sum(s["calls"] for s in d["sites"])')"
