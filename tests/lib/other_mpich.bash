# An MPICH that is built otherwise than Debian's, beside it; sourced after sh.sh.
# shellcheck shell=bash

# have_mpich NAME: one of tests/lib/build_mpich, made once; its libraries' directory is $mpich. Fails, with the
# reason in the file `why`, where it cannot be had.
have_mpich() {
    local part missing
    part=$("$ROOT/tests/lib/build_mpich" | sed -n "s/^$1|\([^|]*\)|.*/\1/p")
    missing=$("$ROOT/.ci/deps" --missing "$part") || { echo "not installed: $missing" >why; return 1; }
    mpich=$("$ROOT/tests/lib/build_mpich" "$1" "$BUILD/mpich/$1" 2>why)
}

# use_other_mpich WHAT NAME: from now on Debian's programs and launcher run with it. The script ends, skipped as
# WHAT, where it cannot be had.
use_other_mpich() {
    if ! have_mpich "$2"; then
        skip "$1" "it cannot be had: $(tail -n 1 why)"
        exit 0
    fi
    export LD_LIBRARY_PATH=$mpich
    check "Debian's programs run with $1" has <(ldd "$PROGRAMS/waits") "libmpich.so.12 => $mpich"
}
