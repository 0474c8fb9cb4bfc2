#!/bin/bash
# The checker of lock-free code with larger bounds: more slots, chunks and ranks in the ring, and
# more deviations from the first choice in the engine's scenarios.
# timeout: 3000
. "$(dirname "$0")/../lib/sh.sh"

explore() {
    WEAK_MORE=1 "$BUILD/tests/weak/$1" >"$1.out" 2>&1 && return
    tail -n 30 "$1.out"
    return 1
}

for program in test_ring test_lanes test_bell test_rings; do
    [ -x "$BUILD/tests/weak/$program" ] || { echo "skip - $program: not in this build"; continue; }
    check "$program holds with larger bounds" explore "$program"
done
