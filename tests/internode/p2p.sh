#!/bin/bash
# long
# Messages in slices: programs receive the same as without the library; covers which messages go in
# slices, which do not, and the line printed in that case.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/intranode/dying.bash"
. "$ROOT/tests/internode/internode.bash"
. "$ROOT/tests/internode/p2p.bash"

# ---- same results as without ---------------------------------------------------------------------

for each in 1 2; do
    check "sizes, tags, wildcards, types, errors, probes and requests work as without the library ($each a node)" \
        as_without carried "$CARRIED" 3 "$each" all
    check "... messages go in slices" went_in_slices carried
done
check "... the archive is sound" archive_sound carried.trace
check "... three ranks a node, too" as_without three "$CARRIED" 4 3 tags anyone
check "a program ends though nobody receives one of its messages" \
    as_without unmatched "$CARRIED" 3 1 unmatched

# ---- on communicators made by programs -----------------------------------------------------------

# on_its_own COMMUNICATOR CASE...: some of all cases
on_its_own() {
    local on=$1
    shift
    in_full && set -- all freed
    check "messages on a new communicator work as without the library ($on)" \
        as_without "on-$on" "$CARRIED" 4 1 on "$on" "$@"
    check "... messages go in slices ($on)" went_in_slices "on-$on"
}
# halves: two at a time; created: the last rank has no communicator, and waits in MPI_Finalize.
on_its_own halves sizes tags anyone truncated wrong probed nobody itself completed beside freed
check "... the archive is sound" archive_sound on-halves.trace
on_its_own dup tags many freed
on_its_own created anyone probed beside freed
if in_full; then
    on_its_own reversed
    on_its_own cart
fi
check "some ranks may free a communicator long before others, or with a message that nobody receives" \
    as_without early "$CARRIED" 3 1 on reversed freed_early dropped
check "a rule for MPI_COMM_WORLD only leaves the others' messages to MPICH" \
    as_without alone "${CARRIED/p2p/p2p~MPI_COMM_WORLD}" 3 1 on reversed freed_early dropped
check "... these messages have no slices" not_in_slices alone
check "a rule for other numbers of ranks leaves MPI_COMM_WORLD's to MPICH" all \
    'as_without small "${CARRIED/p2p/p2p~2}" 4 1 on halves tags' 'went_in_slices small'

# ---- long waits ------------------------------------------------------------------------------------

for on in $(modes reversed dup); do
    STAGGER_STALL_S=1 STAGGER_RULES=$CARRIED STAGGER_RANKS_PER_NODE=1 STAGGER_PROGRESS=thread \
        release_after 'has not sent it a message' stalled mpirun_stagger 2 "$PROGRAMS/sliced" on "$on" stalled "$WORK/released"
    check "a long wait for a message is reported once ($on)" all 'is 0 "$status"' \
        'has_lines stalled.err "^stagger: rank 0 has waited for more than 1 s: rank 1 has not sent it a message \(tag 5, 4 bytes at most\) on a communicator of 2 ranks$" 1'
    check "... a long wait for a message is marked in the archive ($on)" has <(otf2-marker stalled.trace/traces.otf2) 'rank 1 has not sent it a message'
done

# pattern MODE RANKS: the exchange of `stagger sim bcs`, which checks what it receives
pattern() {
    run_across pattern thread 1 "$CARRIED" "$2" "$PROGRAMS/bcs_pattern" "$1" 20 100 5000
    is 0 "$status" && lacks pattern.err 'p2p=bcs:' && grep -q '^[1-9][0-9]* messages$' pattern.out
}
for mode in blocking nonblocking; do
    check "neighbours exchange in slices ($mode)" pattern "$mode" 2
done
if [ -e "$PROGRAMS/sliced_f08" ]; then
    f08() {
        STAGGER_EMDS=on run_across f08 thread 1 "$CARRIED" 3 "$PROGRAMS/sliced_f08"
        is 0 "$status" && is 3 "$(grep -c received f08.out)" && went_in_slices f08
    }
    check "a program in Fortran 2008 receives the right messages" f08
else
    skip "a program in Fortran 2008 receives the right messages" "MPICH has no module mpi_f08 here"
fi

killed() {
    run_across killed thread 1 "$CARRIED" 3 "$PROGRAMS/sliced" killed "$WORK"
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ] && all_gone && "$STAGGER" recover killed.trace && archive_sound killed.trace
}
check "a rank that is killed ends the job, and leaves logs that make an archive" killed

# ---- messages that MPICH carries -----------------------------------------------------------------

# declined NAME RULES RANKS EACH LINE PROGRAM ARG...: one line gives the reason, and nothing goes in
# slices
declined() {
    local name=$1 rules=$2 ranks=$3 each=$4 line=$5
    shift 5
    run_across "$name" "${MODE:-thread}" "$each" "$rules" "$ranks" "$@"
    is 0 "$status" && has_lines "$name.err" "^stagger: p2p=bcs: $line; MPICH carries the messages$" 1
}
check "inside a node, messages are MPICH's" declined node "$CARRIED" 2 2 \
    'MPI_COMM_WORLD is on one node \(STAGGER_RANKS_PER_NODE can split it\)' "$PROGRAMS/sliced" tags
MODE=signal check "without a helper thread, messages are MPICH's" declined signal 'p2p=bcs' 2 1 \
    'it requires progress=thread' "$PROGRAMS/sliced" tags
check "when threads may call MPI concurrently, messages are MPICH's" declined threads "$CARRIED" 2 1 \
    'threads may call MPI concurrently \(MPI_THREAD_MULTIPLE\)' "$PROGRAMS/thread_levels" multiple
check "a program that may cancel requests keeps MPICH's messages" declined imports "$CARRIED" 2 1 \
    'the program may call MPI_[A-Z][a-z_]+' "$PROGRAMS/known_requests"
cat >importing.c <<'EOF'
#include <mpi.h>
#include <stdlib.h>
static __attribute__((constructor)) void begin(void)
{
    if (getenv("NOBODY_SETS_THIS") != NULL)
        MPI_Cancel(NULL);
}
EOF
"$("$ROOT/.ci/find-mpi" cc)" -shared -fPIC -o importing.so importing.c
PRELOAD=$WORK/importing.so:$LIB check "... a program with a library that imports MPI functions and exports nothing keeps MPICH's messages" declined importing "$CARRIED" 2 1 \
    'importing\.so may call MPI_Cancel' "$PROGRAMS/sliced" tags
late() {
    run_across late thread 1 "$CARRIED" 2 "$PROGRAMS/sliced" late
    is 0 "$status" && is 2 "$(grep -c 'late: 1 1$' late.out)" &&
        has_lines late.err '^stagger: MPI_(Bsend|Recv_init) on MPI_COMM_WORLD fails: p2p=bcs does not support it, and its caller was loaded after MPI_Init$' 2
}
check "code that is loaded later gets an error through the communicator's handler" late
check "a rule for another size decides nothing, and one line says so" all \
    'run_across size thread 1 "p2p~3-4=bcs(progress=thread)" 2 "$PROGRAMS/sliced" tags' 'is 0 "$status"' \
    'has_lines size.err "^stagger: rule p2p~3-4=bcs .STAGGER_RULES.: matched no call$" 1'

check "nothing of the library is left in /dev/shm" no_shared_memory
