# Sourced by the tests of stagger-bench's commands, after lib/sh.sh.
# shellcheck shell=bash disable=SC2034,SC2154
BENCH=$BUILD/stagger-bench
export STAGGER_QUIET=1 STAGGER_TRACE=off
other= # a library to preload in place of ours
ROW_END='( +\*)?$' # of a table's row: marked, if the processors changed their speed meanwhile

# nodes NAME N OPTION...: $command with N ranks, each a virtual node; NAME.out, NAME.err and $status
nodes() { STAGGER_RANKS_PER_NODE=1 observe "$1" "$2" "$BENCH" "$command" "${@:3}"; }

# plainly NAME N ARGUMENT...: under no library, or the other one, of which more is in the environment
plainly() {
    timeout --kill-after=5 "$PROGRAM_SECONDS" "$MPIEXEC" ${other:+-genv LD_PRELOAD "$other"} -n "$2" \
        "$BENCH" "${@:3}" </dev/null >"$1.out" 2>"$1.err"
    status=$?
}

# refuses TEXT OPTION...: status 2, and one of the ranks speaks
refuses() {
    local text=$1
    shift
    plainly usage 2 "$command" "$@"
    check "bad usage: $command $*" all 'is 2 "$status"' 'has_lines usage.err "$text" 1' \
        'lacks usage.out "ranks;"'
}

# finds NAME TEXT OPTION...: with the function NAME spoiled the run fails and says TEXT
finds() {
    local name=$1 text=$2
    shift 2
    WRONG=$name plainly wrong 2 "$command" --json --iterations 1 "$@"
    check "a wrong $name is found ($command $*)" all 'is 1 "$status"' \
        'has_lines wrong.err "^stagger: .* wrong result" 1' \
        'has wrong.err "^stagger: bench: $text gives a wrong result on"' \
        'lacks wrong.out "\"version\""'
}

build_wrong_library() {
    other=$WORK/libwrong.so
    check "a library that spoils collectives is built" \
        "$("$ROOT/.ci/find-mpi" cc)" -O2 -fPIC -shared "$ROOT/tests/bench/wrong.c" -o "$other" -ldl
}

# ran DIR: what ran on the benchmark's own communicators, by the trace: "reduce:tree:bypass+mpich".
# The first call on a communicator is MPICH's.
ran() {
    report_json "$1" report.json && json report.json '" ".join(sorted(set(
        "%s:%s:%s" % (s["op"], s["comm"].split("/")[1], "+".join(sorted(s["algorithm"].split("+"))))
        for s in d["sites"] if s["op"] in ("reduce", "allreduce") and "/" in s["comm"])))'
}
