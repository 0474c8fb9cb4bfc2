#!/bin/bash
# Ten of ScaLAPACK's test programs at 2 ranks: with the library they pass what they pass without.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/scalapack/scalapack.bash"

if [ -z "$SCALAPACK" ]; then
    skip "ScaLAPACK's programs pass what they pass without the library" \
        "scalapack-mpi-test is not installed"
    exit
fi
scalapack_data
for name in xdlu xdbrd xslu xzlu xdinv xdllt xdhrd xdtrd xdqr xdls; do
    without=$(stock "$name")
    observed "$name" >with.txt
    check "$name passes what it passes without the library" is "$without" "$(cat with.txt)"
    check "$name passes something" has with.txt ' [1-9][0-9]* passed,'
    check "the archive of $name is sound" archive_sound "$name.trace"
    rm -rf "$name.trace"
done
