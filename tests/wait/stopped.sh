#!/bin/bash
# A rank is stopped while the others wait for it: they sleep, and receive correct data. The full
# check stops it for a minute.
. "$(dirname "$0")/../lib/sh.sh"
RANKS=4
calls='recv waitall alltoall barrier allreduce iallreduce reduce'
export STAGGER_TRACE=off

# On at most half as many processors as ranks.
LAUNCH=$MPIEXEC
MPIEXEC=$WORK/on_two
printf '#!/bin/sh\nexec taskset -c %s "%s" "$@"\n' \
    "$("$PYTHON" -c 'import os; print(*sorted(os.sched_getaffinity(0))[:2], sep=",")')" "$LAUNCH" >"$MPIEXEC"
chmod +x "$MPIEXEC"

# stops NAME SECONDS CALL...: runs it; the others' processor use is in NAME.rest and $rested
stops() {
    local name=$1 seconds=$2 runner
    shift 2
    mkdir "$name"
    { observe "$name" $RANKS "$PROGRAMS/stopped" "$WORK/$name" "$@" && exit "$status"; } &
    runner=$!
    "$PYTHON" "$ROOT/tests/wait/stopped.py" "$WORK/$name" $RANKS "$seconds" "$@" >"$name.rest" 2>&1
    rested=$?
    wait "$runner"
    status=$?
    cat "$name.rest"
}

# went_well NAME CALL...: and the library printed only true lines: the waiting ranks after half a
# minute, and that the last rank is missing, and BUSY
went_well() {
    local name=$1
    shift
    is 0 "$rested" && is 0 "$status" && same <(printf "%s\n" "$@") "$name.out" || return
    grep -Ev "$BUSY|^stagger: (waiting for more than 30 s in |  rank [0-2]: MPI_|  rank 3: in no collective)" \
        "$name.err" >"$name.more"
    empty "$name.more"
}

# each NAME SENTENCE: for a moment, and in the full check for a minute
each() {
    # shellcheck disable=SC2086 # words
    stops "$1" 0.1 $calls
    # shellcheck disable=SC2086
    check "while a rank is stopped $2, the others rest, and the job ends undisturbed" went_well "$1" $calls
    in_full || return 0
    stops "$1-long" 60 recv allreduce
    check "... the job ends undisturbed after a stop of one minute" went_well "$1-long" recv allreduce
    [ "$1" != srm ] || check "... one line names the stopped rank" \
        has_lines "$1-long.err" '^stagger:   rank 3: in no collective of this communicator$' 1
}

if [ "$(STAGGER_TRACE=off "$STAGGER" info | grep -c '^  waiting: hook')" = 1 ]; then
    STAGGER_RULES='*=mpich' each hook "with the hook"
else
    skip "while a rank is stopped with the hook, the others rest" "no hook serves for this MPICH"
fi
STAGGER_RULES='*=mpich' STAGGER_WAIT_HOOK=none each none "without a hook"
STAGGER_RULES='*=srm' each srm "in the library's collectives"
# Time is one reason to wake; retransmissions that the stopped rank has not answered are not.
STAGGER_RANKS_PER_NODE=2 STAGGER_RULES='*=bcs(slice=2000)' each bcs "in a slice of time"
STAGGER_RANKS_PER_NODE=1 STAGGER_PROGRESS=thread STAGGER_RULES='*=bcs(slice=2000,strobe=always)' \
    each always "in slices that always come"
