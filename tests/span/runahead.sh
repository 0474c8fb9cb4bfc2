#!/bin/bash
# A leaf that tries a thousand reductions ahead of a parent that does not come is stopped when its
# credits are spent; memory stays bounded, and order and results hold when the parent comes.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/engine/engine.bash"
. "$ROOT/tests/span/span.bash"

ahead() { sed -n 's/^ahead //p' "$1"; }

for mode in $MODES; do
    for rules in '*=adaptive;*=bypass' '*=tree' '*=adaptive;*=bypass(deterministic=0)'; do
        for slots in 2 8; do
            for ranks in 2 3; do
                of="($rules; $ranks ranks, $slots slots, $mode)"
                STAGGER_STALL_S=1 STAGGER_SLOTS=$slots STAGGER_TRACE=stats STAGGER_RULES=$rules \
                    STAGGER_RANKS_PER_NODE=1 in_mode "$mode" release_after \
                    'rank 1 waits in MPI_Reduce for more than 1 s' ahead \
                    mpirun_stagger "$ranks" "$PROGRAMS/span_runahead" 1000 "$WORK/released"
                check "a leaf far ahead is stopped and goes on when its parent comes $of" all \
                    'is 0 "$status"' 'has_lines ahead.out finished $ranks'
                check "it comes no further than its credits allow $of" \
                    within 1 "$slots" "$(ahead ahead.out)"
                check "the wait is reported, with the rank that has not come $of" has ahead.err \
                    'rank 1 waits in MPI_Reduce for more than 1 s: .*rank 0 was last in'
            done
        done
    done
done
