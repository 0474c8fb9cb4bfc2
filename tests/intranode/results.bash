# Results at $ranks ranks with each algorithm; sourced by results.sh and results_more_full.sh.
# shellcheck shell=bash
# shellcheck disable=SC2154 # the script that sources it sets ranks, observe sets status

in_turn srm handoff # test_results.c has all pairs of algorithm and number of ranks
for algorithm in "${turn[@]}"; do
    run_by results "$algorithm" "$ranks" "$PROGRAMS/results"
    if [ "$status" -eq 77 ]; then
        skip "results at $ranks ranks by $algorithm" "not MPICH 4.0.2"
        continue
    fi
    check "$algorithm gives the reference's bits at $ranks ranks" gave results
    check "every legal pair of type and operation occurs, at $ranks ranks by $algorithm" \
        has results.out '^368 pairs of type'
    calls_of results
    check "$algorithm ran every call with data at $ranks ranks" ran_by results "$algorithm" call
    check "MPICH ran every call without data" ran_by results mpich call_empty
    check "the archive has exactly the calls that were made, at $ranks ranks by $algorithm" \
        archive_agrees results.trace results.out

    run_by samples "$algorithm" "$ranks" "$PROGRAMS/samples"
    check "$algorithm gives MPICH's own bits at $ranks ranks, in samples" gave samples
done
