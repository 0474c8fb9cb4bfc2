#!/bin/bash
# timeout: 3600
# The mixed run over many seeds, and with more ranks.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"

# On a busy machine some ranks run so far ahead that the default is not enough, which a line says.
export STAGGER_TRACE=stats STAGGER_MEMORY=1g
for algorithm in srm handoff; do
    for seed in {101..120}; do
        run_by soak "$algorithm" $((2 + seed % 3)) "$PROGRAMS/soak" 50000 \
            "$seed" $((1 + seed % 4))
        check "results stay right with seed $seed by $algorithm" gave soak
    done
    for ranks in 8 16; do
        PROGRAM_SECONDS=900 run_by soak "$algorithm" "$ranks" "$PROGRAMS/soak" 5000 "$ranks" 1
        check "results stay right at $ranks ranks by $algorithm" gave soak
    done
done
