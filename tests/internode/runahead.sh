#!/bin/bash
# A leaf that tries a thousand reductions ahead of a parent that does not come is stopped when its
# credits are spent; memory stays bounded, and order and results hold when the parent comes.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"

ahead() { sed -n 's/^ahead //p' "$1"; }

# RANKS SLOTS LATE LEAF, in the tree of bypass: 0 has the children 1 and 2, and 2 has 3
cases=('2 2 0 1' '4 8 2 3' '3 64 0 2')
for mode in $(modes thread signal poll); do
    for rules in '*=adaptive;*=bypass' '*=tree'; do
        for case in "${cases[@]}"; do
            read -r ranks slots late leaf <<<"$case"
            of="($rules; rank $leaf of $ranks ahead of rank $late, $slots slots, $mode)"
            STAGGER_STALL_S=1 STAGGER_SLOTS=$slots STAGGER_TRACE=stats STAGGER_RULES=$rules \
                STAGGER_RANKS_PER_NODE=1 STAGGER_PROGRESS=$mode release_after \
                'waits in MPI_Reduce for more than 1 s' ahead \
                mpirun_stagger "$ranks" "$PROGRAMS/internode_runahead" 1000 "$late" "$leaf" \
                "$WORK/released"
            check "a leaf far ahead is stopped and goes on when its parent comes $of" all \
                'is 0 "$status"' 'has_lines ahead.out finished $ranks'
            check "it comes no further than its credits allow $of" \
                within 1 "$slots" "$(ahead ahead.out)"
            check "the wait is reported, with the rank that has not come $of" has ahead.err \
                "waits in MPI_Reduce for more than 1 s, .*rank $late was last in"
        done
    done
done
