#!/bin/bash
# long
# Results of reductions between nodes, bit for bit: over a pairwise cover against a sequential
# reference of each protocol's documented association, and against MPICH where the association
# cannot matter. MPICH runs what the protocols do not take.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"

whole=
# RANKS RANKS-PER-NODE THIRD MODES: the cover as a whole with a rank a node, a third of it with two and
# with three; results_full.sh covers all numbers of ranks
all_modes=$MODES
for case in "4 1 0 $MODES" '3 2 0 poll' '5 3 2 signal'; do
    read -r ranks each third MODES <<<"$case"
    in_full && MODES=$all_modes third=0
    . "$ROOT/tests/internode/results.bash"
done
MODES=$all_modes

# ---- calls that MPICH runs, and errors --------------------------------------------------------
rules='*=adaptive;*=bypass'
for ranks in 2 3; do
    in_turn $MODES
    for mode in "${turn[@]}"; do
        run_across fallbacks "$mode" 1 "$rules" "$ranks" "$PROGRAMS/fallbacks"
        check "calls left to MPICH give right results ($ranks ranks, $mode)" all \
            'gave fallbacks' 'archive_agrees fallbacks.trace fallbacks.out'
        calls_of fallbacks
        left_out fallbacks
        for function in $(had fallbacks derived_type no_elements logical_real); do
            check "MPICH ran ${function//_/ } ($ranks ranks, $mode)" \
                is "mpich" "$(algorithms_of fallbacks "$function")"
        done
        check "the protocols ran for large counts ($ranks ranks, $mode)" \
            is "adaptive bypass" "$(algorithms_of fallbacks large_count)"
        check "a protocol ran for an operation that is freed before the end ($ranks ranks, $mode)" \
            is bypass "$(algorithms_of fallbacks freed_operation)"

        compare errors "$ranks" "$PROGRAMS/errors"
        run_across errors "$mode" 1 "$rules" "$ranks" "$PROGRAMS/errors"
        check "wrong arguments reach the same error handlers as in MPICH ($ranks, $mode)" \
            all 'is 0 "$status"' 'same <(sort errors.plain.out) <(sort errors.out)'
    done
done
