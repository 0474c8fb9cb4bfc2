#!/bin/bash
# Measures the cost of recording why ranks come late: bench/bench_causes.sh BUILD [ROUNDS
# [LIBRARY]]. Prints
#
#   - for STAGGER_TRACE=stats and otf2, and each mode of STAGGER_CAUSES, the ns that the library adds to a
#     barrier on MPI_COMM_SELF (bench_call), the minimum over all rounds, and the excess over `off`; with
#     LIBRARY, another build's libstagger.so, in the same rounds;
#   - the cost of one reading of each source of STAGGER_CAUSES=all.
#
# Rounds (10) alternate, so that a disturbance affects neighbouring modes alike. Asserts nothing.
set -u
export LC_ALL=C

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$(cd "${1:-$ROOT/build}" && pwd) || exit 1
rounds=${2:-10}
libraries=("$BUILD/libstagger.so" ${3+"$3"})
MPIEXEC=$("$ROOT/.ci/find-mpi" exec) || { echo "bench: no MPICH launcher found" >&2; exit 1; }
unset "${!STAGGER_@}"
WORK=$(mktemp -d "${TMPDIR:-/tmp}/stagger-bench-XXXXXX") || exit 1
trap 'rm -rf "$WORK"' EXIT

declare -A least
for ((round = 0; round < rounds; round++)); do
    for trace in stats otf2; do
        for mode in off sample all; do
            for library in "${libraries[@]}"; do
                # Keeping every call would fill the log.
                line=$(STAGGER_TRACE=$trace STAGGER_CAUSES=$mode STAGGER_TRACE_BYTES=512m STAGGER_DIR=$WORK/run \
                    STAGGER_QUIET=1 timeout 100 "$MPIEXEC" -genv LD_PRELOAD "$library" -n 1 "$BUILD/mpi/bench_call" </dev/null) ||
                    { echo "bench: the run with $trace, $mode failed" >&2; exit 1; }
                rm -rf "$WORK/run"
                added=${line#* * } added=${added%% *} key=$trace,$mode,$library
                least[$key]=$(awk -v a="${least[$key]:-$added}" -v b="$added" 'BEGIN { print a < b ? a : b }')
            done
        done
    done
done
printf 'MPI_Barrier on MPI_COMM_SELF: ns that are added, the least of %d rounds\n\n' "$rounds"
printf '%-6s %-7s %9s %14s  %s\n' trace causes added 'more than off' library
for trace in stats otf2; do
    for library in "${libraries[@]}"; do
        for mode in off sample all; do
            awk -v trace=$trace -v mode=$mode -v added="${least[$trace,$mode,$library]}" -v library="$library" \
                -v off="${least[$trace,off,$library]}" 'BEGIN {
                printf "%-6s %-7s %9.1f %14.1f  %s\n", trace, mode, added, added - off, library }'
        done
    done
done
printf '\nA reading of each source\n\n'
"$BUILD/stagger" info | sed -n 's/^  \(.*: .* ns a reading\);.*/  \1/p'
