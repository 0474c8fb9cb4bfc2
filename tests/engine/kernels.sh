#!/bin/bash
# The reduction kernels against MPI_Reduce_local, and the association of results against MPICH's own
# collectives: what stagger's algorithms compute is what MPICH computes.
. "$(dirname "$0")/../lib/sh.sh"

plain 1 "$PROGRAMS/kernels" >kernels.out 2>&1
status=$?
sed 's/^/# /' kernels.out
check "every pair of type and operation gives MPI_Reduce_local's bits, or is refused as there" \
    is 0 "$status"
check "380 pairs are compared" has kernels.out '^380 pairs of .* 0 failures$'

for ranks in 2 3 4 5 6; do
    plain "$ranks" "$PROGRAMS/association" >association.out 2>&1
    status=$?
    sed 's/^/# /' association.out
    check "MPICH associates as documented at $ranks ranks" is 0 "$status"
done
