#!/bin/bash
# Results of the library's own algorithms in MPI programs, bit for bit: over a pairwise cover
# against the sequential reference, and for samples against MPICH's collectives.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"

for ranks in 3 4 $(in_full && echo 2); do
    . "$ROOT/tests/intranode/results.bash"
done
