# Jobs that are killed: how they end and what they leave behind. Sourced after sh.sh.
# shellcheck shell=bash

# MPICH and UCX leave segments of their own when a rank is killed, and other tests run meanwhile:
# the library's would have its name, as its anonymous segments have.
shared_memory() { find /dev/shm -mindepth 1 -maxdepth 1 -name '*stagger*' ! -name 'stagger-fuzz-*' | sort; }
shared_memory >shared_before
no_shared_memory() { is '' "$(comm -13 shared_before <(shared_memory))"; }

# Finds processes of this test's runs. The shared segments have no names: they live as long as
# these.
echo "$WORK" >word # in a file, so that grep does not find itself
left_running() { grep -lzsxFf word /proc/[0-9]*/cmdline; }
all_gone() {
    for _ in {1..3000}; do # what is killed is gone a little later
        [ -z "$(left_running)" ] && return
        sleep 0.1
    done
    left_running
    return 1
}

# tally_death NAME SEED EVERY: counts the run NAME, one of whose ranks was killed, in $bad if it did
# not end by itself, in $forgiven if the launcher returned 0, and for one seed in EVERY in
# $recovered if its logs make a sound archive.
bad=0
forgiven=0
recovered=0
tally_death() {
    # shellcheck disable=SC2154 # what ran it sets status
    if [ "$status" -eq 0 ]; then
        forgiven=$((forgiven + 1))
    elif [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then # hangs
        bad=$((bad + 1))
        echo "# seed $2: status $status"
        sed 's/^/# /' "$1.err"
    fi
    if [ -e "$1.trace/rank-000000.log" ] && [ $(($2 % $3)) -eq 0 ]; then
        "$STAGGER" recover "$1.trace" >recover.out 2>&1 && archive_sound "$1.trace" >sound.out &&
            recovered=$((recovered + 1))
    fi
}

# ends_and_fails: all counted runs did. MPICH 4.2's launcher sometimes returns 0 for such jobs: if
# it does with the library, it must also do so without.
ends_and_fails() {
    local seed
    is 0 "$bad" || return
    [ "$forgiven" -gt 0 ] || return 0
    for seed in {1..200}; do
        timeout --kill-after=5 "$PROGRAM_SECONDS" "$MPIEXEC" -n $((2 + seed % 3)) "$PROGRAMS/dying" "$seed" "$WORK" \
            >plain.out 2>&1 </dev/null && return
    done
    echo "of $forgiven jobs the launcher said 0, and of none in 200 without the library"
    return 1
}
