#!/bin/bash
# Compares the synchronization delay of adaptive with the least time in which this machine wakes as
# many sleepers: bench/bench_wakes.sh BUILD [ROUNDS]. Each rank is a virtual node; the last one
# arrives 1 ms late, while the others sleep. Both kinds alternate in each of ROUNDS (5) runs,
# because the machine's speed drifts. Prints medians; asserts nothing.
set -u
export LC_ALL=C

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$(cd "${1:-$ROOT/build}" && pwd) || exit 1
rounds=${2:-5}
MPIEXEC=$("$ROOT/.ci/find-mpi" exec) || { echo "bench: no MPICH launcher found" >&2; exit 1; }
unset "${!STAGGER_@}"
WORK=$(mktemp -d "${TMPDIR:-/tmp}/stagger-bench-XXXXXX") || exit 1
trap 'rm -rf "$WORK"' EXIT

# late OPERATION RANKS
late() {
    STAGGER_RULES="$1=adaptive" STAGGER_RANKS_PER_NODE=1 STAGGER_WAIT_HOOK=none STAGGER_TRACE=off STAGGER_QUIET=1 \
        STAGGER_DIR=$WORK/run timeout 60 "$MPIEXEC" -genv LD_PRELOAD "$BUILD/libstagger.so" -n "$2" \
        "$BUILD/mpi/bench_late" "$1" </dev/null
}

for ((round = 1; round <= rounds; round++)); do
    for ranks in 4 8; do
        # one, each, chain, tree
        timeout 60 "$BUILD/mpi/bench_wakes" $((ranks - 1)) | tail -n 1 | while read -r _ times; do
            i=0
            for us in $times; do
                echo "$us" >>"$WORK/way$i.$ranks"
                i=$((i + 1))
            done
        done
        for operation in barrier allreduce; do
            late "$operation" "$ranks" >>"$WORK/$operation.$ranks" ||
                { echo "bench: the run of $operation with $ranks ranks failed" >&2; exit 1; }
        done
    done
done

median() { sort -n "$1" | awk '{ us[NR] = $1 } END { print us[int((NR + 1) / 2)] }'; }

echo "synchronization delay of adaptive, last rank late by 1 ms, beside waking as many processes, us"
printf '%5s %10s %10s   %-38s %8s %8s\n' ranks barrier allreduce 'limit: one, each, chain, tree' ratio ratio
for ranks in 4 8; do
    ways=$(for way in 0 1 2 3; do median "$WORK/way$way.$ranks"; done | xargs)
    best=$(printf '%s\n' $ways | sort -n | head -n 1)
    barrier=$(median "$WORK/barrier.$ranks") allreduce=$(median "$WORK/allreduce.$ranks")
    printf '%5d %10s %10s   %-38s %8s %8s\n' "$ranks" "$barrier" "$allreduce" "$ways" \
        "$(awk "BEGIN { printf \"%.2f\", $barrier / $best }")" "$(awk "BEGIN { printf \"%.2f\", $allreduce / $best }")"
done
echo "one: all sleep on one word. each, chain, tree: a word each; the late one wakes all in turn, the first,"
echo "the first two, and who wakes up goes on. ratio: barrier's and allreduce's to the best; goal 1.5"
