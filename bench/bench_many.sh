#!/bin/bash
# Measures MPI's functions with many ranks on each processor: bench/bench_many.sh BUILD [SECONDS [RANKS...]].
# Prints, for 16, 32 and 64 ranks (or RANKS), median microseconds a call under stagger; under Open MPI
# with mpi_yield_when_idle if BUILD holds the program built for it; under stock MPICH, and under MPICH
# that yields as often as it can (MPIR_CVAR_POLLS_BEFORE_YIELD=1). SECONDS is the length of each
# measurement (0.2); a job of MPICH that takes longer than a minute is left out. Asserts nothing.
set -u
export LC_ALL=C

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$(cd "${1:-$ROOT/build}" && pwd) || exit 1
seconds=${2:-0.2}
[ $# -gt 2 ] && many=("${@:3}") || many=(16 32 64)
MPIEXEC=$("$ROOT/.ci/find-mpi" exec) || { echo "bench: no MPICH launcher found" >&2; exit 1; }
calls=(barrier allreduce reduce bcast alltoall sendrecv pingpong)
unset "${!STAGGER_@}"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
WORK=$(mktemp -d "${TMPDIR:-/tmp}/stagger-bench-XXXXXX") || exit 1
trap 'rm -rf "$WORK"' EXIT

# One job a library and number of ranks: with many ranks the start takes longer than the calls.
ours() {
    STAGGER_TRACE=off STAGGER_QUIET=1 timeout 300 "$MPIEXEC" -genv LD_PRELOAD "$BUILD/libstagger.so" -n "$1" \
        "$BUILD/mpi/call_times" "$seconds" "${calls[@]}" </dev/null
}
openmpi() {
    [ -x "$BUILD/openmpi/call_times" ] || return
    timeout 300 mpiexec.openmpi --oversubscribe --mca mpi_yield_when_idle 1 -n "$1" \
        "$BUILD/openmpi/call_times" "$seconds" "${calls[@]}" </dev/null
}
stock() { timeout 60 "$MPIEXEC" "${@:2}" -n "$1" "$BUILD/mpi/call_times" "$seconds" "${calls[@]}" </dev/null; }
tuned() { stock "$1" -genv MPIR_CVAR_POLLS_BEFORE_YIELD 1; }

printf 'Many ranks, us a call, on %s processors\n\n' "$(nproc)"
printf '%-10s %5s %10s %12s %10s %10s %15s\n' function ranks stagger 'Open MPI' MPICH tuned 'stagger, a rank'
for ranks in "${many[@]}"; do
    for library in ours openmpi stock tuned; do
        "$library" "$ranks" >"$WORK/$library" 2>/dev/null
    done
    for call in "${calls[@]}"; do
        times=()
        for library in ours openmpi stock tuned; do
            us=$(awk -v call="$call" '$1 == call { print $3 }' "$WORK/$library")
            times+=("${us:--}")
        done
        awk -v call="$call" -v ranks="$ranks" -v times="${times[*]}" 'BEGIN {
            split(times, us)
            printf "%-10s %5d %10s %12s %10s %10s %15s\n", call, ranks, us[1], us[2], us[3], us[4],
                us[1] == "-" ? "-" : sprintf("%.2f", us[1] / ranks) }'
    done
done
