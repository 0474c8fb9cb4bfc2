#!/bin/bash
# Ranks between nodes that die, abort or do not arrive: the job ends and leaves nothing behind, or
# the wait is reported.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/intranode/dying.bash"
. "$ROOT/tests/internode/internode.bash"

runs=12 # of each mode
for mode in $(modes signal thread poll); do
    bad=0
    forgiven=0
    recovered=0
    for ((seed = 1; seed <= runs; seed++)); do
        STAGGER_QUIET=1 run_across dying "$mode" $((1 + seed % 2)) \
            "${SPAN_RULES[seed % ${#SPAN_RULES[@]}]}" $((3 + seed % 2)) \
            "$PROGRAMS/dying" "$seed" "$WORK"
        tally_death dying "$seed" 4
    done
    check "a job with a killed rank ends and fails, $runs times ($mode)" ends_and_fails
    check "its logs make a sound archive ($mode)" within 1 "$runs" "$recovered"

    for way in abort kill crash; do
        run_across ending "$mode" 1 "${SPAN_RULES[0]}" 3 "$PROGRAMS/ending" "$way" 50
        check "a rank that ends by $way ends the others ($mode)" within 1 123 "$status"
    done

    STAGGER_STALL_S=1 STAGGER_RULES='*=adaptive;*=bypass' STAGGER_RANKS_PER_NODE=1 \
        STAGGER_PROGRESS=$mode release_after 'waited in MPI_Allreduce for more than 1 s' late \
        mpirun_stagger 3 "$PROGRAMS/disagree" late "$WORK/released"
    check "a wait for a rank that is absent is reported once ($mode)" \
        has_lines late.err '^stagger: .*has waited in MPI_Allreduce for more than 1 s' 1
    check "the report names the absent rank ($mode)" \
        has late.err 'more than 1 s, .*: 1 of 3 ranks have not arrived; rank 2 is outside MPI, after MPI_Init, for [0-9]+ s$'
    check "the program goes on when the rank arrives ($mode)" all 'is 0 "$status"' \
        'has late.out finished' 'archive_sound late.trace'
done
check "none of its processes is left" all_gone
check "nothing of the library is left in /dev/shm" no_shared_memory
