#!/bin/bash
# timeout: 3600
# The mixed run between nodes over many seeds, ranks, ranks per node, slots and threads, for
# SOAK_SECONDS (600).
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"

export STAGGER_TRACE=stats
# Enough for all communicators: with less, MPICH runs some calls, and crashes in some of them
# (soak.c, first_call).
export STAGGER_MEMORY=4g
seed=1000
SECONDS=0
while [ "$SECONDS" -lt "${SOAK_SECONDS:-600}" ]; do
    for mode in $MODES; do
        rules=${SPAN_RULES[seed % ${#SPAN_RULES[@]}]}
        ranks=$((2 + seed % 5)) each=$((1 + seed / 7 % 3)) threads=$((1 + seed / 11 % 3))
        slots=$((seed % 4 == 0 ? 2 : 8))
        [ "$each" -lt "$ranks" ] || each=1
        STAGGER_SLOTS=$slots run_across soak "$mode" "$each" "$rules" "$ranks" "$PROGRAMS/soak" \
            5000 "$seed" "$threads" $((seed % 3 * 15))
        check "results stay right with seed $seed ($rules; $ranks ranks, $each a node, $mode, \
$slots slots, $threads threads)" gave soak
        seed=$((seed + 1))
    done
done
