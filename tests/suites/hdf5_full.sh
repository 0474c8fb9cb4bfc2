#!/bin/bash
# timeout: 14400
# HDF5's parallel tests, from Debian's source, pass under the library wherever they pass without.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/suites/suites.bash"
TESTS=(t_mpi testphdf5 t_cache t_cache_image t_pread t_pshutdown t_prestart t_init_term t_shapesame t_filters_parallel)

make_tests() {
    source/configure CC=mpicc CFLAGS=-O1 --enable-parallel --disable-fortran --disable-cxx --disable-hl \
        --disable-tools --disable-shared &&
        make -j"${JOBS:-2}" -C src && make -C test libh5test.la && make -j"${JOBS:-2}" -C testpar "${TESTS[@]}" &&
        printf '%s 4\n' "${TESTS[@]}" >testpar/testlist
}

suite "HDF5's parallel tests" hdf5 hdf5 make_tests '' testpar
