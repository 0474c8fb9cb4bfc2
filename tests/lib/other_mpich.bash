# An MPICH that is built otherwise than Debian's, beside it; sourced after sh.sh.
# shellcheck shell=bash

# use_other_mpich WHAT PART BUILD DIRECTORY: from now on Debian's programs and launcher run with the MPICH
# that the program BUILD makes in DIRECTORY once, from the packages of PART; its libraries' directory is
# $mpich. The script ends, skipped as WHAT, where it cannot be had.
use_other_mpich() {
    local missing
    if ! missing=$("$ROOT/.ci/deps" --missing "$2"); then
        skip "$1" "not installed: $missing"
        exit 0
    fi
    if ! mpich=$("$3" "$4" 2>why); then
        skip "$1" "it cannot be had: $(tail -n 1 why)"
        exit 0
    fi
    export LD_LIBRARY_PATH=$mpich
    check "Debian's programs run with $1" has <(ldd "$PROGRAMS/waits") "libmpich.so.12 => $mpich"
}
