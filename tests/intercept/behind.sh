#!/bin/bash
# After a collective, one call finds the same state as in MPICH: messages, completed requests,
# epochs of windows.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"
export STAGGER_TRACE=off
ROUNDS=10 RACES=40 # threads meet in few rounds only
! in_full || ROUNDS=100 RACES=100

# found NAME RANKS OPERATION[,OPERATION]... [NAME=VALUE...]: in all cases and rounds
found() {
    local name=$1 ranks=$2 operation=$3 rounds=$ROUNDS
    shift 3
    [ "$operation" != threads ] || rounds=$RACES
    (export "$@" && observe "$name" "$ranks" "$PROGRAMS/behind" "$operation" "$rounds" && exit "$status")
    is 0 $? && is "found always" "$(cat "$name.out")" && says_nothing "$name.err"
}

compare stock 2 "$PROGRAMS/behind" barrier "$ROUNDS"
check "without the library one call finds a message that was there before a barrier" is "found always" "$(cat stock.plain.out)"
check "under the library one call finds the message behind each collective on 2 ranks of a node" \
    found node 2 barrier,allreduce,allreduce_wide,reduce,bcast A=
check "... one call finds it behind each collective on 2 nodes" \
    found nodes 2 barrier,reduce,allreduce_wide,bcast,ibarrier,ibarrier_tested,iallreduce,ireduce,ibcast STAGGER_RANKS_PER_NODE=1
check "... one call finds it on 3 ranks of a node" found three 3 allreduce A=
check "... one call finds it on 3 nodes" found three-nodes 3 barrier STAGGER_RANKS_PER_NODE=1
check "... one call finds it on 4 ranks of 2 nodes" found four 4 allreduce STAGGER_RANKS_PER_NODE=2
check "... one call finds it while one thread is in the collective and two others probe" found threads 2 threads A=
check "... threads find it without a hook" found threads-none 2 threads STAGGER_WAIT_HOOK=none
check "... one call finds it without a hook" found none 2 barrier STAGGER_WAIT_HOOK=none
check "... one call finds it without a hook on 2 nodes" found none-nodes 2 ibarrier STAGGER_WAIT_HOOK=none \
    STAGGER_RANKS_PER_NODE=1
for trace in stats otf2; do
    check "... one call finds it with STAGGER_TRACE=$trace" found "$trace" 2 barrier STAGGER_TRACE=$trace \
        STAGGER_QUIET=1
done
for rules in $(modes '*=handoff' '*=srm' '*=bcs(slice=200,progress=thread)' \
    '*=adaptive;*=bypass' '*=tree'); do
    check "... one call finds it by $rules" found rules 2 reduce "STAGGER_RULES=$rules" STAGGER_RANKS_PER_NODE=1
done
if [ -x "$PROGRAMS/behind_f08" ]; then
    observe f08 2 "$PROGRAMS/behind_f08" $ROUNDS
    check "a Fortran 2008 program finds it, too" all 'is 0 "$status"' \
        'is "found $(printf "$ROUNDS %.0s" {1..5})$ROUNDS" "$(cat f08.out)"'
else
    skip "Fortran 2008" "no compiler"
fi
