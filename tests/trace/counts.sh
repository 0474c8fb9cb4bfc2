#!/bin/bash
# The report has the counts of a protocol between nodes in a known order of arrivals, from events
# and from statistics: calls that waited for credits, outstanding instances, token moves.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"

slots=4
# figure NAME COLUMN OPERATION: the sum over its rows
figure() {
    report_json "$1.trace" "$1.json" &&
        json "$1.json" "sum(s['$2'] for s in d['sites'] if s['op'] == '$3')"
}

for trace in otf2 stats; do
    # A leaf ahead of its root waits each time its credits run out.
    STAGGER_STALL_S=1 STAGGER_SLOTS=$slots STAGGER_TRACE=$trace STAGGER_RULES='reduce=bypass' \
        STAGGER_RANKS_PER_NODE=1 release_after 'has waited in MPI_Reduce for more than 1 s' ahead \
        mpirun_stagger 2 "$PROGRAMS/internode_runahead" 10000 0 1 "$WORK/released"
    if ! fails_alone "calls that waited for credits are counted ($trace)" 2 \
        "$PROGRAMS/internode_runahead" 10000 0 1 "$WORK/released"; then
        check "calls that waited for credits are counted as stalls ($trace)" all 'is 0 "$status"' \
            'within 1 10000 "$(figure ahead stalls reduce)"'
        check "at most as many instances are outstanding as there are credits ($trace)" \
            within 1 $slots "$(figure ahead outstanding_max reduce)"
    fi

    # The token of an allreduce goes to the one late node, a child of the root.
    for each in 1 2; do
        STAGGER_STALL_S=1 STAGGER_TRACE=$trace STAGGER_RULES='*=adaptive' \
            STAGGER_RANKS_PER_NODE=$each release_after 'more than 1 s' late \
            mpirun_stagger $((3 * each)) "$PROGRAMS/disagree" late "$WORK/released"
        check "the token moves once to the late rank ($trace, $each a node)" all \
            'is 0 "$status"' 'is 1 "$(figure late token_moves allreduce)"'
        check "nothing is late when all ranks wait ($trace, $each a node)" is "0 0" \
            "$(figure late late allreduce) $(figure late handler_ns allreduce)"
    done
done
