# Sourced by every test script: checks, and ways to run programs under the library.
#
#     . "$(dirname "$0")/../lib/sh.sh"
#     check "a sentence about what holds" COMMAND...
#
# Sets ROOT, BUILD (default ROOT/build), LIB, PRELOAD (the value of LD_PRELOAD: LIB), STAGGER, PROGRAMS,
# MPIEXEC, PYTHON and WORK, a fresh directory that is also the working directory and is removed at exit.
# Clears the caller's STAGGER_* variables, LD_PRELOAD and make's options. The exit status is 1 if a check
# failed.
# shellcheck shell=bash
# shellcheck disable=SC2034 # variables are for the scripts
set -u
export LC_ALL=C

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=$(cd "${BUILD:-$ROOT/build}" && pwd) || exit 1
LIB=$BUILD/libstagger.so
PRELOAD=$LIB
PROGRAMS=$BUILD/mpi
MPIEXEC=$("$ROOT/.ci/find-mpi" exec) || MPIEXEC=mpiexec.mpich
PYTHON=/usr/bin/python3
PROGRAM_SECONDS=${PROGRAM_SECONDS:-600} # a program that takes longer hangs, however busy the machine

unset LD_PRELOAD "${!STAGGER_@}"
export STAGGER_SETUP_AFTER=1 # tests that are about it set another
unset MAKEFLAGS MFLAGS MAKELEVEL B CC V DEBUG SAN COVERAGE CFLAGS CPPFLAGS LDFLAGS
STAGGER=$BUILD/stagger
failures=0
WORK=$(mktemp -d "${TMPDIR:-/tmp}/stagger-test-XXXXXX") || exit 1
cd "$WORK" || exit 1

at_exit=()
finish() {
    local status=$? command
    for command in "${at_exit[@]+"${at_exit[@]}"}"; do
        eval "$command"
    done
    cd / && rm -rf "$WORK"
    [ "$status" -eq 0 ] && [ "$failures" -gt 0 ] && status=1
    exit "$status"
}
trap finish EXIT
trap 'exit 1' INT TERM

# ---- results ---------------------------------------------------------------------------------------

# check SENTENCE COMMAND...: shows the command's output if it fails.
check() {
    local sentence=$1 check_result # not "status": the command may look at the script's
    shift
    "$@" >"$WORK/.check" 2>&1
    check_result=$?
    if [ "$check_result" -eq 0 ]; then
        echo "ok - $sentence"
    else
        failures=$((failures + 1))
        echo "not ok - $sentence"
        {
            printf 'exit status %s of:' "$check_result"
            printf ' %q' "$@"
            echo
            head -n 60 "$WORK/.check"
        } | sed 's/^/#   /'
    fi
    return "$check_result"
}

skip() { echo "skip - $1: $2"; }

# ---- commands for checks: silent and 0, or the reason and 1 ------------------------------------------

# is EXPECTED ACTUAL
is() {
    [ "$1" = "$2" ] && return 0
    printf 'expected: %s\ngot:      %s\n' "$1" "$2"
    return 1
}

# within LOW HIGH ACTUAL: compares integers
within() {
    [ -n "$3" ] && [ "$3" -ge "$1" ] && [ "$3" -le "$2" ] && return 0
    printf 'expected: %s to %s\ngot:      %s\n' "$1" "$2" "$3"
    return 1
}

# has FILE REGEX: some line matches
has() {
    # Not -q: FILE may be a pipe, and its writer must reach its end.
    case $(grep -Ec -- "$2" "$1") in '' | 0) ;; *) return 0 ;; esac
    printf 'no line matches %s in %s:\n' "$2" "$1"
    head -n 40 "$1"
    return 1
}

# lacks FILE REGEX
lacks() {
    [ -e "$1" ] || { echo "no file $1"; return 1; }
    grep -Eq -- "$2" "$1" || return 0
    printf 'these lines of %s match %s:\n' "$1" "$2"
    grep -E -- "$2" "$1"
    return 1
}

# has_lines FILE REGEX NUMBER
has_lines() {
    local number
    number=$(grep -Ec -- "$2" "$1")
    [ "$number" = "$3" ] && return 0
    printf '%s lines, not %s, match %s in %s:\n' "$number" "$3" "$2" "$1"
    head -n 40 "$1"
    return 1
}

empty() {
    [ -e "$1" ] || { echo "no file $1"; return 1; }
    [ -s "$1" ] || return 0
    cat "$1"
    return 1
}

absent() {
    [ ! -e "$1" ] && return 0
    echo "$1 exists"
    return 1
}

# gone PID: the process ends within a minute
gone() {
    local look
    for ((look = 0; look < 600; look++)); do
        [ -d "/proc/$1" ] && ! grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null || return 0
        sleep 0.1
    done
    return 1
}

# same FILE FILE
same() { diff -u "$1" "$2"; }

# all COMMAND-LINE...: every command, given as a string, succeeds
all() {
    local command
    for command in "$@"; do
        eval "$command" || return 1
    done
}

# one_of_five COMMAND...: succeeds at one of five tries, for a claim that a busy machine may hide
one_of_five() {
    local try
    for try in 1 2 3 4 5; do
        "$@" && return
    done
    return 1
}

# ---- running programs --------------------------------------------------------------------------------

# plain N PROGRAM ARG...: runs it without the library. mpiexec's own output is on stdout and stderr,
# too.
plain() {
    local ranks=$1
    shift
    timeout --kill-after=5 "$PROGRAM_SECONDS" "$MPIEXEC" -n "$ranks" "$@" </dev/null
}

# mpirun_stagger N PROGRAM ARG...: runs it under the library, with STAGGER_* from the environment.
mpirun_stagger() {
    local ranks=$1
    shift
    timeout --kill-after=5 "$PROGRAM_SECONDS" "$MPIEXEC" -genv LD_PRELOAD "$PRELOAD" -n "$ranks" \
        "$@" </dev/null
}

# observe NAME N PROGRAM ARG...: runs it under the library with archive directory NAME.trace; leaves
# NAME.out, NAME.err and the exit status in $status. Always returns 0.
observe() {
    local name=$1
    shift
    STAGGER_DIR=$WORK/$name.trace mpirun_stagger "$@" >"$name.out" 2>"$name.err"
    status=$?
    return 0
}

# until_printed FILE REGEX COMMAND...: runs the command, again up to ten times until a line of FILE
# matches: a launcher that ends a job may lose lines that ranks printed just before. All runs end
# well or all fail, else $status says that they do not.
until_printed() {
    local run fails
    for run in {1..10}; do
        "${@:3}"
        [ "${fails:=$((status != 0))}" = $((status != 0)) ] || { status="not 0 in some runs only" && return 1; }
        grep -Eq -- "$2" "$1" && return
    done
}

# fails_alone SENTENCE N PROGRAM ARG...: true if the last observed program failed and also fails
# without the library; then skips the sentence.
fails_alone() {
    local sentence=$1 alone
    shift
    [ "$status" -ne 0 ] || return
    plain "$@" >"$WORK/.alone" 2>&1
    alone=$?
    [ "$alone" -ne 0 ] || return
    skip "$sentence" "without the library the program ends with status $alone, too"
}

# patient N PROGRAM ARG...: as plain, but waiting ranks yield (tests/mpi/patient_library.c), for
# results: more ranks than processors take a tenth of the time.
patient() { plain "$1" env LD_PRELOAD="$PROGRAMS/libpatient.so" "${@:2}"; }

# compare NAME N PROGRAM ARG...: runs the same without the library, patiently: NAME.plain.out, .err,
# $plain_status
compare() {
    local name=$1
    shift
    patient "$@" >"$name.plain.out" 2>"$name.plain.err"
    plain_status=$?
    return 0
}

# A busy machine may add that slices of bcs are short for it, or that a signal was not handled.
BUSY='^stagger: (bcs.slice=|signal [0-9]+ was not handled within a second)'

# ran_well NAME: the observed program exited with status 0 and the library printed no complaint:
# only the lines at the start and the end, notes on rules (that no call matched one), and BUSY.
ran_well() {
    is 0 "$status" && is 2 "$(grep '^stagger: ' "$1.err" | grep -vcE "$BUSY|^stagger: (ru|bc)")" &&
        lacks "$1.err" 'assert|BAD TERM' && return
    cat "$1.err"
    return 1
}

# says_nothing FILE: nothing but BUSY is in it.
says_nothing() { [ -e "$1" ] && is "" "$(grep -vE "$BUSY" "$1")"; }

# ---- archives ----------------------------------------------------------------------------------------

# Prints the counts that a program printed of itself, sorted, one line per rank.
own_counts() { grep -h '^{"rank":' "$1" | LC_ALL=C sort; }

# json FILE EXPRESSION: prints the expression, with the file's JSON as d.
json() {
    "$PYTHON" -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$1" "$2"
}

# report_json DIR FILE
report_json() { "$STAGGER" report --json "$1" >"$2"; }

# archive_agrees DIR PROGRAM-OUTPUT: the archive is whole and sound, and has the program's own
# counts.
archive_agrees() {
    own_counts "$2" >"$WORK/.own" &&
        [ -s "$WORK/.own" ] &&
        "$PYTHON" "$ROOT/tests/lib/check_archive.py" --counts "$1/traces.otf2" >"$WORK/.archive" &&
        LC_ALL=C sort -o "$WORK/.archive" "$WORK/.archive" &&
        same "$WORK/.own" "$WORK/.archive"
}

# archive_sound DIR: otf2-print reads it, and the invariants hold.
archive_sound() {
    otf2-print --silent "$1/traces.otf2" >"$WORK/.print" 2>&1 || { cat "$WORK/.print"; return 1; }
    "$PYTHON" "$ROOT/tests/lib/check_archive.py" "$1/traces.otf2"
}

# modes WORD...: prints the first word, or all of them in the full check; the others add little
# coverage
modes() { if in_full; then echo "$*"; else echo "$1"; fi; }

# in_full: this is the full check, or a script by itself
in_full() { [ "${SG_TEST_ALL:-1}" = 1 ]; }

# in_turn WORD...: leaves in $turn all words in the full check, otherwise one, at each call the next
turns=0
in_turn() {
    turn=("$@")
    in_full || turn=("${@:turns++ % $# + 1:1}")
}
