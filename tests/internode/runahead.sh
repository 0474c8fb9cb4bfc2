#!/bin/bash
# Between nodes, too, ranks that wait for nobody run ahead of others by more than the protocol's
# credits, as in stock MPICH. The stored operands are bounded: a leaf further ahead is stopped, and
# order and results hold when its parent arrives.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"

export STAGGER_TRACE=stats

# goes_on HOW ARG...: in runs of $ranks ranks, $each per node
goes_on() {
    rm -rf "$1.trace"
    STAGGER_RANKS_PER_NODE=$each STAGGER_RULES=$rules STAGGER_PROGRESS=$mode \
        observe "$1" "$ranks" "$PROGRAMS/ahead" "$@"
    is 0 "$status" && has_lines "$1.out" finished "$ranks"
}

for mode in $(modes thread signal); do
    for rules in '*=adaptive;*=bypass' '*=tree' '*=handoff;bcast=srm' '*=srm' '*=bcs(slice=100)'; do
        in_turn '2 1' '4 1' '4 2'
        for run in "${turn[@]}"; do
            read -r ranks each <<<"$run"
            of="($ranks ranks, $each a node, $rules, $mode)"
            check "a contributor to small reduces returns before the others call $of" goes_on reduce 300 8
            check "... a contributor to reduces of 20000 bytes returns before them $of" goes_on reduce 40 20000
            check "the root of small broadcasts returns before the others call $of" goes_on bcast 300 8
            check "... the root of broadcasts of 20000 bytes returns before them $of" goes_on bcast 40 20000
        done
        ranks=3 each=1
        check "a communicator may be freed before the others call ($rules, $mode)" goes_on freed
    done
done

# ---- the bound -----------------------------------------------------------------------------------------
ahead() { sed -n 's/^ahead //p' "$1"; }

# RANKS SLOTS LATE LEAF, in bypass's tree: 0 has the children 1 and 2, and 2 has 3
cases=('2 2 0 1' '4 8 2 3' '3 64 0 2')
for mode in $(modes thread signal poll); do
    # Without a helper thread only its credits let a leaf run ahead.
    [ "$mode" = poll ] && kept=0 || kept=5000
    for rules in '*=adaptive;*=bypass' '*=tree'; do
        for case in "${cases[@]}"; do
            read -r ranks slots late leaf <<<"$case"
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
                "has waited in MPI_Reduce for more than 1 s, .*rank $late was last in"
        done
    done
done
