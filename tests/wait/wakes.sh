#!/bin/bash
# More than 8 ranks share a processor, each in a session of its own: a rank that waits inside MPICH
# sleeps until a sender wakes it. Results equal MPICH's, and when a rank is killed, the others end.
. "$(dirname "$0")/../lib/sh.sh"
export TMPDIR=$WORK STAGGER_TRACE=off
ranks=10

first_processor=$("$PYTHON" -c 'import os; print(min(os.sched_getaffinity(0)))')
printf '#!/bin/sh\nexec taskset -c %s "%s" "$@"\n' "$first_processor" "$MPIEXEC" >on_one
chmod +x on_one

# gathered NAME: the lines of all ranks
gathered() {
    local rank
    for ((rank = 0; rank < ranks; rank++)); do
        cat "$1.$rank"
    done >"$1.all"
}
compare stock "$ranks" "$PROGRAMS/all_calls" stock
gathered stock
check "every call runs on $ranks ranks without the library" is 0 "$plain_status"
for wait in auto yield; do
    STAGGER_WAIT=$wait MPIEXEC=$WORK/on_one observe "$wait" "$ranks" "$PROGRAMS/all_calls" "$wait"
    gathered "$wait"
    check "... and has the same results under the library on one processor, with STAGGER_WAIT=$wait" \
        all 'is 0 "$status"' 'empty "$wait.err"' 'same stock.all "$wait.all"'
done
MPIEXEC=$WORK/on_one observe threads "$ranks" "$PROGRAMS/all_calls" threads threads
check "... and with MPI_THREAD_MULTIPLE" all 'is 0 "$status"' 'empty threads.err'

seeds() { if in_full; then echo {1..20}; else echo 1 2; fi; }
for seed in $(seeds); do
    MPIEXEC=$WORK/on_one observe many "$ranks" "$PROGRAMS/many_waits" "$seed" 40
    check "large, synchronous and many small messages and windows are as the sender says (seed $seed)" \
        all 'is 0 "$status"' 'empty many.err'
done

STAGGER_TRACE=stats MPIEXEC=$WORK/on_one observe counted "$ranks" "$PROGRAMS/many_waits" 1 40
check "the report counts sleeps" all 'is 0 "$status"' \
    'report_json counted.trace counted.json' 'is True "$(json counted.json "d[\"waiting\"][\"sleeps\"] > 0")"'

# shellcheck source=tests/intranode/dying.bash
. "$ROOT/tests/intranode/dying.bash"
MPIEXEC=$WORK/on_one observe killed "$ranks" "$PROGRAMS/many_waits" 1 20 kill
check "when a rank is killed, those that wait for it are gone, too" all '[ "$status" -ne 0 ]' all_gone no_shared_memory
