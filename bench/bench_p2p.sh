#!/bin/bash
# Compares a program whose messages go in slices with its simulation: bench/bench_p2p.sh BUILD
# [STEPS [RANKS]]. The neighbour exchange of `stagger sim bcs` runs live (bcs_pattern), with each
# rank a virtual node, and is simulated with this machine's calibration as `--agent host`. Prints
#
#   - for blocking and nonblocking exchanges the time of a step, live and simulated, and their ratio (goal:
#     0.85 to 1.15);
#   - the share of a nonblocking exchange that 4 slices of computation hide: the time of a step beyond the
#     computation, beside the time of the exchange alone (goal: 95 %).
#
# Asserts nothing. Needs one processor per rank and an otherwise idle machine.
set -u
export LC_ALL=C

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$(cd "${1:-$ROOT/build}" && pwd) || exit 1
steps=${2:-300} ranks=${3:-2} slice=500 bytes=4096
computation=$((4 * slice))
MPIEXEC=$("$ROOT/.ci/find-mpi" exec) || { echo "bench: no MPICH launcher found" >&2; exit 1; }
unset "${!STAGGER_@}"
WORK=$(mktemp -d "${TMPDIR:-/tmp}/stagger-bench-XXXXXX") || exit 1
trap 'rm -rf "$WORK"' EXIT

# live RULES MODE GRANULARITY: ms per step, and the part of it inside calls
live() {
    rm -rf "$WORK/run"
    STAGGER_QUIET=1 STAGGER_RANKS_PER_NODE=1 STAGGER_DIR=$WORK/run STAGGER_RULES=$1 timeout 300 "$MPIEXEC" \
        -genv LD_PRELOAD "$BUILD/libstagger.so" -n "$ranks" "$BUILD/mpi/bcs_pattern" "$2" "$steps" "$3" $bytes \
        </dev/null 2>"$WORK/err" >/dev/null || { cat "$WORK/err" >&2; echo "bench: the run of $2 failed" >&2; exit 1; }
    awk -v n="$steps" '/^time/ { printf "%.4f %.4f\n", $2 / n, $6 / n }' "$WORK/err"
}
# simulated MODE GRANULARITY: ms per step
simulated() {
    "$BUILD/stagger" sim bcs --pattern exchange --agent host --mode "$1" --granularity "$2" --slice $slice --bytes $bytes \
        --steps "$steps" -n "$ranks" --network "$WORK/network.conf" --csv |
        awk -F, -v n="$steps" '!/^#/ && NF > 5 { if (!at) { for (i = 1; i <= NF; i++) if ($i == "bcs_ms") at = i } else printf "%.4f\n", $at / n }'
}

rules="p2p=bcs(slice=$slice,send=rendezvous,progress=thread)"
live "$rules" blocking 0 >/dev/null || exit 1
# Reads that run's calibration.
otf2-print -I "$WORK/run/traces.otf2" | grep -oE '\b(latency|overhead|signal|wake|local)_us=[0-9.]+|\b(gap|copy|reduce)_ns_per_byte=[0-9.]+' |
    sort -u -t = -k 1,1 | sed 's/=/ = /' >"$WORK/network.conf"
sed -i '1i source = this machine' "$WORK/network.conf"

printf 'exchange of %d ranks on %s processors, slices of %d us, %d bytes, %d us of computation; ms a step\n\n' "$ranks" \
    "$(nproc)" $slice $bytes $computation
printf '%-12s %9s %9s %9s %9s\n' messages MPICH live simulated ratio
for mode in blocking nonblocking; do
    read -r usual _ < <(live 'p2p=mpich' $mode $computation)
    read -r took _ < <(live "$rules" $mode $computation)
    sim=$(simulated $mode $computation)
    awk "BEGIN { printf \"%-12s %9.3f %9.3f %9.3f %9.2f\\n\", \"$mode\", $usual, $took, $sim, $took / $sim }"
done
read -r _ alone < <(live "$rules" nonblocking 0)
read -r _ exposed < <(live "$rules" nonblocking $computation)
awk "BEGIN { printf \"\\nnonblocking: %.3f ms alone, of which %.3f ms are left beside computation: %.1f %% hidden\\n\", $alone, $exposed, 100 * (1 - $exposed / $alone) }"
