#!/bin/bash
# Compares the reduction kernels with MPI_Reduce_local, and the association of results with MPICH's
# collectives: stagger's algorithms compute the same as MPICH.
. "$(dirname "$0")/../lib/sh.sh"

# compares SENTENCE RANKS PROGRAM: the program exits with 0, or with 77 under another MPICH.
compares() {
    patient "$2" "$PROGRAMS/$3" >"$3.out" 2>&1
    status=$?
    sed 's/^/# /' "$3.out"
    if [ "$status" -eq 77 ]; then
        skip "$1" "not MPICH 4.0.2"
    else
        check "$1" is 0 "$status"
    fi
}

compares "every pair of type and operation gives MPI_Reduce_local's bits, or is refused as there" \
    1 kernels
[ "$status" -eq 77 ] ||
    check "380 pairs are compared" has kernels.out '^380 pairs of .* 0 failures$'

for ranks in 3 4 $(in_full && echo 2 5 6); do
    compares "MPICH associates as documented at $ranks ranks" "$ranks" association
done
