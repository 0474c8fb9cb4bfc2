# Debian's ScaLAPACK test programs (scalapack-mpi-test), sourced after sh.sh.
# shellcheck shell=bash

SCALAPACK=
for directory in /usr/lib/*/scalapack/mpich-tests; do
    [ -x "$directory/xdlu" ] && SCALAPACK=$directory
done

# need_scalapack SENTENCE: if the programs are not installed, skips the sentence and ends the
# script. They read their cases from the working directory.
need_scalapack() {
    [ -n "$SCALAPACK" ] || { skip "$1" "scalapack-mpi-test is not installed"; exit; }
    cp /usr/share/scalapack/*.dat /usr/share/scalapack/BLACS/*.dat .
}

scalapack_programs() {
    find "$SCALAPACK" -maxdepth 1 -type f -name 'x*' -perm -u+x -printf '%f\n' | LC_ALL=C sort
}

# outcome NAME STATUS OUTPUT: a run's outcome, without its timings, in one line. For a failed run
# only the fact: the amount of its output depends on when the other rank was killed.
outcome() {
    local finished
    if [ "$2" -ne 0 ]; then
        echo "$1 fails"
        return
    fi
    finished=$(sed -n \
        -e 's/.*Finished *\([0-9]*\) tests.*/\1 tests,/p' \
        -e 's/^ *\([0-9]*\) tests completed and passed.*/\1 passed,/p' \
        -e 's/^ *\([0-9]*\) tests completed and failed.*/\1 failed,/p' \
        -e 's/^ *\([0-9]*\) tests completed without checking.*/\1 unchecked,/p' \
        -e 's/^ *\([0-9]*\) tests skipped.*/\1 skipped,/p' "$3" | tr '\n' ' ')
    echo "$1 ${finished:-no summary, } $(grep -c PASSED "$3") lines PASSED," \
        "$(grep -c FAILED "$3") lines FAILED" | tr -s ' '
}

# Ten programs that pass every case they try, and use all three collectives.
SCALAPACK_TEN='xdlu xdbrd xslu xzlu xdinv xdllt xdhrd xdtrd xdqr xdls'
# On a 2 x 2 grid xdllt and xslu hang in stock MPICH too, in most runs: the ranks of a column
# diverge in pdlacon and pslacon, some into pdasum and some into pdamax. (xslu with only one case,
# 13 x 13 in blocks of 2, hangs within seconds.)
SCALAPACK_TEN_OF_MORE=${SCALAPACK_TEN/xdllt/xsbrd} # than 2 ranks
SCALAPACK_TEN_OF_MORE=${SCALAPACK_TEN_OF_MORE/xslu/xsqr}

# stock NAME [RANKS], observed NAME [RANKS]: runs it, on 2 ranks by default, and prints the outcome;
# output in NAME.out and NAME.err
stock() {
    plain "${2:-2}" "$SCALAPACK/$1" >"$1.out" 2>"$1.err"
    outcome "$1" $? "$1.out"
}
observed() {
    rm -rf "$1.trace"
    observe "$1" "${2:-2}" "$SCALAPACK/$1"
    # shellcheck disable=SC2154 # observe sets it
    outcome "$1" "$status" "$1.out"
}

# passes_too NAME WITHOUT HOW: under the library, with settings from the environment that HOW
# describes, the program has the outcome WITHOUT, that of the run without the library. The short
# check looks at the archives of one program.
passes_too() {
    check "$1 passes the same tests as without the library ($3)" is "$2" "$(observed "$1")"
    [ "$1" != xdlu ] && ! in_full || check "the archive of $1 is sound ($3)" archive_sound "$1.trace"
    rm -rf "$1.trace"
}
