#!/bin/bash
# Ten of ScaLAPACK's test programs at 2 ranks: with the library, under the default rules and one of
# two algorithms in turn, they pass the same tests as without. check_full.sh runs all under both.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/scalapack/scalapack.bash"

need_scalapack "ScaLAPACK's programs pass what they pass without the library"
algorithm=srm other=handoff
for name in $SCALAPACK_TEN; do
    without=$(stock "$name")
    for rules in '' "*=$algorithm"; do
        STAGGER_RULES=$rules passes_too "$name" "$without" "rules '$rules'"
    done
    passes_something "$name" "$without"
    read -r algorithm other <<<"$other $algorithm"
done
