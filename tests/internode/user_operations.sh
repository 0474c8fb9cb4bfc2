#!/bin/bash
# long
# User-defined operations (MPI_Op_create), commutative or not, between virtual nodes: every protocol
# that takes them gives the results of stock MPICH and of a sequential reference, and applies them
# only in application threads that are in the call; the explorer finds no protocol that folds
# outside of it.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"

program=$PROGRAMS/user_operations

# users_give RULES MODE RANKS RANKS-PER-NODE
users_give() {
    run_across users "$2" "$4" "$1" "$3" "$program"
    # With more ranks than processors stock MPICH takes seconds, so it runs once per number of
    # ranks.
    if [ ! -e "stock-$3.plain.out" ]; then
        compare "stock-$3" "$3" "$program"
        check "stock MPICH runs the program ($3 ranks)" is 0 "$plain_status"
    fi
    check "results equal stock's and a sequential reference's ($3 ranks, $4 a node, $2, $1)" all \
        'gave users' "same <(sort stock-$3.plain.out) <(sort users.out)"
    calls_of users
}

for case in '2 1' '4 1' '3 2' '5 3'; do
    read -r ranks each <<<"$case"
    # shellcheck disable=SC2086 # words
    in_turn $MODES
    for mode in "${turn[@]}"; do
        users_give '' "$mode" "$ranks" "$each"
        check "the protocol runs reduces ($ranks ranks, $each a node, $mode)" \
            has users.calls ' bypass users_reduce'
        check "the protocol runs allreduces ($ranks ranks, $each a node, $mode)" \
            has users.calls ' adaptive users_allreduce'
        check "the protocol runs pairs ($ranks ranks, $each a node, $mode)" \
            is adaptive "$(algorithms_of users pairs)"
    done
done
check "archives are sound" archive_sound users.trace
users_give '*=bypass;*=adaptive' thread 4 1
check "with one rank a node, the protocols run all operations" all \
    'is bypass "$(algorithms_of users users_reduce)"' 'is adaptive "$(algorithms_of users users_allreduce)"'
users_give '*=bypass;*=adaptive' thread 5 3
check "when a node's ranks are not consecutive, MPICH runs the operations that do not commute" all \
    'is "bypass mpich" "$(algorithms_of users users_reduce)"' \
    'is "adaptive mpich" "$(algorithms_of users users_allreduce)"'

each=1
for rules in '*=bypass(eager=64);*=adaptive' '*=bypass(deterministic=0);*=adaptive(degree=2,tokens=3)' '*=tree(degree=2)' \
    '*=adaptive(predict=1,deterministic=0);*=tree(degree=1)' 'allreduce=pairwise;*=bypass(linger=20)' \
    '*=handoff' '*=srm' '*=srm(chunk=1)'; do
    in_turn thread signal
    for mode in "${turn[@]}"; do
        each=$((each % 3 + 1))
        users_give "$rules" "$mode" 5 "$each"
    done
done
users_give '*=bcs(slice=100)' thread 3 1
check "bcs leaves users' operations to MPICH" is mpich "$(algorithms_of users users_allreduce)"

check "no protocol runs a user's operation outside its call" \
    "$STAGGER" sim explore --user --seeds 4000 --algo bypass,adaptive,tree,pairwise,handoff,srm

exit $((failures > 0))
