#!/bin/bash
# timeout: 400
# Collectives between two machines that are not there: what an adapter may do to what is written.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/standin/standin.bash"
. "$ROOT/tests/lab/between.bash"
standin_test "collectives by adapters that are not there"

# What the program checks: every element of every result. By RDMA, all of it.
right() { # ALGORITHM OPERATIONS CALLS ELEMENTS
    STAGGER_RULES="*=$1" STAGGER_VERBS_MULTICAST=off across right 4 "$PROGRAMS/repeat" "$2" "$3" 3 "$4"
    is 0 "$status" && by_rdma right
}

late="where what is written comes in halves, one of them later than the word after it"
for rule in srm handoff adaptive bypass tree; do
    operations=allreduce,reduce
    [ "$rule" = srm ] && operations+=,bcast
    check "results are right by $rule" right "$rule" "$operations" 40 1
    STANDIN_FAULTS=reorder check "... $late" right "$rule" "$operations" 40 101
done
# Beyond a chunk, and beyond what a read goes ahead of.
for rule in srm handoff; do
    STANDIN_FAULTS=reorder check "results of several chunks are right by $rule, $late" \
        right "$rule" allreduce,reduce 5 5000
done
