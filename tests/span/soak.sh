#!/bin/bash
# timeout: 600
# Long mixed runs of collectives between nodes, on overlapping communicators, with delays: nothing
# is lost, mixed up or overwritten, by any protocol, with one rank a node and with several.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/engine/engine.bash"
. "$ROOT/tests/span/span.bash"

# soak MODE RANKS-PER-NODE RULES RANKS COLLECTIVES SEED THREADS
soak() {
    local of="($3; $4 ranks, $2 a node, $1, ${STAGGER_SLOTS:-8} slots, seed $6, $7 threads)"
    PROGRAM_SECONDS=240 run_across soak "$1" "$2" "$3" "$4" "$PROGRAMS/soak" "$5" "$6" "$7"
    check "results stay right $of" gave soak
}

export STAGGER_TRACE=stats
seed=1
for mode in $MODES; do
    for rules in "${SPAN_RULES[@]}"; do
        soak "$mode" 1 "$rules" 2 3000 $((seed++)) 1
        STAGGER_SLOTS=2 soak "$mode" 1 "$rules" 3 1000 $((seed++)) 1
        soak "$mode" 2 "$rules" 4 600 $((seed++)) 1
        STAGGER_SLOTS=2 soak "$mode" 2 "$rules" 3 1000 $((seed++)) 1
        soak "$mode" 3 "$rules" 5 300 $((seed++)) 1
    done
    soak "$mode" 1 "${SPAN_RULES[0]}" 3 1500 $((seed++)) 3
    soak "$mode" 2 "${SPAN_RULES[3]}" 3 1500 $((seed++)) 2
done

unset STAGGER_TRACE
for mode in $MODES; do
    run_across soak "$mode" 1 "${SPAN_RULES[0]}" 3 "$PROGRAMS/soak" 1000 "$seed" 1
    check "the archive of such a run has the calls that were made ($mode)" all 'gave soak' \
        'archive_agrees soak.trace soak.out'
done
