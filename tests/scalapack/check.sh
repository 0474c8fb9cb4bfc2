#!/bin/bash
# long
# timeout: 3600
# Ten of ScaLAPACK's test programs at 2 ranks: with the library, under the default rules and one of
# two algorithms in turn, they pass the same tests as without. check_full.sh runs all under both.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/scalapack/scalapack.bash"

need_scalapack "ScaLAPACK's programs pass the same tests as without the library"
for name in $SCALAPACK_TEN; do
    without=$(stock "$name")
    in_turn '*=srm' '*=handoff'
    for rules in '' "${turn[@]}"; do
        STAGGER_RULES=$rules passes_too "$name" "$without" "rules '$rules'"
    done
    passes_something "$name" "$without"
done
