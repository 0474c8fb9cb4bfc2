#!/bin/bash
# timeout: 7200
# The full product of protocol, operation, type and size between nodes, bit for bit.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"

whole=full
export STAGGER_TRACE=stats PROGRAM_SECONDS=1800
for ranks in 2 3 4 5 6 8; do
    for each in 1 2 3; do
        [ "$each" -lt "$ranks" ] && . "$ROOT/tests/internode/results.bash"
    done
done
