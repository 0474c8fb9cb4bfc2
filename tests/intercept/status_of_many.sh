#!/bin/bash
# MPI 4.1's MPI_Request_get_status_any, _some and _all complete the library's requests. If this
# MPICH lacks them, a stand-in provides them (tests/mpi/status_of_many_library.c), or the library
# itself.
. "$(dirname "$0")/../lib/sh.sh"

PRELOAD=$LIB:$PROGRAMS/libstatus_of_many.so
for prefix in MPI MPIX; do
    for nodes in 0 1; do
        STAGGER_RANKS_PER_NODE=$nodes STAGGER_TRACE=off observe many-$prefix-$nodes 2 \
            "$PROGRAMS/status_of_many" $prefix
        check "nonblocking collectives complete by ${prefix}_Request_get_status_all, _any and _some \
($([ "$nodes" = 0 ] && echo in a node || echo between nodes))" \
            all 'is 0 "$status"' 'has_lines many-$prefix-$nodes.out "^rank [01] ok$" 2'
    done
done

for nodes in 0 1; do
    STAGGER_RANKS_PER_NODE=$nodes STAGGER_TRACE=off observe bound-$nodes 2 "$PROGRAMS/status_of_many" bound
    check "... they complete by the calls a program is bound to, whether this MPICH has them or not \
($([ "$nodes" = 0 ] && echo in a node || echo between nodes))" \
        all 'is 0 "$status"' 'has_lines bound-$nodes.out "^rank [01] ok$" 2'
done
