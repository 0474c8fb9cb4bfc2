#!/bin/bash
# Neighborhood collectives of a program with known late neighbors: which ranks wait for which, and
# that no rank waits for one that is not its neighbor. Ignores the length of waits: the machine may
# be slow.
. "$(dirname "$0")/../lib/sh.sh"

observe neighbors 4 "$PROGRAMS/known_neighbors"
check "the program runs" ran_well neighbors
check "its archive is sound" archive_sound neighbors.trace
report_json neighbors.trace neighbors.json
json neighbors.json '"\n".join("%s: %s in %s for %d: %s in %s" % (p["state"], p["mpi_function"], p["function"],
    p["rank"], p["for"]["mpi_function"], p["for"]["function"]) for p in d["wait_states"]["pairs"])' >pairs

# found CALL NAME CALL: in the first call the neighbor waits for rank 0 in the second
found() { has pairs "^late neighbor: $1 in beside_$2 for 0: $3 in late_$2$"; }
check "a late neighbor on a grid is found" all \
    'found MPI_Neighbor_allgather line MPI_Neighbor_allgather' \
    'found MPI_Neighbor_alltoall exchange MPI_Neighbor_alltoall'
check "... a late neighbor in a nonblocking collective is found at its wait" found MPI_Wait posted MPI_Ineighbor_allgather
if has <(otf2-print -G neighbors.trace/traces.otf2) '"MPI_Neighbor_alltoall_init"'; then
    check "... a late neighbor in a persistent collective is found at the wait for its start" found MPI_Wait started MPI_Start
fi
check "... a late neighbor on a graph is found" found MPI_Neighbor_alltoall graph MPI_Neighbor_alltoall
check "... a late neighbor on a distributed graph is found" found MPI_Neighbor_allgather edges MPI_Neighbor_allgather
check "nobody waits for a rank that is not its neighbor" lacks pairs 'in away_[a-z]* for 0:'
check "a rank without sources does not wait in the collective" lacks pairs '^late neighbor: [^:]* in (late|away)_edges'
check "the text names the waits" has <("$STAGGER" report --top 100 neighbors.trace) \
    '^ +late neighbor +MPI_Neighbor_alltoall +beside_exchange known_neighbors.c:[0-9]+ '

STAGGER_CALLS='*neighbor_allgather*' observe fewer 4 "$PROGRAMS/known_neighbors"
"$STAGGER" report --top 100 fewer.trace >fewer.txt
check "functions that are filtered out have no waits" all 'archive_sound fewer.trace' \
    'lacks fewer.txt MPI_Neighbor_alltoall' 'has fewer.txt "^ +late neighbor +MPI_Neighbor_allgather +beside_edges "'
