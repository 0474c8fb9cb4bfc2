#!/bin/bash
# Between nodes, too, ranks that wait for nobody run ahead of others by more than the protocol's
# credits, as in stock MPICH. The stored operands are bounded: a leaf further ahead is stopped, and
# order and results hold when its parent arrives.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"

export STAGGER_TRACE=stats

for mode in $(modes thread signal); do
    for rules in '*=adaptive;*=bypass' '*=tree' '*=handoff;bcast=srm' '*=srm' '*=bcs(slice=100)'; do
        in_turn '2 1' '4 1' '4 2'
        for run in "${turn[@]}"; do
            read -r ranks each <<<"$run"
            run_across ahead "$mode" "$each" "$rules" "$ranks" "$PROGRAMS/ahead" \
                reduce 300 8 reduce 40 20000 bcast 300 8 bcast 40 20000 freed
            check "who contributes to reduces and who broadcasts returns before the others call, and \
may free the communicator ($ranks ranks, $each a node, $rules, $mode)" all 'is 0 "$status"' 'has_lines ahead.out finished $ranks'
        done
    done
done

# ---- the bound -----------------------------------------------------------------------------------------
ahead() { sed -n 's/^ahead //p' "$1"; }

# RANKS SLOTS LATE LEAF, in bypass's tree: 0 has the children 1 and 2, and 2 has 3
cases=('2 2 0 1' '4 8 2 3' '3 64 0 2')
for mode in $(modes thread signal poll); do
    # Without a helper thread only its credits let a leaf run ahead.
    [ "$mode" = poll ] && kept=0 || kept=5000
    for case in "${cases[@]}"; do
        read -r ranks slots late leaf <<<"$case"
        in_turn '*=tree' '*=adaptive;*=bypass'
        for rules in "${turn[@]}"; do
            of="($rules; rank $leaf of $ranks ahead of rank $late, $slots slots, $mode)"
            STAGGER_STALL_S=1 STAGGER_SLOTS=$slots STAGGER_RULES=$rules \
                STAGGER_RANKS_PER_NODE=1 STAGGER_PROGRESS=$mode release_after \
                'has waited in MPI_Reduce for more than 1 s' ahead \
                mpirun_stagger "$ranks" "$PROGRAMS/internode_runahead" 10000 "$late" "$leaf" \
                "$WORK/released"
            check "a leaf far ahead is stopped and goes on when its parent arrives $of" all \
                'is 0 "$status"' 'has_lines ahead.out finished $ranks'
            check "it runs no further ahead than its contributions can be kept $of" \
                within 1 $((kept + slots)) "$(ahead ahead.out)"
            check "the wait is reported, with the absent rank $of" has ahead.err \
                "has waited in MPI_Reduce for more than 1 s, .*rank $late is outside MPI, after MPI_"
        done
    done
done
