#!/bin/bash
# Compares the association of results with MPICH's reductions, with more ranks: up to those of a
# large node, where a reduce has fewer elements than MPICH has ranks to split it over.
. "$(dirname "$0")/../lib/sh.sh"

for ranks in 9 17 24 131; do
    sentence="MPICH associates reduces as documented at $ranks ranks"
    patient "$ranks" "$PROGRAMS/association" few >association.out 2>&1
    status=$?
    sed 's/^/# /' association.out
    if [ "$status" -eq 77 ]; then
        skip "$sentence" "not MPICH 4.0.2"
    else
        check "$sentence" is 0 "$status"
    fi
done
