# Sourced after sh.sh by the tests of the lab: runs them in it.
#
#     lab_test "what the test is about" -n 2 [LAB-OPTION...]
#
# Outside the lab it boots the hosts, runs the script again on the first of them and exits with its status, or
# skips it if no lab can run. Within the lab it returns; $WORK is then in the directory that all hosts share,
# and `on` and `mpi` (tests/lab/bin) reach the other hosts.
# shellcheck shell=bash
# shellcheck disable=SC2034 # variables are for the scripts

lab_test() {
    local about=$1 lab_status
    shift
    [ -z "${LAB_NODE:-}" ] || return 0
    BUILD=$BUILD "$ROOT/tests/lab/lab" "$@" -1 -- \
        "bash $(printf %q "$ROOT/tests/lab/${0##*/}")" 2>"$WORK/lab.err"
    lab_status=$?
    if [ "$lab_status" -eq 77 ]; then
        skip "$about" "$(tail -n 1 "$WORK/lab.err")"
        exit 0
    fi
    cat "$WORK/lab.err" >&2
    exit "$lab_status"
}

# lab_mpi NAME HOSTS RANKS PROGRAM ARG...: runs it under the library, RANKS on each of the first
# HOSTS hosts, as observe does: archive directory NAME.trace, NAME.out, NAME.err, exit status in
# $status.
lab_mpi() {
    local name=$1 hosts=$2 ranks=$3
    shift 3
    STAGGER_DIR=$WORK/$name.trace timeout --kill-after=5 "$PROGRAM_SECONDS" \
        mpi "$hosts" "$ranks" -genv LD_PRELOAD "$PRELOAD" "$@" </dev/null >"$name.out" 2>"$name.err"
    status=$?
    return 0
}
