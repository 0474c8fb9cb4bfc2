#!/bin/bash
# long
# timeout: 3600
# Ten of ScaLAPACK's test programs at 2 ranks, each a node of its own: with the protocols between
# nodes they pass the same tests as without the library, in one mode of progress in turn, or in all
# of them in the full check.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"
. "$ROOT/tests/scalapack/scalapack.bash"

need_scalapack "ScaLAPACK's programs pass the same tests as without the library"
export STAGGER_RANKS_PER_NODE=1 STAGGER_RULES='*=adaptive;*=bypass'
for name in $SCALAPACK_TEN; do
    without=$(stock "$name")
    # shellcheck disable=SC2086 # words
    in_turn $MODES
    for mode in "${turn[@]}"; do
        STAGGER_PROGRESS=$mode passes_too "$name" "$without" "$mode"
    done
    passes_something "$name" "$without"
done
# In time slices, with the shortest slice, so that a program with many calls finishes.
for name in xdlu xdinv; do
    STAGGER_RULES='*=bcs(slice=100)' passes_too "$name" "$(stock "$name")" "in slices"
done
