#!/bin/bash
# Measures the cost and benefit of `auto`: bench/bench_auto.sh BUILD [ROUNDS [RANKS
# [RANKS-PER-NODE]]]. Prints
#
#   - for each operation and pattern of skew (bench_auto.c), the time in a call under each single algorithm
#     and under auto, after 200 calls: the median over ROUNDS (5) runs of the median call; auto's ratio to
#     the best and to the default; and the ratio to the default of the mean over all calls, with learning;
#   - the seconds of cg, of ScaLAPACK's xdlu and of NWChem, if installed, with the default and with auto.
#
# Runs alternate between algorithms. CHRT is a prefix for each program ("chrt -r 3"). Asserts
# nothing.
set -u
export LC_ALL=C

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$(cd "${1:-$ROOT/build}" && pwd) || exit 1
rounds=${2:-5} ranks=${3:-2} each=${4:-$ranks}
MPIEXEC=$("$ROOT/.ci/find-mpi" exec) || { echo "bench: no MPICH launcher found" >&2; exit 1; }
unset "${!STAGGER_@}"
WORK=$(mktemp -d "${TMPDIR:-/tmp}/stagger-bench-XXXXXX") || exit 1
trap 'rm -rf "$WORK"' EXIT

# by RULES COMMAND...: runs it under the library, without recording
by() {
    local rules=$1
    shift
    # shellcheck disable=SC2086 # words
    STAGGER_RANKS_PER_NODE=$each STAGGER_RULES=$rules STAGGER_TRACE=off STAGGER_QUIET=1 timeout 300 ${CHRT:-} "$MPIEXEC" \
        -genv LD_PRELOAD "$BUILD/libstagger.so" -n "$ranks" "$@" </dev/null
}
median() { sort -g | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }

rules=('*=srm' '*=handoff' '*=mpich' '' '*=auto(bits=any)')
printf 'time in a call at %d ranks, %d a node, ns, median of %d runs\n\n' "$ranks" "$each" "$rounds"
printf '%-10s %-9s %8s %8s %8s %8s %8s %8s %8s %9s\n' operation pattern srm handoff mpich default auto 'to best' \
    'to deflt' 'all calls'
for operation in barrier reduce allreduce; do
    for pattern in alike late random root changing; do
        rm -f "$WORK"/calls.*
        for ((round = 0; round < rounds; round++)); do
            for i in "${!rules[@]}"; do
                by "${rules[i]}" "$BUILD/mpi/bench_auto" "$operation" "$pattern" 20000 >>"$WORK/calls.$i" ||
                    { echo "bench: the run of $operation, $pattern by '${rules[i]}' failed" >&2; exit 1; }
            done
        done
        times=$(for i in "${!rules[@]}"; do cut -d' ' -f1 "$WORK/calls.$i" | median; done | xargs)
        whole=$(for i in 3 4; do cut -d' ' -f3 "$WORK/calls.$i" | median; done | xargs)
        echo "$operation $pattern $times $whole" | awk '{
            best = $3; for (i = 4; i <= 6; i++) if ($i < best) best = $i
            printf "%-10s %-9s %8d %8d %8d %8d %8d %8.3f %8.3f %9.3f\n", $1, $2, $3, $4, $5, $6, $7, $7 / best, \
                $7 / $6, $9 / $8 }'
    done
done

# program NAME COMMAND...: runs it in the working directory
program() {
    local name=$1 i start
    shift
    rm -f "$WORK"/seconds.*
    for ((round = 0; round < rounds; round++)); do
        for i in 3 4; do
            start=$EPOCHREALTIME
            (cd "$WORK" && by "${rules[i]}" "$@" >out 2>err) || { echo "bench: $name failed" >&2; return; }
            awk "BEGIN { print $EPOCHREALTIME - $start }" >>"$WORK/seconds.$i"
        done
    done
    printf '%-10s %9.2f %9.2f %9.3f\n' "$name" "$(median <"$WORK/seconds.3")" "$(median <"$WORK/seconds.4")" \
        "$(awk "BEGIN { print $(median <"$WORK/seconds.4") / $(median <"$WORK/seconds.3") }")"
}
printf '\nseconds of programs, median of %d runs\n\n%-10s %9s %9s %9s\n' "$rounds" program default auto ratio
program cg "$BUILD/mpi/cg" -n 200 -t 40
. "$ROOT/tests/scalapack/scalapack.bash"
if [ -n "$SCALAPACK" ]; then
    cp /usr/share/scalapack/*.dat "$WORK"
    program xdlu "$SCALAPACK/xdlu"
fi
if command -v nwchem.mpich >/dev/null; then
    cp "$ROOT/tests/wait/water.nw" "$WORK"
    ARMCI_USE_WIN_ALLOCATE=0 program NWChem nwchem.mpich water.nw
fi
exit 0
