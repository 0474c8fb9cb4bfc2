#!/bin/bash
# Ten of ScaLAPACK's test programs at 2 ranks: with the library they pass what they pass without, by
# the default rules and by each algorithm.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/scalapack/scalapack.bash"

if [ -z "$SCALAPACK" ]; then
    skip "ScaLAPACK's programs pass what they pass without the library" \
        "scalapack-mpi-test is not installed"
    exit
fi
scalapack_data
for name in $SCALAPACK_TEN; do
    without=$(stock "$name")
    for rules in '' '*=srm' '*=handoff'; do
        with=$(STAGGER_RULES=$rules observed "$name")
        check "$name passes what it passes without the library (rules '$rules')" \
            is "$without" "$with"
        check "the archive of $name is sound (rules '$rules')" archive_sound "$name.trace"
        rm -rf "$name.trace"
    done
    check "$name passes something" has <(echo "$without") ' [1-9][0-9]* passed,'
done
