#!/bin/bash
# timeout: 7000
# Results between two, three and four machines with one and two ranks each, in each progress mode, and
# ScaLAPACK's test programs across two.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/lab/lab.bash"
. "$ROOT/tests/engine/engine.bash"
. "$ROOT/tests/lab/between.bash"
lab_test "results between up to four machines" -n 4 -c 2 -m 1024 -t 6900

PROGRAM_SECONDS=1500 whole=''
for hosts in 2 3 4; do
    for each in 1 2; do
        ranks=$((hosts * each))
        . "$ROOT/tests/span/results.bash"
    done
done
