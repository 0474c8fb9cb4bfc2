#!/bin/bash
# timeout: 600
# Collectives between two machines by RDMA: results bit for bit, late contributions that raise signals,
# releases that are lost, and at the end a machine that dies.
# shellcheck disable=SC2016 # single quotes for what others expand
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/lab/lab.bash"
. "$ROOT/tests/engine/engine.bash"
. "$ROOT/tests/lab/between.bash"
lab_test "collectives between two machines" -n 2 -c 2 -m 1024 -t 560

# ---- results -----------------------------------------------------------------------------------
MODES=thread PROGRAM_SECONDS=400 whole='' ranks=2 each=1
. "$ROOT/tests/span/results.bash"
check "all of that by RDMA" by_rdma results

# ---- late contributions ------------------------------------------------------------------------
# Four nodes on two machines. To root 1, rank 3 of the second forwards what rank 0 of the first brings:
# five times it has left when that comes, and a signal tells it; four times it finds it there.
late='3/1 2/1 0/1 1/1' early='0/1 2/1 3/1 1/1'
STAGGER_RANKS_PER_NODE=1 run_across late signal 2 'reduce=bypass;*=mpich' 4 \
    "$PROGRAMS/span_scenarios" $late $early $late $early $late $early $late $early $late 3/1 2/1 0/1 1/1
calls_of late
signals_of() { awk -v rank="$2" '$1 == rank { taken += $11; ignored += $12 } END { print taken + 0, ignored + 0 }' "$1.calls"; }
head -3 late.calls
"$STAGGER" report late.trace
