# An MPICH built in another configuration than Debian's, installed beside it; sourced after sh.sh.
# shellcheck shell=bash

# have_mpich NAME: builds one of tests/lib/build_mpich once; its library directory is $mpich. Fails,
# with the reason in the file `why`, if it is unavailable.
have_mpich() {
    local part missing
    part=$("$ROOT/tests/lib/build_mpich" | sed -n "s/^$1|\([^|]*\)|.*/\1/p")
    missing=$("$ROOT/.ci/deps" --missing "$part") || { echo "not installed: $missing" >why; return 1; }
    mpich=$("$ROOT/tests/lib/build_mpich" "$1" "$BUILD/mpich/$1" 2>why)
}

# use_other_mpich WHAT NAME: runs Debian's programs and launcher with it from now on. Skips the
# script, as WHAT, if it is unavailable.
use_other_mpich() {
    if ! have_mpich "$2"; then
        skip "$1" "it cannot be had: $(tail -n 1 why)"
        exit 0
    fi
    export LD_LIBRARY_PATH=$mpich
    check "Debian's programs run with $1" has <(ldd "$PROGRAMS/waits") "libmpich.so.12 => $mpich"
}
