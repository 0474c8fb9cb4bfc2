#!/bin/bash
# timeout: 3600
# All of ScaLAPACK's test programs at 2 ranks against what they come to in stock MPICH, as
# recorded in stock-2-ranks.txt ("check_full.sh record" in place of the test records it anew).
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/scalapack/scalapack.bash"

recorded=$ROOT/tests/scalapack/stock-2-ranks.txt
if [ -z "$SCALAPACK" ]; then
    skip "ScaLAPACK's programs come to what is recorded" "scalapack-mpi-test is not installed"
    exit
fi
scalapack_data
if [ "${1:-}" = record ]; then
    scalapack_programs | while read -r name; do stock "$name"; done >"$WORK/recorded"
    cp "$WORK/recorded" "$recorded"
    exit
fi
check "every program is recorded" same <(cut -d' ' -f1 "$recorded") <(scalapack_programs)
while read -r name rest; do
    check "$name comes to what it comes to in stock MPICH" \
        is "$name $rest" "$(PROGRAM_SECONDS=600 observed "$name")"
    rm -rf "$name.trace"
done <"$recorded"
