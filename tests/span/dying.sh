#!/bin/bash
# timeout: 600
# Ranks that die, abort, disagree or do not come, between nodes: the job ends and nothing of it is
# left, or the wait is reported.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/engine/engine.bash"
. "$ROOT/tests/span/span.bash"

runs=12 # of each mode
# MPICH and UCX leave segments of their own when a rank is killed.
shared_memory() { find /dev/shm -mindepth 1 ! -name 'ucx_*' ! -name 'mpich_*' | sort; }
# Processes of our runs. The shared segments have no names: they live as long as these.
echo "$WORK" >word # in a file, so that grep does not find itself
left_running() { grep -lzsxFf word /proc/[0-9]*/cmdline; }
all_gone() {
    for _ in {1..100}; do # what is killed is gone a little later
        [ -z "$(left_running)" ] && return
        sleep 0.1
    done
    left_running
    return 1
}

before=$(shared_memory)
export PROGRAM_SECONDS=60
for mode in $MODES; do
    bad=0
    recovered=0
    for ((seed = 1; seed <= runs; seed++)); do
        STAGGER_QUIET=1 run_across dying "$mode" $((1 + seed % 2)) \
            "${SPAN_RULES[seed % ${#SPAN_RULES[@]}]}" $((3 + seed % 2)) \
            "$PROGRAMS/dying" "$seed" "$WORK"
        if [ "$status" -eq 0 ] || [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then # hangs
            bad=$((bad + 1))
            echo "# seed $seed: status $status"
            sed 's/^/# /' dying.err
        fi
        if [ -e dying.trace/rank-000000.log ] && [ $((seed % 4)) -eq 0 ]; then
            "$STAGGER" recover dying.trace >recover.out 2>&1 &&
                archive_sound dying.trace >sound.out && recovered=$((recovered + 1))
        fi
    done
    check "a job one of whose ranks is killed ends and fails, $runs times ($mode)" is 0 "$bad"
    check "its logs make a sound archive ($mode)" within 1 "$runs" "$recovered"

    for way in abort kill crash; do
        run_across ending "$mode" 1 "${SPAN_RULES[0]}" 3 "$PROGRAMS/ending" "$way" 50
        check "a rank that ends by $way takes the others with it ($mode)" within 1 123 "$status"
    done

    for way in operation bytes; do
        # The launcher may lose what a job wrote right before it ended.
        for _ in 1 2 3; do
            run_across disagree "$mode" 2 "${SPAN_RULES[0]}" 3 "$PROGRAMS/disagree" "$way"
            grep -q '^stagger: ranks of one' disagree.err && break
        done
        check "ranks of a node that differ in $way are named and end the job ($mode)" all \
            'within 1 123 "$status"' 'lacks disagree.out finished' \
            'has disagree.err "disagree on collective .*; rank 0 is in .*; rank 1 is in "'
    done

    STAGGER_STALL_S=1 STAGGER_RULES='*=adaptive;*=bypass' STAGGER_RANKS_PER_NODE=1 \
        in_mode "$mode" release_after 'more than 1 s' late \
        mpirun_stagger 3 "$PROGRAMS/disagree" late "$WORK/released"
    check "a wait for a rank that does not come is reported once ($mode)" \
        has_lines late.err '^stagger: .*waits in MPI_Allreduce for more than 1 s' 1
    check "with the rank that has not come ($mode)" \
        has late.err 'more than 1 s: .*ranks have not come.*rank 2 '
    check "and when it comes the program goes on ($mode)" all 'is 0 "$status"' \
        'has late.out finished' 'archive_sound late.trace'
done
check "no process of it is left" all_gone
check "nothing of ours is left in /dev/shm" is "$before" "$(shared_memory)"
