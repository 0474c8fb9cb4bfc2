#!/bin/bash
# Ten of ScaLAPACK's test programs at 2 ranks: with the library they pass what they pass without, by
# the default rules and by each algorithm.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/scalapack/scalapack.bash"

need_scalapack "ScaLAPACK's programs pass what they pass without the library"
for name in $SCALAPACK_TEN; do
    without=$(stock "$name")
    for rules in '' '*=srm' '*=handoff'; do
        STAGGER_RULES=$rules passes_too "$name" "$without" "rules '$rules'"
    done
    passes_something "$name" "$without"
done
