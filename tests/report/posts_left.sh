#!/bin/bash
# MPICH runs nonblocking calls within a node, which are not recorded: the report gives their number.
. "$(dirname "$0")/../lib/sh.sh"

cat >posts.c <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    double one = 1, sum;
    MPI_Request request;

    MPI_Init(&argc, &argv);
    for (int i = 0; i < 20; i++) {
        MPI_Iallreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (argc > 1)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
C
"$("$ROOT/.ci/find-mpi" cc 2>/dev/null || echo mpicc.mpich)" -g posts.c -o posts || exit 1

observe posts 3 ./posts
"$STAGGER" report --all posts.trace >posts.txt 2>posts.err
check "the report of a program with nonblocking calls only says so in place of rows" all \
    'has posts.txt "^note: 120 nonblocking calls were left to MPICH, and are counted among all calls only$"'
report_json posts.trace posts.json
check "JSON has the number of these calls" is "120 120 0" \
    "$(json posts.json '"%d %d %d" % (d["unmanaged_calls"], d["unmanaged_posts"], len(d["sites"]))')"
"$STAGGER" report --html posts.html posts.trace
check "the page reports them" has posts.html '120 nonblocking calls were left to MPICH'

observe both 3 ./posts barrier
check "beside other calls a note reports them" has <("$STAGGER" report --all both.trace) \
    '^note: 120 nonblocking calls were left to MPICH, and are counted among all calls only$'
STAGGER_TRACE=stats observe stats 3 ./posts barrier
check "statistics report them as well" has <("$STAGGER" report --all stats.trace) \
    '^note: 120 nonblocking calls were left to MPICH, and are counted among all calls only$'
observe none 2 "$PROGRAMS/cg" -n 4
check "the report of a run without them does not mention them" lacks <("$STAGGER" report --all none.trace) 'nonblocking'
