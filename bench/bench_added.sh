#!/bin/bash
# Measures the library's overhead on a message, a probe and a broadcast: bench/bench_added.sh BUILD
# [ROUNDS]. Prints for each mode of STAGGER_TRACE the ns added to a call on MPI_COMM_SELF, the
# minimum over all rounds (5), which alternate between modes, and the goal. MPI_Isend and MPI_Wait
# are two calls. Asserts nothing.
set -u
export LC_ALL=C

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$(cd "${1:-$ROOT/build}" && pwd) || exit 1
rounds=${2:-5}
MPIEXEC=$("$ROOT/.ci/find-mpi" exec) || { echo "bench: no MPICH launcher found" >&2; exit 1; }
unset "${!STAGGER_@}"
WORK=$(mktemp -d "${TMPDIR:-/tmp}/stagger-bench-XXXXXX") || exit 1
trap 'rm -rf "$WORK"' EXIT

for ((round = 0; round < rounds; round++)); do
    for mode in off stats otf2; do
        STAGGER_TRACE=$mode STAGGER_TRACE_BYTES=512m STAGGER_DIR=$WORK/run STAGGER_QUIET=1 timeout 100 \
            "$MPIEXEC" -genv LD_PRELOAD "$BUILD/libstagger.so" -n 1 "$BUILD/mpi/bench_added" </dev/null >"$WORK/out" ||
            { echo "bench: the run with STAGGER_TRACE=$mode failed" >&2; exit 1; }
        sed "s/^/$mode /" "$WORK/out" >>"$WORK/rows"
        rm -rf "$WORK/run"
    done
done
printf 'ns that are added to a call on MPI_COMM_SELF of 8 bytes, the least of %d rounds\n\n' "$rounds"
awk '{ key = $2; if (!(key in plain)) names[++count] = key
       if (!(key in plain) || $3 < plain[key]) plain[key] = $3
       if (!(($1, key) in added) || $4 < added[$1, key]) added[$1, key] = $4 }
     END { printf "%-20s %9s %9s %9s %9s\n", "function", "plain", "off", "stats", "otf2"
           for (i = 1; i <= count; i++)
               printf "%-20s %9.1f %9.1f %9.1f %9.1f\n", names[i], plain[names[i]], added["off", names[i]],
                   added["stats", names[i]], added["otf2", names[i]]
           printf "%-20s %9s %9d %9d %9d\n", "goal, a call", "", 15, 80, 150 }' "$WORK/rows"
