#!/bin/bash
# timeout: 400
# A program between two machines passes through the library and gives the same results as without
# it.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/lab/lab.bash"
lab_test "a program on two machines" -n 2 -t 360

lab_mpi counts 2 1 "$PROGRAMS/counts_c"
check "a program between machines runs well under the library" ran_well counts
check "one archive has the calls of both machines" archive_agrees counts.trace counts.out
timeout --kill-after=5 "$PROGRAM_SECONDS" mpi 2 1 "$PROGRAMS/counts_c" >plain.out 2>&1 </dev/null
check "the program counts the same without the library" is "$(own_counts plain.out)" "$(own_counts counts.out)"
