#!/bin/bash
# Measures the cost of EMDS and the accuracy of slices: bench/bench_emds.sh BUILD [BLOCKS [RANKS]].
# Each rank is a virtual node. Prints
#
#   - the time of a conjugate-gradient solver under `*=bcs` without and with STAGGER_EMDS, in blocks (10) of
#     off, on, on, off, and the geometric mean of the blocks' ratios with its 95 % interval (goal: 1.014, the
#     paper's table 6.1);
#   - with strobe=always and slices of 500 us: median and 95th percentile of the time between strobes
#     (goals: 500 us within 1 %, 550 us);
#   - the cost of periodic strobes to a computing program: the time of the solver on a larger grid, with
#     strobes at each boundary and on demand, by slice length, and the median of the ratios;
#   - the mean delay of a barrier at random times, beside half a slice and the mean time of a slice with
#     restart=phase, and one slice and a half with restart=slice (goal: within 10 %).
#
# Asserts nothing. Needs one processor per rank and an otherwise idle machine.
set -u
export LC_ALL=C

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$(cd "${1:-$ROOT/build}" && pwd) || exit 1
blocks=${2:-10} ranks=${3:-2} slice=500
MPIEXEC=$("$ROOT/.ci/find-mpi" exec) || { echo "bench: no MPICH launcher found" >&2; exit 1; }
unset "${!STAGGER_@}"
WORK=$(mktemp -d "${TMPDIR:-/tmp}/stagger-bench-XXXXXX") || exit 1
trap 'rm -rf "$WORK"' EXIT
export STAGGER_QUIET=1 STAGGER_RANKS_PER_NODE=1 STAGGER_DIR=$WORK/run

# runs RULES EMDS PROGRAM...
runs() {
    rm -rf "$WORK/run"
    STAGGER_RULES=$1 STAGGER_EMDS=$2 timeout 300 "$MPIEXEC" -genv LD_PRELOAD "$BUILD/libstagger.so" -n "$ranks" \
        "${@:3}" </dev/null || { echo "bench: the run of ${*:3} failed" >&2; exit 1; }
}
# took RULES EMDS OPTION...: the time of the solver
took() {
    local begin=$EPOCHREALTIME
    runs "$2" "$1" "$BUILD/mpi/cg" "${@:3}" >/dev/null || exit 1
    awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.4f\n", b - a }'
}
solve() { took "$1" '*=bcs' -n 64 -t 4 -s 1 -w 20; }

printf 'cg of %d ranks on %s processors, *=bcs, s\n\n%8s %8s %8s\n' "$ranks" "$(nproc)" off on ratio
for ((block = 0; block < blocks; block++)); do
    a=$(solve off) && b=$(solve on) && c=$(solve on) && d=$(solve off) || exit 1
    awk "BEGIN { printf \"%8.3f %8.3f %8.4f\\n\", ($a + $d) / 2, ($b + $c) / 2, ($b + $c) / ($a + $d) }"
done | tee "$WORK/blocks"
awk '{ x = log($3); sum += x; square += x * x; n++ } END {
    mean = sum / n; error = n > 1 ? 2 * sqrt((square - n * mean * mean) / (n - 1) / n) : 0
    printf "\nEMDS on / off: %.4f (%.4f to %.4f)\n\n", exp(mean), exp(mean - error), exp(mean + error) }' "$WORK/blocks"

# metric NAME FIELD: from the last run, in us, at the node that sends the strobes
metric() {
    "$BUILD/stagger" report --slices --csv "$WORK/run" | awk -F, -v name="$1" -v part="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
        $at != "" && $2 == 0 { print $at / 1000 }' | sort -n | awk -v part="$2" '
        { v[NR] = $1; sum += $1 } END {
            if (part == "mean") printf "%.1f", sum / NR
            else { i = int(NR * part + 0.999999); printf "%.1f", v[i < 1 ? 1 : i] } }'
}

runs "*=bcs(slice=$slice,strobe=always,microphases=separate)" on "$BUILD/mpi/bench_slices" $slice 500 >/dev/null || exit 1
printf 'strobes always, slices of %d us: median %s us, 95th percentile %s us\n' $slice "$(metric getts_ns 0.5)" "$(metric getts_ns 0.95)"
for length in $slice $((4 * slice)); do
    for ((block = 0; block < blocks; block++)); do
        demand=$(took off "*=bcs(slice=$length)" -n 400 -t 1 -w 4) &&
            always=$(took off "*=bcs(slice=$length,strobe=always)" -n 400 -t 1 -w 4) || exit 1
        awk "BEGIN { printf \"%.4f %.3f %.3f\n\", $always / $demand, $always, $demand }"
    done | sort -n | awk -v length_us="$length" '{ ratio[NR] = $1; always[NR] = $2; demand[NR] = $3 } END {
        m = int((NR + 1) / 2); printf "strobes always, slices of %d us: cg takes %.3f s, %.3f s on demand, ratio %.4f (%.4f to %.4f)\n",
            length_us, always[m], demand[m], ratio[m], ratio[1], ratio[NR] }'
done
for restart in phase slice; do
    delay=$(runs "*=bcs(slice=$slice,restart=$restart)" on "$BUILD/mpi/bench_slices" $slice 500) || exit 1
    phase=$(metric gtts_ns mean)
    awk -v restart=$restart -v delay="$delay" -v phase="$phase" -v slice=$slice 'BEGIN {
        wanted = restart == "phase" ? 0.5 * slice + phase : 1.5 * slice
        printf "barriers at random times, restart=%s: delay %.1f us, %.1f expected, ratio %.3f\n", restart, delay, wanted, delay / wanted }'
done
