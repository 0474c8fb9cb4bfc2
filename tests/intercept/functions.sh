#!/bin/bash
# Checks the table of MPI functions against the headers of this MPI and of newer ones, and the
# library's symbols.
. "$(dirname "$0")/../lib/sh.sh"
MPICC=$("$ROOT/.ci/find-mpi" cc) || { skip "the table has each function" "no compiler for MPICH found"; exit; }

"$MPICC" -E -P -x c "$ROOT/tests/intercept/newer.h" >mpi.i
table=$ROOT/shim/profile/functions.table

compared() { "$PYTHON" "$ROOT/tests/intercept/functions.py" mpi.i "$1" "$ROOT/tests/intercept/left_alone"; }
# An older mpi.h may omit a const.
check "functions of newer MPIs are declared as in mpi.h" \
    "$MPICC" -fsyntax-only -Wall -Wextra -Werror -Dconst= -x c "$ROOT/tests/intercept/newer.h"
check "each function of mpi.h and newer MPIs is in the table with its arguments, or left alone with a reason" \
    compared "$table"
sed '/^MPI_Send\[/s/COUNT TYPE/TYPE COUNT/' "$table" >wrong.table
check "... the check finds swapped arguments" all '! compared wrong.table'
sed 's/^MPI_Sendrecv\[/MPI_Sendrecv2[/' "$table" >missing.table
check "... the check finds a function without a row" all '! compared missing.table'

# For intercepted functions whose Fortran 2008 symbol calls PMPI_* directly, the library intercepts
# that symbol, too.
nm -D --defined-only "$LIB" | awk '{ print $3 }' >own
fortran=$(ldconfig -p | sed -n 's/.*libmpichfort\.so.* => //p' | head -n 1)
if [ -n "$fortran" ]; then
    nm -D --defined-only "$fortran" | awk '$3 ~ /^mpi_[a-z_0-9]*_f08_$/ { print $3 }' | sort -u >f08
    sed -n 's/^MPI_//p' own | tr '[:upper:]' '[:lower:]' | sed 's/.*/mpi_&_f08_/' | sort -u >wanted
    check "... each symbol of Fortran 2008 that calls no C symbol is in the table, too" is "" \
        "$(comm -12 f08 wanted | comm -23 - <(sort -u own))"
else
    skip "... each symbol of Fortran 2008 is in the table, too" "MPICH's library for Fortran 2008 is not there"
fi
