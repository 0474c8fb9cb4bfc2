#!/bin/bash
# A program with only barriers, reduces and allreduces costs the archive a fixed number of events
# per call, and of bytes in OTF2's encoding.
. "$(dirname "$0")/../lib/sh.sh"

export STAGGER_CAUSES=off # samples between calls are events, too

# Maximum bytes per call. A record is its type and length (2) and its fields; a number of n bytes takes 1 + n, a time
# that differs from the one before 9. With string ids of up to 2 bytes:
#   two times: at Enter and Leave               18
#   attributes of Enter: 2 + 2 + 4 (2 + 1 + 3)  28
#   Enter, Leave: 2 + 2 each                     8
#   MpiCollectiveBegin                           2
#   MpiCollectiveEnd: 2 + 1 + 2 + 2 + 3 + 3     13
#   Metric: 2 + 2 + 1 + 10 (1 + 2), a skew + 4  39
MOST=108

# events NAME: the number of rank 0's events by kind
events() {
    otf2-print -L 0 "$1.trace/traces.otf2" | awk '$1 ~ /^[A-Z_]+$/ && $1 != "ADDITIONAL" { count[$1]++ }
        END { for (kind in count) print kind, count[kind] }' | LC_ALL=C sort
}

# bytes NAME FILE
bytes() { stat -c %s "$1.trace/traces/$2"; }

for times in 1000 5000; do
    observe "run$times" 2 "$PROGRAMS/three_calls" "$times"
    check "the archive of $times rounds is sound" all 'ran_well run$times' 'archive_sound run$times.trace'
    events "run$times" >events.out
    calls=$((3 * times))
    # The program, MPI_Init and MPI_Finalize are regions, too.
    check "a call has one event of each kind, and at most one metric event" all \
        'has events.out "^ENTER $((calls + 3))\$"' 'has events.out "^LEAVE $((calls + 3))\$"' \
        'has events.out "^MPI_COLLECTIVE_BEGIN $calls\$"' 'has events.out "^MPI_COLLECTIVE_END $calls\$"' \
        'within 0 $calls "$(awk "\$1 == \"METRIC\" { n = \$2 } END { print n + 0 }" events.out)"' \
        'lacks events.out "^(MPI_[IRS]|RMA|PARAMETER|NON_)"'
done
for rank in 0 1; do
    more=$(($(bytes run5000 $rank.evt) - $(bytes run1000 $rank.evt)))
    echo "# rank $rank: $((more / 12000)) bytes a call"
    check "... rank $rank's events have no more bytes than expected" within 1 $((12000 * MOST)) "$more"
    check "... the size of statistics stays the same" is "$(bytes run1000 $rank.calls)" "$(bytes run5000 $rank.calls)"
done
