#!/bin/bash
# Communicators made in every way, hundreds at once, thousands in succession, virtual nodes; wrong
# arguments reach their error handlers; MPICH runs what the library's algorithms do not take.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"

for algorithm in srm handoff; do
    # MPICH has 2048 numbers for communicators.
    in_turn '300 1800' '100 100'
    # shellcheck disable=SC2086 # two words
    STAGGER_TRACE=stats run_by many "$algorithm" 2 "$PROGRAMS/lifetimes" ${turn[0]}
    check "${turn[0]% *} communicators at once and ${turn[0]#* } one after another give right results ($algorithm)" \
        gave many
    run_by many "$algorithm" 3 "$PROGRAMS/lifetimes" 40 40
    check "fewer communicators with more ranks work, too, and the archive has their calls ($algorithm)" all \
        'gave many' 'archive_agrees many.trace many.out'

    # ---- virtual nodes ---------------------------------------------------------------------------
    # One rule alone gives that algorithm both cases; with a rule for calls within a node, the
    # built-in rules choose between nodes.
    STAGGER_RANKS_PER_NODE=1 run_by alone "$algorithm" 4 "$PROGRAMS/virtual_nodes"
    check "with one rank a node results are right ($algorithm)" all 'gave alone' \
        'archive_agrees alone.trace alone.out'
    calls_of alone
    check "the protocols between nodes run all calls ($algorithm)" all \
        "ran_by alone $algorithm within" "ran_by alone $algorithm across"
    STAGGER_RANKS_PER_NODE=2 run_by pairs "$algorithm(where=inside)" 4 "$PROGRAMS/virtual_nodes"
    check "with two ranks a node results are right ($algorithm)" all 'gave pairs' \
        'archive_agrees pairs.trace pairs.out'
    calls_of pairs
    check "the rule runs calls within a node, the built-in rules run the others ($algorithm)" all \
        "ran_by pairs $algorithm within" 'is "adaptive bypass" "$(algorithms_of pairs across)"'

    in_turn 2 3
    for ranks in "${turn[@]}"; do
        run_by alternating "$algorithm" "$ranks" "$PROGRAMS/alternating"
        check "a call shortly before the end has its own results ($algorithm, $ranks ranks)" gave alternating
    done

    # ---- fallbacks -------------------------------------------------------------------------------
    in_turn 3 2
    for ranks in "${turn[@]}"; do
        run_by fallbacks "$algorithm" "$ranks" "$PROGRAMS/fallbacks"
        check "calls left to MPICH give right results ($algorithm, $ranks ranks)" all \
            'gave fallbacks' 'archive_agrees fallbacks.trace fallbacks.out'
        calls_of fallbacks
        left_out fallbacks
        for function in $(had fallbacks derived_type fortran_real no_elements logical_real); do
            check "MPICH ran ${function//_/ } ($algorithm, $ranks ranks)" \
                ran_by fallbacks mpich "$function"
        done
        for function in freed_operation large_count; do
            check "$algorithm ran ${function//_/ } ($ranks ranks)" \
                ran_by fallbacks "$algorithm" "$function"
        done
    done

    # ---- errors ----------------------------------------------------------------------------------
    for ranks in "${turn[@]}"; do
        compare errors "$ranks" "$PROGRAMS/errors"
        run_by errors "$algorithm" "$ranks" "$PROGRAMS/errors"
        sentence="wrong arguments reach the same error handlers as in MPICH ($algorithm, $ranks)"
        fails_alone "$sentence" "$ranks" "$PROGRAMS/errors" ||
            check "$sentence" all 'is 0 "$status"' 'same <(sort errors.plain.out) <(sort errors.out)'

        PRELOAD=$LIB:$PROGRAMS/libfailing.so run_by failing "$algorithm" "$ranks" "$PROGRAMS/failing"
        check "a user's operation that fails is an error of the call ($algorithm, $ranks)" \
            gave failing
    done
done
