#!/bin/bash
# timeout: 10000
# Broadcasts between virtual nodes, as in broadcasts.sh: 2 to 9 ranks, 1 to 3 per node, all modes.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"
. "$ROOT/tests/internode/broadcasts.bash"

export PROGRAM_SECONDS=900 # of ranks that take turns on a processor

for ranks in 2 3 4 5 6 7 8 9; do
    compare results "$ranks" "$program" results
    check "stock MPICH gives the expected bytes ($ranks ranks)" is 0 "$plain_status"
    for each in 1 2 3; do
        [ "$each" -lt "$ranks" ] || continue
        for mode in $MODES; do
            for algorithm in bypass tree 'tree(shape=binary)' 'tree(shape=fibonacci)' srm 'srm(chunk=4)'; do
                broadcasts_give "$algorithm" "$mode" "$ranks" "$each"
            done
        done
    done
done

exit $((failures > 0))
