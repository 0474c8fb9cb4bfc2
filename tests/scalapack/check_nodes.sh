#!/bin/bash
# timeout: 600
# Ten of ScaLAPACK's test programs at 2 ranks, each a node of its own: with the protocols between
# nodes they pass what they pass without the library.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/engine/engine.bash"
. "$ROOT/tests/span/span.bash"
. "$ROOT/tests/scalapack/scalapack.bash"

if [ -z "$SCALAPACK" ]; then
    skip "ScaLAPACK's programs pass what they pass without the library" \
        "scalapack-mpi-test is not installed"
    exit
fi
scalapack_data
export STAGGER_RANKS_PER_NODE=1 STAGGER_RULES='*=adaptive;*=bypass'
for name in $SCALAPACK_TEN; do
    without=$(stock "$name")
    for mode in $MODES; do
        with=$(in_mode "$mode" observed "$name")
        check "$name passes what it passes without the library ($mode)" is "$without" "$with"
        check "the archive of $name is sound ($mode)" archive_sound "$name.trace"
        rm -rf "$name.trace"
    done
    check "$name passes something" has <(echo "$without") ' [1-9][0-9]* passed,'
done
