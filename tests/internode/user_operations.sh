#!/bin/bash
# long
# User-defined operations (MPI_Op_create), commutative or not, between virtual nodes: every protocol
# that takes them gives the results of a sequential reference, and applies them
# only in application threads that are in the call; the explorer finds no protocol that folds
# outside of it.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"

program=$PROGRAMS/user_operations

# The program compares every result with the reference; this shows that the reference is right.
compare stock 2 "$program"
check "stock MPICH gives the results of the sequential reference" is 0 "$plain_status"

# users_give RULES MODE RANKS RANKS-PER-NODE
users_give() {
    run_across users "$2" "$4" "$1" "$3" "$program"
    check "results equal a sequential reference's ($3 ranks, $4 a node, $2, $1)" gave users
}

for case in '2 1' '3 2' '5 3'; do
    read -r ranks each <<<"$case"
    # shellcheck disable=SC2086 # words
    in_turn $MODES
    for mode in "${turn[@]}"; do
        users_give '' "$mode" "$ranks" "$each"
        check "the protocols run reduces, allreduces and pairs ($ranks ranks, $each a node, $mode)" all \
            'has <(algorithms users users_reduce) bypass' 'has <(algorithms users users_allreduce) adaptive' \
            'is adaptive "$(algorithms users pairs)"'
    done
done
check "archives are sound" archive_sound users.trace
export STAGGER_TRACE=stats
users_give '*=bypass(eager=64);*=adaptive' thread 4 1
check "with one rank a node, the protocols run all operations" all \
    'is bypass "$(algorithms users users_reduce)"' 'is adaptive "$(algorithms users users_allreduce)"'
users_give '*=bypass(deterministic=0);*=adaptive(degree=2,tokens=3)' signal 5 3
check "when a node's ranks are not consecutive, MPICH runs the operations that do not commute" all \
    'is "bypass mpich" "$(algorithms users users_reduce)"' \
    'is "adaptive mpich" "$(algorithms users users_allreduce)"'

each=0
for rules in '*=tree(degree=2)' '*=adaptive(predict=1,deterministic=0);*=tree(degree=1)' \
    'allreduce=pairwise;*=bypass(linger=20)' '*=handoff' '*=srm' '*=srm(chunk=1)'; do
    in_turn thread signal
    for mode in "${turn[@]}"; do
        each=$((each % 3 + 1))
        users_give "$rules" "$mode" 4 "$each"
    done
done
users_give '*=bcs(slice=100)' thread 3 1
check "bcs leaves users' operations to MPICH" is mpich "$(algorithms users users_allreduce)"

check "no protocol runs a user's operation outside its call" \
    "$STAGGER" sim explore --user --seeds 4000 --algo bypass,adaptive,tree,pairwise,handoff,srm

exit $((failures > 0))
