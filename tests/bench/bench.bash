# Sourced by the tests of stagger-bench's commands, after lib/sh.sh.
# shellcheck shell=bash disable=SC2034,SC2154
BENCH=$BUILD/stagger-bench
export STAGGER_QUIET=1 STAGGER_TRACE=off
other= # a library to preload in place of ours
ROW_END='( +\*)?$' # of a table's row: marked, if the processors changed their speed meanwhile

# nodes NAME N OPTION...: $command with N ranks, each a virtual node; NAME.out, NAME.err and $status
nodes() { STAGGER_RANKS_PER_NODE=1 observe "$1" "$2" "$BENCH" "$command" "${@:3}"; }

# plainly NAME N ARGUMENT...: without the library, or with another one; more settings come from the
# environment
plainly() {
    timeout --kill-after=5 "$PROGRAM_SECONDS" "$MPIEXEC" ${other:+-genv LD_PRELOAD "$other"} -n "$2" \
        "$BENCH" "${@:3}" </dev/null >"$1.out" 2>"$1.err"
    status=$?
}

# refuses TEXT OPTION...: exit status 2, and exactly one rank prints the message
refuses() {
    local text=$1
    shift
    plainly usage 2 "$command" "$@"
    check "bad usage: $command $*" all 'is 2 "$status"' 'has_lines usage.err "$text" 1' \
        'lacks usage.out "ranks;"'
}

# finds NAME TEXT OPTION...: with the function NAME sabotaged the run fails and prints TEXT
finds() {
    local name=$1 text=$2
    shift 2
    WRONG=$name plainly wrong 2 "$command" --json --iterations 1 "$@"
    check "a wrong $name is found ($command $*)" all 'is 1 "$status"' \
        'has_lines wrong.err "^stagger: .* wrong result" 1' \
        'has wrong.err "^stagger: bench: $text gave a wrong result on"' \
        'lacks wrong.out "\"version\""'
}

build_wrong_library() {
    other=$WORK/libwrong.so
    check "a library that spoils collectives is built" \
        "$("$ROOT/.ci/find-mpi" cc)" -O2 -fPIC -shared "$ROOT/tests/bench/wrong.c" -o "$other" -ldl
}

# ran DIR: the algorithms that ran on the benchmark's own communicators, from the trace:
# "reduce:tree:bypass+mpich". MPICH runs the first call on a communicator.
ran() {
    report_json "$1" report.json && json report.json '" ".join(sorted(set(
        "%s:%s:%s" % (s["op"], s["comm"].split("/")[1], "+".join(sorted(s["algorithm"].split("+"))))
        for s in d["sites"] if s["op"] in ("reduce", "allreduce") and "/" in s["comm"])))'
}
