#!/bin/bash
# Plain messages and collectives, which take a direct path, leave the same log as on the general path, which they
# take if several threads may call MPI.
. "$(dirname "$0")/../lib/sh.sh"

# Without its companion the library makes no archive from the logs.
mkdir alone && cp "$LIB" alone/
for level in single multiple; do
    PRELOAD=$WORK/alone/libstagger.so observe "$level" 2 "$PROGRAMS/plain_messages" "$level"
    check "messages with thread support \"$level\" run" is 0 "$status"
    "$BUILD/tests/profile/print_log" "$level.trace"/rank-*.log | sed -E 's/ [0-9a-f]{16}:[0-9]+ / /' >"$level.log"
done
check "their logs have the same calls, requests and messages" same multiple.log single.log
check "these are all calls" has_lines single.log ' MPI_Isend .*posts' 456

# record_count LEVEL KIND: records of a kind in rank 0's log.
record_count() {
    /usr/bin/python3 -c 'import sys
slots = open(sys.argv[1], "rb").read()[4096:]
print(slots[::64].count(int(sys.argv[2])))' "$1.trace/rank-000000.log" "$2"
}
check "all collectives are among them" \
    has_lines single.log ' MPI_(Alltoall|Gather|Scatter|Allgatherv?|Scan|Reduce_scatter_block) .*ordered' 1920
check "without it each completion has a record" is "465 0" \
    "$(record_count multiple 17) $(record_count multiple 30)"
check "on the direct path fewer than one in three have" \
    [ $(($(record_count single 17) + $(record_count single 30))) -lt 155 ]
check "some of the others share a record" [ "$(record_count single 30)" -gt 0 ]

# Threads reserve slots for several events at a time, and these end after two.
PRELOAD=$WORK/alone/libstagger.so observe brief 2 "$PROGRAMS/brief_threads"
check "threads that end leave few slots unused" [ "$(/usr/bin/python3 -c 'import sys
kinds = open(sys.argv[1], "rb").read()[4096::64].rstrip(b"\0")
print(kinds.count(0))' brief.trace/rank-000000.log)" -lt 30 ]
