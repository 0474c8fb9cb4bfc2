#!/bin/bash
# timeout: 14400
# mpi4py's tests pass under the library wherever they pass without. MPI4PY is the source directory
# of a version that Debian's Python and Cython can build, for example 3.1.6: Debian builds its own
# for another MPI.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/suites/suites.bash"

make_tests() {
    (cd source && "$PYTHON" setup.py build --mpicc="$tree/bin/mpicc") &&
        cat >runtests <<END &&
#!/bin/sh
cd "$tree/source" && exec "$PYTHON" test/runtests.py -q "\$@"
END
        chmod +x runtests &&
        printf 'runtests %s timeLimit=1200\n' 1 2 3 5 >testlist
}

if [ ! -d "${MPI4PY:-}" ]; then
    skip "mpi4py's tests pass under the library" "MPI4PY names no directory with its source"
    exit 0
fi
suite "mpi4py's tests" mpi4py "$MPI4PY" make_tests '^OK' .
