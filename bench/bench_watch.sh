#!/bin/bash
# Measures how much watching slows a job: bench/bench_watch.sh BUILD [PAIRS [RANKS]]. Prints the
# time of a conjugate-gradient solver (4 ranks) alone, and of one that `stagger watch` reads every
# second, in pairs (8) of alternating order; also the watcher's processor time, and the median,
# minimum and maximum of the pairs' ratios. Asserts nothing.
set -u
export LC_ALL=C

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$(cd "${1:-$ROOT/build}" && pwd) || exit 1
pairs=${2:-8} ranks=${3:-4}
MPIEXEC=$("$ROOT/.ci/find-mpi" exec) || { echo "bench: no MPICH launcher found" >&2; exit 1; }
unset "${!STAGGER_@}"
WORK=$(mktemp -d "${TMPDIR:-/tmp}/stagger-bench-XXXXXX") || exit 1
trap 'rm -rf "$WORK"' EXIT

# took WATCHED: seconds of a job. The watcher ends up to a second after it.
took() {
    local begin=$EPOCHREALTIME end job watch=
    rm -rf "$WORK/run"
    STAGGER_QUIET=1 STAGGER_DIR=$WORK/run timeout 300 "$MPIEXEC" -genv LD_PRELOAD "$BUILD/libstagger.so" -n "$ranks" \
        "$BUILD/mpi/cg" -n 256 -t 8 -s 1 -w 20 >/dev/null </dev/null &
    job=$!
    if [ "$1" = 1 ]; then
        # Waits until the job has a log; before that there is no job to watch.
        until compgen -G "$WORK/run/*.log" >/dev/null || ! kill -0 "$job" 2>/dev/null; do sleep 0.05; done
        { TIMEFORMAT='%U %S' && time "$BUILD/stagger" watch "$WORK/run" >"$WORK/watch.out" 2>&1; } 2>"$WORK/watcher" &
        watch=$!
    fi
    wait "$job" || { echo "bench: the job failed" >&2; exit 1; }
    end=$EPOCHREALTIME
    [ -z "$watch" ] || { wait "$watch"; grep -q cg.c "$WORK/watch.out"; } || { echo "bench: nothing was watched" >&2; exit 1; }
    awk -v a="$begin" -v b="$end" 'BEGIN { printf "%.3f\n", b - a }'
}

printf 'A job of %d ranks on %s processors, s\n\n%8s %8s %8s %8s\n' "$ranks" "$(nproc)" alone watched ratio watcher
for ((pair = 0; pair < pairs; pair++)); do
    if ((pair % 2 == 0)); then
        alone=$(took 0) && watched=$(took 1) || exit 1
    else
        watched=$(took 1) && alone=$(took 0) || exit 1
    fi
    awk -v a="$alone" -v w="$watched" '{ printf "%8.2f %8.2f %8.4f %8.3f\n", a, w, w / a, $1 + $2 }' "$WORK/watcher"
done | tee "$WORK/pairs"
sort -n -k 3 "$WORK/pairs" | awk '{ r[NR] = $3 } END {
    m = NR % 2 ? r[(NR + 1) / 2] : (r[NR / 2] + r[NR / 2 + 1]) / 2
    printf "\nwatched / alone: %.4f (%.4f to %.4f)\n", m, r[1], r[NR] }'
