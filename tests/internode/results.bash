# Results of the cover at $ranks ranks and $each ranks a node; sourced by results.sh and
# results_full.sh, which set $whole to "full" for the whole product. Each mode runs a third of the
# rows; the first mode runs third $third (0).
# shellcheck shell=bash
# shellcheck disable=SC2154 # the script that sources it sets ranks, each and whole

# Prints the calls that each algorithm should have run, from the program's output.
expected_calls() {
    awk '$1 == "ran" { count[$2] += $3 } END { for (a in count) if (count[a]) print a, count[a] }' \
        "$1" | sort
}
recorded_calls() { awk '{ count[$5]++ } END { for (a in count) print a, count[a] }' "$1" | sort; }

# Allows a communicator for each protocol.
export STAGGER_MEMORY=4g
export STAGGER_CAUSES=off # for smaller archives
number=${third:-0}
for mode in $MODES; do
    rows=$((number % 3))
    number=$((number + 1))
    of="($ranks ranks, $each a node, $mode)"
    run_across results "$mode" "$each" "$("$PROGRAMS/internode_results" rules)" "$ranks" \
        "$PROGRAMS/internode_results" "$each" "$rows" $whole
    if [ "$status" -eq 77 ]; then
        skip "results between nodes $of" "not MPICH 4.0.2"
        continue
    fi
    check "every protocol gives the bits of its documented association $of" gave results
    check "every legal pair of type and operation occurs $of" \
        has results.out '^3(58|68) pairs of type and operation, [1-9][0-9]* results'
    [ "$whole" = full ] && continue # the archive keeps only so many
    calls_of results
    check "each call ran by the requested protocol $of" \
        same <(expected_calls results.out) <(recorded_calls results.calls)
done
