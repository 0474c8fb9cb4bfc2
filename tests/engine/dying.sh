#!/bin/bash
# A rank killed at any moment, again and again: the job ends, with a status of the launcher's, and
# nothing of it is left.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/engine/engine.bash"

runs=50
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
export STAGGER_QUIET=1 PROGRAM_SECONDS=60
bad=0
recovered=0
for ((seed = 1; seed <= runs; seed++)); do
    algorithms=(srm handoff)
    run_by dying "${algorithms[seed % 2]}" $((2 + seed % 3)) "$PROGRAMS/dying" "$seed" "$WORK"
    if [ "$status" -eq 0 ] || [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then # 124, 137: hangs
        bad=$((bad + 1))
        echo "# seed $seed: status $status"
        sed 's/^/# /' dying.err
    fi
    if [ -e dying.trace/rank-000000.log ] && [ $((seed % 10)) -eq 0 ]; then
        "$STAGGER" recover dying.trace >recover.out 2>&1 && archive_sound dying.trace >sound.out &&
            recovered=$((recovered + 1))
    fi
done
check "a job one of whose ranks is killed ends and fails, $runs times" is 0 "$bad"
check "its logs make a sound archive" within 1 "$runs" "$recovered"
check "no process of it is left" all_gone
check "nothing of ours is left in /dev/shm" is "$before" "$(shared_memory)"
