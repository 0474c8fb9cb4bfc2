#!/bin/bash
# timeout: 400
# Collectives between two machines that are not there: what an adapter may do to what is written.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/standin/standin.bash"
. "$ROOT/tests/lab/between.bash"
standin_test "collectives by adapters that are not there"

# What the program checks: every element of every result. By RDMA, all of it.
right() { # ALGORITHM OPERATIONS ELEMENTS
    STAGGER_RULES="*=$1" STAGGER_VERBS_MULTICAST=off across right 4 "$PROGRAMS/repeat" "$2" 40 3 "$3"
    is 0 "$status" && by_rdma right
}

for rule in adaptive bypass tree; do
    check "results are right by $rule" right "$rule" allreduce,reduce 1
    STANDIN_FAULTS=reorder check "... where what is written comes in halves, one of them late" \
        right "$rule" allreduce,reduce 100
done
