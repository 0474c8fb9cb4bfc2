#!/bin/bash
# Measures MPI's functions with 2, 4 and 8 ranks: bench/bench_calls.sh BUILD [SECONDS]. Prints, for
# each, median microseconds under stock MPICH, under stagger, and under Open MPI with
# mpi_yield_when_idle if BUILD holds the program built for it; and the ratio of stock to stagger.
# SECONDS is the length of each measurement (0.2). Asserts nothing.
set -u
export LC_ALL=C

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$(cd "${1:-$ROOT/build}" && pwd) || exit 1
seconds=${2:-0.2}
MPIEXEC=$("$ROOT/.ci/find-mpi" exec) || { echo "bench: no MPICH launcher found" >&2; exit 1; }
calls='barrier bcast reduce allreduce alltoall allgather sendrecv pingpong waitall probe win_fence win_lock comm_dup'
unset "${!STAGGER_@}"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# Alternates function by function, so that a disturbance affects neighbouring measurements alike.
stock() { timeout 300 "$MPIEXEC" -n "$1" "$BUILD/mpi/call_times" "$seconds" "$2" </dev/null; }
ours() {
    STAGGER_TRACE=off STAGGER_QUIET=1 timeout 300 "$MPIEXEC" -genv LD_PRELOAD "$BUILD/libstagger.so" -n "$1" \
        "$BUILD/mpi/call_times" "$seconds" "$2" </dev/null
}
openmpi() {
    [ -x "$BUILD/openmpi/call_times" ] || return
    timeout 300 mpiexec.openmpi --oversubscribe --mca mpi_yield_when_idle 1 -n "$1" \
        "$BUILD/openmpi/call_times" "$seconds" "$2" </dev/null
}
time_of() { awk '{ print $3 }'; }

printf 'Functions of MPI, us a call, on %s processors\n\n' "$(nproc)"
printf '%-10s %5s %10s %10s %10s %12s\n' function ranks MPICH stagger 'Open MPI' 'MPICH/ours'
for ranks in 2 4 8; do
    for call in $calls; do
        a=$(stock "$ranks" "$call" 2>/dev/null | time_of)
        b=$(ours "$ranks" "$call" 2>/dev/null | time_of)
        c=$(openmpi "$ranks" "$call" 2>/dev/null | time_of)
        awk -v call="$call" -v ranks="$ranks" -v a="${a:-0}" -v b="${b:-0}" -v c="${c:--}" 'BEGIN {
            printf "%-10s %5d %10.2f %10.2f %10s %12s\n", call, ranks, a, b, c, (b > 0 ? sprintf("%.2f", a / b) : "-") }'
    done
done
