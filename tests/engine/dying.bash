# Jobs that are killed: how they end and what is left of them. Sourced after sh.sh.
# shellcheck shell=bash

# MPICH and UCX leave segments of their own when a rank is killed.
shared_memory() { find /dev/shm -mindepth 1 ! -name 'ucx_*' ! -name 'mpich_*' | sort; }
shared_memory_before=$(shared_memory)
no_shared_memory() { is "$shared_memory_before" "$(shared_memory)"; }

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

# tally_death NAME SEED EVERY: of the run NAME, one of whose ranks was killed. Counts it in $bad when
# it did not end by itself and fail, and of one seed in EVERY in $recovered when its logs make a sound
# archive.
bad=0
recovered=0
tally_death() {
    # shellcheck disable=SC2154 # what ran it sets status
    if [ "$status" -eq 0 ] || [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then # 124, 137: hangs
        bad=$((bad + 1))
        echo "# seed $2: status $status"
        sed 's/^/# /' "$1.err"
    fi
    if [ -e "$1.trace/rank-000000.log" ] && [ $(($2 % $3)) -eq 0 ]; then
        "$STAGGER" recover "$1.trace" >recover.out 2>&1 && archive_sound "$1.trace" >sound.out &&
            recovered=$((recovered + 1))
    fi
}
