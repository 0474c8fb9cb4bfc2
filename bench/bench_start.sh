#!/bin/bash
# Compares the start and end of a job, and communicators that are made for few calls, with stock
# MPICH: bench/bench_start.sh BUILD [ROUNDS] [RANKS...]. Prints medians under stock MPICH, without
# recording and by default (an archive), from runs that alternate, and their ratios. ROUNDS is 3,
# RANKS 2, 16 and 64; communicators only up to 4 ranks. Asserts nothing.
set -u
export LC_ALL=C

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$(cd "${1:-$ROOT/build}" && pwd) || exit 1
rounds=${2:-3}
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- 2 16 64
MPIEXEC=$("$ROOT/.ci/find-mpi" exec) || { echo "bench: no MPICH launcher found" >&2; exit 1; }
unset "${!STAGGER_@}"
WORK=$(mktemp -d "${TMPDIR:-/tmp}/stagger-bench-XXXXXX") || exit 1
trap 'rm -rf "$WORK"' EXIT
export STAGGER_QUIET=1 STAGGER_DIR=$WORK/run

# run MODE RANKS [COMMUNICATORS]
run() {
    local options=()
    [ "$1" = stock ] || options+=(-genv LD_PRELOAD "$BUILD/libstagger.so")
    [ "$1" != off ] || options+=(-genv STAGGER_TRACE off)
    timeout 300 "$MPIEXEC" "${options[@]}" -n "$2" "$BUILD/mpi/bench_start" ${3:+"$3"} </dev/null |
        while read -r name seconds; do echo "$seconds" >>"$WORK/$name.$2.$1"; done
    rm -rf "$WORK/run"
}
median() { sort -g "$1" | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }

for ranks; do
    for ((round = 0; round < rounds; round++)); do
        for mode in stock off default; do
            run "$mode" "$ranks"
            [ "$ranks" -gt 4 ] || run "$mode" "$ranks" "$((ranks > 2 ? 30 : 500))"
        done
    done
done
printf 'Start and end of a job on %s processors, medians of %d runs, ms; communicators, us each\n\n' "$(nproc)" "$rounds"
printf '%-34s %9s %9s %9s %9s %9s\n' '' stock off default off default
for ranks; do
    paste "$WORK"/{init,finalize}."$ranks".stock | awk '{ print $1 + $2 }' >"$WORK/both.$ranks.stock"
    for mode in off default; do
        paste "$WORK"/{init,finalize}."$ranks".$mode | awk '{ print $1 + $2 }' >"$WORK/both.$ranks.$mode"
    done
    for row in 'init:MPI_Init:1e3' 'finalize:MPI_Finalize:1e3' 'both:both:1e3' 'once:duplicate, allreduce, free:1e6' \
        'alive:allreduce of one of many:1e6'; do
        IFS=: read -r name text unit <<<"$row"
        [ -e "$WORK/$name.$ranks.stock" ] || continue
        awk -v text="$text, $ranks ranks" -v unit="$unit" -v stock="$(median "$WORK/$name.$ranks.stock")" \
            -v off="$(median "$WORK/$name.$ranks.off")" -v recorded="$(median "$WORK/$name.$ranks.default")" \
            'BEGIN { printf "%-34s %9.1f %9.1f %9.1f %9.2f %9.2f\n", text, stock * unit, off * unit,
                         recorded * unit, off / stock, recorded / stock }' 2>/dev/null ||
            echo "$text, $ranks ranks: no result"
    done
done
