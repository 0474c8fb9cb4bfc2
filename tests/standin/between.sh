#!/bin/bash
# Collectives between two simulated machines, with every order of writes that an adapter may
# produce.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/standin/standin.bash"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/progress/progress.bash"
. "$ROOT/tests/lab/between.bash"
standin_test "collectives by adapters that are not there"

# The program checks every element of every result. Everything goes by RDMA.
right() { # RANKS RULES OPERATIONS CALLS ELEMENTS
    STAGGER_RULES=$2 STAGGER_VERBS_MULTICAST=off across right "$1" "$PROGRAMS/repeat" "$3" "$4" 1 "$5"
    is 0 "$status" && by_rdma right
}

late="when each write arrives in halves, one of them after the next word"
for rules in '*=srm' '*=handoff' '*=adaptive;*=bypass' '*=tree'; do
    operations=allreduce,reduce
    [ "$rules" = '*=srm' ] && operations+=,bcast
    check "results are right by $rules" right 2 "$rules" "$operations" 40 1
    STANDIN_FAULTS=reorder check "... results are right $late" right 4 "$rules" "$operations" 40 101
done
# Larger than a chunk, and than the read-ahead.
for rule in srm handoff; do
    STANDIN_FAULTS=reorder check "results of several chunks by $rule are right $late" \
        right 3 "*=$rule" allreduce,reduce 5 5000
done

# Rank 3 forwards rank 0's contribution to root 1, in some reduces after it has left.
export STAGGER_VERBS_MULTICAST=off
late_contributions() {
    STAGGER_PROGRESS=signal STAGGER_RANKS_PER_NODE=1 STAGGER_RULES='reduce=bypass;*=mpich' \
        across late 4 "$PROGRAMS/internode_scenarios" 3/1 2/1 0/1 1/1 0/1 2/1 3/1 1/1
    is 0 "$status" && by_rdma late && within 1 8 "$(total late late)" &&
        is "0 0" "$(total late signals) $(total late signals_ignored)" &&
        has <(late_regions late) ' Progress thread: ' &&
        has_lines late.err '^stagger: between machines a thread handles late messages instead of a signal handler' 1
}
check "a thread handles late contributions between machines, never a signal" late_contributions
disagree() {
    STAGGER_RULES='*=adaptive;*=bypass' across disagree 2 "$PROGRAMS/disagree" operation
    within 1 123 "$status" &&
        has disagree.err '^stagger: ranks of one communicator disagree on a collective: rank [01] is in MPI_.*, rank [01] on .* in a call with another'
}
check "ranks on different machines that disagree end the job, and the message names them" disagree
