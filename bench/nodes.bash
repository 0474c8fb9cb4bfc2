# Sourced by bench/bench.sh: measures between nodes, with each rank a virtual node of this machine,
# and writes to $OUT/nodes, for bench/nodes.py. Uses MPIEXEC, BUILD, WORK, OUT and full; a failed
# run sets status.
# shellcheck shell=bash disable=SC2034,SC2154
NODES=$OUT/nodes
mkdir "$NODES"
NODES_ROW_S=1
NODES_END_S=390 # after which no more ranks begin, without --full
library=$BUILD/libstagger.so
FULL_ROW_S=15      # of MPICH's calls alone, with many ranks a processor, some take a second each
NODES_RUN_S=60     # a run that takes longer has failed
FULL_RUN_S=600
SKEW_US=1000

# between LABEL RANKS COMMAND OPTION...: the library's variables come from the environment. MPICH
# waits as it does without the library.
between() {
    local label=$1 ranks=$2 limit_s=$NODES_RUN_S row_s=$NODES_ROW_S
    shift 2
    [ "$ranks" -gt 8 ] && limit_s=$FULL_RUN_S row_s=$FULL_ROW_S
    if ! STAGGER_WAIT_HOOK=none STAGGER_TRACE=off STAGGER_QUIET=1 timeout --kill-after=5 "$limit_s" \
        "$MPIEXEC" ${library:+-genv LD_PRELOAD "$library"} -n "$ranks" "$BUILD/stagger-bench" "$@" \
        --json --time "$row_s" </dev/null >"$NODES/$label.$ranks.json" 2>"$WORK/err"; then
        echo "bench: the run '$label' of $ranks ranks failed:" >&2
        cat "$WORK/err" >&2
        rm -f "$NODES/$label.$ranks.json"
        status=1
    fi
}

measure_nodes() {
    local ranks=$1 mode
    local -x STAGGER_RANKS_PER_NODE=1
    between cpu-skewed "$ranks" cpu --algorithms bypass --skew-us "$SKEW_US"
    between cpu-together "$ranks" cpu --algorithms bypass --skew-us 0 --elements 4
    for mode in signal poll; do
        STAGGER_PROGRESS=$mode between "cpu-$mode" "$ranks" cpu --algorithms bypass \
            --skew-us "$SKEW_US" --elements 4
    done
    library='' between cpu-control "$ranks" cpu --skew-us "$SKEW_US" --elements 4
    STAGGER_RANKS_PER_NODE=0 between cpu-handoff "$ranks" cpu --skew-us "$SKEW_US" --elements 4
    [ "$ranks" -ge 4 ] && between delay "$ranks" delay \
        --algorithms adaptive,tree,dissemination,pairwise --late-us "$SKEW_US"
    [ "$ranks" -gt 8 ] && return
    for mode in bypass tree; do
        STAGGER_RULES="reduce=$mode" between "latency-$mode" "$ranks" latency --scheme loop --ops reduce --bytes 32
    done
}

rank_counts=(2 4 8)
[ "$full" = 1 ] && rank_counts+=(16 32)
for ranks in "${rank_counts[@]}"; do
    if [ "$full" = 0 ] && [ "$SECONDS" -ge "$NODES_END_S" ]; then
        echo "bench: the machine is busy: $ranks ranks and more are left out" >&2
        break
    fi
    measure_nodes "$ranks"
done
