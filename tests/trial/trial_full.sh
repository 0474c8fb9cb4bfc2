#!/bin/bash
# timeout: 1200
# Trials at 2 to 9 ranks, within a node and between virtual nodes: the same order of candidates on
# all ranks, and stock's results in every progress mode.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/trial/trial.bash"

agree_on 2 60
for ranks in 3 4 5 6 7 8 9; do
    agree_on "$ranks" 10
done

between() { # NAME RANKS MODE
    STAGGER_RANKS_PER_NODE=1 STAGGER_PROGRESS=$3 STAGGER_TRIAL_BLOCK=6 \
        STAGGER_TRIAL="allreduce@common=adaptive|pairwise|tree|mpich; reduce@to_root=bypass|tree|handoff|mpich; allreduce@posted=adaptive|pairwise" \
        tried "$1" "$2" 12 posts
}
for mode in thread signal poll; do
    for ranks in 2 3 5 9; do
        between "$mode-$ranks" "$ranks" "$mode"
        check "$ranks nodes, progress by $mode: exact results equal stock's, and all ranks choose the same candidates" all \
            "like_stock $mode-$ranks $ranks 12 posts" "arms $mode-$ranks 6" "archive_sound $mode-$ranks.trace"
        check "... the order equals that of two nodes" is \
            "$(order "$mode-2" allreduce@common)" "$(order "$mode-$ranks" allreduce@common)"
    done
done
