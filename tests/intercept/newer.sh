#!/bin/bash
# Counts functions of MPI 4.1 and forwards them to an MPI that has them (a stand-in,
# tests/mpi/newer_library.c). If MPI lacks them, a program finds out as it does without the library.
. "$(dirname "$0")/../lib/sh.sh"

cat >known <<'END'
MPI_Buffer_flush 2 0
MPI_Buffer_iflush 4 0
MPI_Comm_detach_buffer 2 0
MPI_Comm_flush_buffer 8 2
MPI_Comm_iflush_buffer 2 0
MPI_Wait 2 0
MPI_Waitall 2 0
END
for trace in otf2 stats; do
    PRELOAD=$LIB:$PROGRAMS/libnewer.so STAGGER_TRACE=$trace observe "$trace" 2 "$PROGRAMS/newer" call
    check "flushes of buffers reach an MPI that has them ($trace)" ran_well "$trace"
    report_json "$trace.trace" "$trace.json" &&
        json "$trace.json" '"\n".join(sorted("%s %d %d" % (f["mpi_function"], f["calls"], f["failed_calls"])
            for f in d["functions"]))' | grep -E 'flush|Comm_detach|Wait' >"$trace.told"
    check "... they are counted, with the waits for posted ones ($trace)" same known "$trace.told"
done
check "the archive is sound" archive_sound otf2.trace

compare found 1 "$PROGRAMS/newer" find
STAGGER_TRACE=off observe found 1 "$PROGRAMS/newer" find
check "a program looks up the same functions as without the library" all 'is 0 "$status"' \
    'same found.plain.out found.out' 'has found.out "^Send is there$"'

compare bound 1 "$PROGRAMS/newer" bound
STAGGER_TRACE=off observe bound 1 "$PROGRAMS/newer" bound
if [ "$(cat bound.plain.out)" = "not there" ]; then
    check "a call that this MPI lacks returns an error to a program bound to it, and one line says so" all 'is 0 "$status"' \
        'is unsupported "$(cat bound.out)"' \
        'has_lines bound.err "^stagger: this MPI lacks MPI_Comm_flush_buffer; returning an error$" 1'
else
    check "a program bound to such a call gets MPI's own function" all 'is 0 "$status"' 'same bound.plain.out bound.out'
fi
