#!/bin/bash
# Clocks that differ: a rank in its own time namespace reads a monotonic clock that is thousands of
# seconds off, as a rank on another machine may.
. "$(dirname "$0")/../lib/sh.sh"

if ! unshare -T --monotonic 1000 true 2>/dev/null; then
    skip "the clocks of two machines are synchronised" "no time namespace may be made here"
    exit
fi
# CLOCK_MONOTONIC_RAW follows the namespace's monotonic offset.
far='import time; print(int(time.clock_gettime(time.CLOCK_MONOTONIC_RAW)))'
near=$("$PYTHON" -c "$far")
if [ "$(unshare -T --monotonic 5000 "$PYTHON" -c "$far")" -lt $((near + 4000)) ]; then
    skip "the clocks of two machines are synchronised" "the namespace does not move the clock"
    exit
fi

STAGGER_DIR=$WORK/two.trace timeout "$PROGRAM_SECONDS" "$MPIEXEC" -genv LD_PRELOAD "$PRELOAD" \
    -n 1 "$PROGRAMS/calls" 300 \
    : -n 1 unshare -T --monotonic 5000 "$PROGRAMS/calls" 300 >two.out 2>two.err </dev/null
status=$?
check "ranks with clocks thousands of seconds apart run under the library" all 'is 0 "$status"' \
    'has_lines two.err "^stagger: " 3'
check "... one line says that neither machine has RDMA" has_lines two.err \
    '^stagger: rank [01]: no RDMA \(.+\): MPICH runs collectives between machines or containers$' 1
check "their archive is sound and its counts are right" all 'archive_agrees two.trace two.out' \
    'archive_sound two.trace'
report_json two.trace two.json
# 1000 s: more than a run may take, and less than the clocks differ by.
check "skews are those of one run, independent of the clocks' difference" is "True" "$(json two.json \
    'all(0 <= s["skew_ns"]["max"] < 1e12 for s in d["sites"])')"
check "all ranks' runs last about equally long" is "True" "$(json two.json \
    'abs(d["per_rank"][0]["run_ns"] - d["per_rank"][1]["run_ns"]) < 1e12')"
STAGGER_TRACE=stats STAGGER_DIR=$WORK/stats.trace timeout "$PROGRAM_SECONDS" "$MPIEXEC" -genv LD_PRELOAD "$PRELOAD" \
    -n 1 "$PROGRAMS/calls" 300 \
    : -n 1 unshare -T --monotonic 5000 "$PROGRAMS/calls" 300 >stats.out 2>stats.err </dev/null
check "statistics are right, too" all "is 0 $?" 'report_json stats.trace stats.json' \
    'is 1800 "$(json stats.json "sum(s[\"calls\"] for s in d[\"sites\"])")"'
