#!/bin/bash
# The library's own reductions respect the floating-point modes that the application sets.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"

for algorithm in srm handoff; do
    in_turn 2 3
    for ranks in "${turn[@]}"; do
        run_by rounding "$algorithm" "$ranks" "$PROGRAMS/rounding" up down zero flush
        sentence="a program that sets modes gets MPICH's bits in each ($algorithm, $ranks ranks)"
        if [ "$status" -eq 77 ]; then
            skip "$sentence" "not MPICH 4.0.2"
        else
            check "$sentence" gave rounding
        fi
    done
done
