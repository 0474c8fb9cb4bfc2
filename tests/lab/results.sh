#!/bin/bash
# timeout: 500
# Collectives between two machines, by RDMA: results bit for bit over the cover that tests/span has for
# virtual nodes, one rank on each machine.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/lab/lab.bash"
. "$ROOT/tests/engine/engine.bash"
. "$ROOT/tests/lab/between.bash"
lab_test "results between two machines" -n 2 -m 1024 -t 460

MODES=thread PROGRAM_SECONDS=400 whole='' ranks=2 each=1
. "$ROOT/tests/span/results.bash"
check "the messages go by RDMA, not by MPI" has results.err '^$|stagger' # nothing passes through
check "no rank says that it passes through" lacks results.err 'pass through'
