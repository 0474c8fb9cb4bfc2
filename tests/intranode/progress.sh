#!/bin/bash
# MPICH makes progress while the library waits; a build that does not drive MPICH hangs.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
# Ranks that exchanged messages in MPI_Init can send large messages without progress at the sender.
export STAGGER_CALIBRATE=0

for algorithm in srm handoff; do
    for operation in barrier reduce allreduce; do
        run_by rendezvous "$algorithm" 2 "$PROGRAMS/rendezvous" "$operation"
        check "a large message moves while its sender waits in our $operation ($algorithm)" all \
            'gave rendezvous' 'has rendezvous.out "the message came"'
    done
done

still=$BUILD/variant-no-pokes
# A copy that differs in one file.
rm -rf "$still" && mkdir "$still" && cp -a "$BUILD/shim" "$BUILD/libstagger-otf2.so" "$still/" &&
    rm "$still/shim/wait/wait.o"
check "a library that does not drive MPICH builds" make -C "$ROOT" --no-print-directory B="$still" \
    CPPFLAGS=-DSG_WAIT_POKES=0 "$still/libstagger.so"
PRELOAD=$still/libstagger.so
in_turn srm handoff
for algorithm in "${turn[@]}"; do
    PROGRAM_SECONDS=10 run_by rendezvous "$algorithm" 2 "$PROGRAMS/rendezvous" barrier
    check "it hangs in the same program, as expected ($algorithm)" all \
        'within 124 137 "$status"' 'lacks rendezvous.out "the message came"'
done
