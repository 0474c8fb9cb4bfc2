#!/bin/bash
# Long mixed runs of collectives between nodes, blocking and not, on overlapping communicators, with
# delays: no protocol loses, mixes up or overwrites anything, with one rank per node and with
# several.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"

# soak MODE RANKS-PER-NODE RULES RANKS COLLECTIVES SEED THREADS
soak() {
    local of="($3; $4 ranks, $2 a node, $1, ${STAGGER_SLOTS:-8} slots, seed $6, $7 threads)"
    run_across soak "$1" "$2" "$3" "$4" "$PROGRAMS/soak" "$5" "$6" "$7" 15
    check "results stay right $of" gave soak
}

export STAGGER_TRACE=stats
# RANKS RANKS-PER-NODE SLOTS COLLECTIVES: each protocol meets some of these in one mode and others in
# the next.
cases=('2 1 8 2600' '3 1 2 1000' '4 2 8 500' '3 2 2 1000' '5 3 8 260')
seed=1
next=0
for mode in $(modes thread signal poll); do
    for rules in "${SPAN_RULES[@]}"; do
        for _ in $(modes 1 2 3); do
            read -r ranks each slots collectives <<<"${cases[next % ${#cases[@]}]}"
            next=$((next + 1))
            STAGGER_SLOTS=$slots soak "$mode" "$each" "$rules" "$ranks" "$collectives" \
                $((seed++)) 1
        done
    done
    soak "$mode" 1 "${SPAN_RULES[0]}" 3 500 $((seed++)) 3
    soak "$mode" 2 "${SPAN_RULES[3]}" 3 500 $((seed++)) 2
done

unset STAGGER_TRACE
for mode in $(modes signal thread poll); do
    run_across soak "$mode" 1 "${SPAN_RULES[0]}" 3 "$PROGRAMS/soak" 1000 "$seed" 1 15
    check "the archive of such a run has exactly the calls that were made ($mode)" all 'gave soak' \
        'archive_agrees soak.trace soak.out'
done
