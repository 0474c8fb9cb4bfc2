#!/bin/bash
# stagger's counts of real programs' calls match those of an independent counting library.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intercept/counted.bash"
. "$ROOT/tests/scalapack/scalapack.bash"
make_counter || { skip "calls of real programs are counted" "no compiler for MPICH found"; exit; }

if command -v nwchem.mpich >/dev/null; then
    cp "$ROOT/tests/wait/water.nw" .
    # With shared-memory windows of MPICH 4.0 the program computes wrong energies, even without the
    # library.
    export ARMCI_USE_WIN_ALLOCATE=0
    for ranks in 2 4; do
        counted_alike "NWChem at $ranks ranks" "$ranks" nwchem.mpich water.nw
    done
else
    skip "NWChem's calls are counted" "nwchem-mpich is not installed"
fi
if command -v NPmpich2 >/dev/null; then
    counted_alike "NetPIPE" 2 NPmpich2 -u 131072 -n 20
else
    skip "NetPIPE's calls are counted" "netpipe-mpich2 is not installed"
fi
if caf=$(command -v caf.mpich) && "$caf" -O2 "$ROOT/tests/mpi/coarrays.f90" -o coarrays >caf.out 2>&1; then
    counted_alike "coarrays" 4 ./coarrays
else
    skip "the calls of coarrays are counted" "libcoarrays-mpich-dev is not installed or does not compile"
fi
need_scalapack "ScaLAPACK's calls"
for program in xdlu xdqr xdbrd; do
    counted_alike "ScaLAPACK's $program" 2 "$SCALAPACK/$program"
done
