#!/bin/bash
# Every blocking call gives MPICH's results, statuses, errors and error handler calls, whatever rank
# waits, and in whatever way.
. "$(dirname "$0")/../lib/sh.sh"
export TMPDIR=$WORK STAGGER_TRACE=off

# gathered NAME RANKS: the lines of all ranks
gathered() {
    local rank
    for ((rank = 0; rank < $2; rank++)); do
        cat "$1.$rank"
    done >"$1.all"
}

# as_in_mpich RANKS HOOK WAIT [threads]: the same lines as without the library
as_in_mpich() {
    local ranks=$1 hook=$2 wait=$3 name="calls-$1-$2-$3${4:+-$4}" stock="stock-$1${4:+-$4}"
    shift 3
    [ -e "$stock.all" ] || {
        compare "$stock" "$ranks" "$PROGRAMS/all_calls" "$stock" "$@"
        gathered "$stock" "$ranks"
        check "every call runs on $ranks ranks${1:+ with $1} without the library" is 0 "$plain_status"
    }
    STAGGER_WAIT_HOOK=$hook STAGGER_WAIT=$wait observe "$name" "$ranks" "$PROGRAMS/all_calls" "$name" "$@"
    gathered "$name" "$ranks"
    check "... every call has the same results under the library when ranks wait by $wait, with hook $hook" \
        all 'is 0 "$status"' 'empty "$name.err"' 'same "$stock.all" "$name.all"'
}

# each RANKS...: checks every way of waiting; with more than two ranks in the short check one of them
each() {
    local ranks way
    for ranks in "$@"; do
        turn=('none auto' 'auto yield' 'none yield' 'none sleep')
        [ "$ranks" -eq 2 ] || in_turn "${turn[@]}"
        for way in "${turn[@]}"; do
            # shellcheck disable=SC2086 # two words
            as_in_mpich "$ranks" $way
        done
        rm -rf stock-* calls-*
    done
}

# gives_way HOOK WAIT RANKS
gives_way() {
    STAGGER_WAIT_HOOK=$1 STAGGER_WAIT=$2 observe "way-$1-$2" "$3" "$PROGRAMS/gives_way" "way-$1-$2-$3"
}

for hook in auto none; do
    for wait in yield sleep; do
        gives_way "$hook" "$wait" 3
        check "a rank that waits by $wait yields its processor in every call, with hook $hook" \
            all 'is 0 "$status"' 'empty "way-$hook-$wait.err"'
    done
done
# Four ranks have one processor.
mask=$(taskset -p $$ | sed 's/.*: //')
taskset -pc "$(taskset -pc $$ | sed 's/.*: *\([0-9]*\).*/\1/')" $$ >/dev/null
gives_way none auto 4
taskset -p "$mask" $$ >/dev/null
check "with auto it yields in every call when processors are scarce" all 'is 0 "$status"' 'empty way-none-auto.err'

if [ "$(STAGGER_TRACE=off "$STAGGER" info | grep -c '^  waiting: hook ucx')" = 1 ]; then
    mask=$(taskset -cp $$ | sed 's/.*: //')
    taskset -pc "$("$PYTHON" -c 'import os; print(*sorted(os.sched_getaffinity(0))[:2], sep=",")')" $$ >/dev/null
    for wait in auto sleep; do
        STAGGER_WAIT=$wait observe "session-$wait" 4 "$PROGRAMS/gives_way" "session-$wait" session
        check "in a session without MPI_Init, a rank that waits by $wait yields in every call and never sleeps" \
            all 'is 0 "$status"' 'empty "session-$wait.err"' 'absent "session-$wait.trace"'
    done
    taskset -pc "$mask" $$ >/dev/null
else
    skip "in a session without MPI_Init, a waiting rank yields" "no hook serves for this MPICH"
fi

each 2 3 4
as_in_mpich 2 none yield threads
as_in_mpich 2 none spin threads

if in_full; then
    each 5 6 7 8 9 64
fi
