#!/bin/bash
# timeout: 3600
# As results.sh, with more ranks: results of the library's own algorithms in MPI programs, bit for
# bit, over a pairwise cover against the sequential reference, and for samples against MPICH's
# collectives.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"

for ranks in 8 9 16; do
    . "$ROOT/tests/intranode/results.bash"
done
