#!/bin/bash
# The library's own reductions respect the floating-point modes that the application sets.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"

for algorithm in srm handoff; do
    for mode in up down zero flush; do
        for ranks in 2 3; do
            run_by rounding "$algorithm" "$ranks" "$PROGRAMS/rounding" "$mode"
            sentence="a program that sets mode '$mode' gets MPICH's bits ($algorithm, $ranks ranks)"
            if [ "$status" -eq 77 ]; then
                skip "$sentence" "not MPICH 4.0.2"
            else
                check "$sentence" gave rounding
            fi
        done
    done
done
