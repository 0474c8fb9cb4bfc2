#!/bin/bash
# timeout: 3600
# With more ranks: results of the library's own algorithms in MPI programs, bit for bit: over a pairwise cover against
# the sequential reference, and by samples against MPICH's own collectives.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"

for ranks in 8 9 16; do
    . "$ROOT/tests/intranode/results.bash"
done
