#!/bin/bash
# timeout: 14400
# MPICH's own tests, from Debian's source, pass under the library wherever they pass without.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/suites/suites.bash"
FOLDERS=(coll pt2pt comm rma attr errhan init threads topo datatype io part group info spawn errors mpi_t)

make_tests() {
    local folder
    source/test/mpi/configure --with-mpi="$tree" --disable-fortran --disable-cxx --disable-perftest \
        --enable-threads=multiple CFLAGS=-O0 &&
        make -C util && make -C dtpools &&
        for folder in "${FOLDERS[@]}"; do make -k -j"${JOBS:-2}" -C "$folder" || true; done
}

suite "MPICH's own tests" mpich mpich make_tests 'No [Ee]rrors' "${FOLDERS[@]}"
