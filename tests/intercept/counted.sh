#!/bin/bash
# stagger's counts of MPI calls match those of an independent counting library.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intercept/counted.bash"
make_counter || { skip "calls are counted as by another library" "no compiler for MPICH found"; exit; }

counted_alike "the program that makes every call" 3 "$PROGRAMS/all_calls" "$WORK/file"
counted_alike "... with threads" 3 "$PROGRAMS/all_calls" "$WORK/file" threads
STAGGER_WAIT_HOOK=none STAGGER_WAIT=yield counted_alike "... without a hook" 3 "$PROGRAMS/all_calls" "$WORK/file"
counted_alike "a program in C" 2 "$PROGRAMS/counts_c"
counted_alike "a program in Fortran with mpif.h" 2 "$PROGRAMS/counts_mpif"
counted_alike "a program in Fortran with use mpi" 2 "$PROGRAMS/counts_usempi"
counted_alike "a program in Fortran with use mpi_f08" 2 "$PROGRAMS/counts_f08"
counted_alike "a program with waits of all kinds" 2 "$PROGRAMS/waits" 20
