#!/bin/bash
# timeout: 14400
# PnetCDF's tests, from Debian's source, pass under the library wherever they pass without.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/suites/suites.bash"
FOLDERS=(test/testcases test/nonblocking test/header test/cdf_format)

make_tests() {
    local folder program
    (cd source && autoreconf -i) &&
        source/configure MPICC=mpicc CFLAGS=-O1 --disable-fortran --disable-cxx --disable-shared --enable-thread-safe &&
        make -j"${JOBS:-2}" -C src && make -C test/common tests || return 1
    for folder in "${FOLDERS[@]}"; do
        make -j"${JOBS:-2}" -C "$folder" tests &&
            for program in $(make -s -C "$folder" -f Makefile -f - programs <<<'programs: ; @echo $(TESTPROGRAMS)'); do
                echo "$program 4 arg=$program.nc"
            done >"$folder/testlist" || return 1
    done
}

suite "PnetCDF's tests" pnetcdf pnetcdf make_tests '' "${FOLDERS[@]}"
