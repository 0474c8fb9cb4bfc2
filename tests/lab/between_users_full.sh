#!/bin/bash
# timeout: 4000
# Broadcast tests for some of the protocols only, and user-defined operations, between two and three
# machines by RDMA: roots and inner nodes that go on, disagreement, some or all multicasts lost;
# every bit.
# shellcheck disable=SC2016 # single quotes for what others expand
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/lab/lab.bash"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/broadcasts.bash"
. "$ROOT/tests/lab/between.bash"
lab_test "users' operations, and broadcasts without all ranks, between machines" -n 3 -c 2 -m 1536 -t 3900
export STAGGER_VERBS_MEMORY=1g PROGRAM_SECONDS=900

broadcasts_give srm poll 2 1
for algorithm in bypass tree srm; do
    run_across ahead thread 1 "bcast=$algorithm;*=adaptive" 3 "$PROGRAMS/broadcasts" ahead 4 1024
    check "a root returns before the ranks on other machines have called ($algorithm)" all \
        'gave ahead' 'by_rdma ahead'
done
for mode in thread signal; do
    STAGGER_RANKS_PER_NODE=1 run_across passed "$mode" 2 'bcast=bypass;*=adaptive' 4 \
        "$PROGRAMS/broadcasts" passed
    check "an inner node that has not called passes on data from another machine ($mode)" all \
        'gave passed' 'by_rdma passed'
done
for what in bytes root operation; do
    check "machines that disagree on a broadcast end the job (another $what)" ends_saying \
        '^stagger: ranks of one communicator disagree on a collective: ' wrong \
        run_across wrong thread 1 '*=bypass;*=adaptive' 3 "$PROGRAMS/broadcasts" wrong "$what"
done

# ---- multicasts: of bcs's strobes and data -------------------------------------------------------
bcs='bcs(slice=2000)'
broadcasts_give "$bcs" thread 3 1
check "... RDMA and multicast carry them" all 'by_rdma results' 'within 1 1000000000 "$(sum 5 results)"'
for one_in in 50 5; do
    lose 3 "$one_in"
    run_across lossy thread 1 "*=$bcs" 3 "$PROGRAMS/broadcasts" later
    missed=$(lost 3)
    lose 3 0
    check "with one of $one_in multicasts lost on one of three hosts, every byte is right" all \
        'gave lossy' 'by_rdma lossy' 'within 1 1000000 "$missed"'
done
STAGGER_VERBS_MULTICAST=off
export STAGGER_VERBS_MULTICAST
for algorithm in "$bcs" bypass srm; do
    broadcasts_give "$algorithm" thread 3 1
    check "... RDMA carries them without a multicast" all 'by_rdma results' 'is 0 "$(sum 5 results)"'
done
unset STAGGER_VERBS_MULTICAST

# ---- users' operations ---------------------------------------------------------------------------
# users_give RULES MODE HOSTS RANKS-PER-HOST
users_give() {
    local ranks=$(($3 * $4))
    run_across users "$2" "$4" "$1" "$ranks" "$PROGRAMS/user_operations"
    timeout "$PROGRAM_SECONDS" mpi "$3" "$4" "$PROGRAMS/user_operations" >users.plain 2>/dev/null </dev/null
    check "users' operations give stock's and a sequential reference's results ($3 hosts, $4 ranks each, $2, $1)" \
        all 'gave users' 'by_rdma users' 'same <(sort users.plain) <(sort users.out)'
    calls_of users
}

for case in '2 1 thread' '2 2 signal' '3 1 poll'; do
    read -r hosts each mode <<<"$case"
    users_give '' "$mode" "$hosts" "$each"
    check "the protocols ran users' operations" all 'has users.calls " bypass users_reduce"' \
        'has users.calls " adaptive users_allreduce"' 'is adaptive "$(algorithms_of users pairs)"'
done
for rules in '*=bypass(eager=64);*=adaptive' '*=tree(degree=2)' 'allreduce=pairwise;*=bypass(linger=20)' \
    '*=handoff' '*=handoff(eager=64)' '*=srm(chunk=1)'; do
    users_give "$rules" thread 3 1
    users_give "$rules" signal 2 2
done

exit $((failures > 0))
