#!/bin/bash
# Communicators between nodes: hundreds at once, many in succession, freed and finalized with
# reductions outstanding.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"

for mode in $(modes thread signal poll); do
    in_turn "${SPAN_RULES[0]}" "${SPAN_RULES[2]}"
    for rules in "${turn[@]}"; do
        STAGGER_TRACE=stats STAGGER_MEMORY=512m run_across many "$mode" 1 "$rules" 2 "$PROGRAMS/lifetimes" 200 100
        check "200 communicators at once and 100 one after another give right results ($rules; $mode)" gave many
    done
    in_turn "${SPAN_RULES[0]}" "${SPAN_RULES[2]}"
    for rules in "${turn[@]}"; do
        run_across many "$mode" 2 "$rules" 3 "$PROGRAMS/lifetimes" 40 40
        check "fewer communicators of more ranks work, too, and the archive has their calls ($rules; $mode)" all \
            'gave many' 'archive_agrees many.trace many.out'
    done
    STAGGER_SLOTS=2 run_across many "$mode" 1 "${SPAN_RULES[4]}" 4 "$PROGRAMS/lifetimes" 10 10
    check "two slots are enough ($mode)" gave many

    # Node 0 has the children 1 and 2, and 2 has 3.
    for order in '3 2 1 0' '2 1 3 0' '1 2 3 0' '2 3 1 0'; do
        for rules in '*=bypass' '*=tree'; do
            # 2's call waits for 3
            [ "$rules" = '*=tree' ] && [ "${order%% *}" = 2 ] && continue
            [ "$rules $mode" = '*=bypass poll' ] && [[ $order = *2*3* ]] && continue
            # shellcheck disable=SC2086 # words
            run_across last "$mode" 1 "$rules" 4 "$PROGRAMS/internode_finalize" 7 $order
            check "ranks finalize with reduces outstanding, in order $order ($rules; $mode)" all \
                'gave last' 'has_lines last.out finished 4'
        done
    done
    check "... the archive is sound ($mode)" archive_sound last.trace

    run_across pairs "$mode" 2 "${SPAN_RULES[0]}" 4 "$PROGRAMS/virtual_nodes"
    check "results are right on communicators within nodes and across ($mode)" all 'gave pairs' \
        'archive_agrees pairs.trace pairs.out'
    calls_of pairs
    check "the protocols run the communicators across nodes ($mode)" \
        is "adaptive bypass" "$(algorithms_of pairs across)"
done
