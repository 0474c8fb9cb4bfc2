#!/bin/bash
# Collectives between two simulated machines, with every order of writes that an adapter may
# produce.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/standin/standin.bash"
. "$ROOT/tests/lab/between.bash"
standin_test "collectives by adapters that are not there"

# The program checks every element of every result. Everything goes by RDMA.
right() { # ALGORITHM OPERATIONS CALLS ELEMENTS
    STAGGER_RULES="*=$1" STAGGER_VERBS_MULTICAST=off across right 4 "$PROGRAMS/repeat" "$2" "$3" 3 "$4"
    is 0 "$status" && by_rdma right
}

late="when each write arrives in halves, one of them after the next word"
for rule in srm handoff adaptive bypass tree; do
    operations=allreduce,reduce
    [ "$rule" = srm ] && operations+=,bcast
    check "results are right by $rule" right "$rule" "$operations" 40 1
    STANDIN_FAULTS=reorder check "... results are right $late" right "$rule" "$operations" 40 101
done
# Larger than a chunk, and than the read-ahead.
for rule in srm handoff; do
    STANDIN_FAULTS=reorder check "results of several chunks by $rule are right $late" \
        right "$rule" allreduce,reduce 5 5000
done
