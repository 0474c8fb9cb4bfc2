#!/bin/bash
# stagger-bench account: the parts of a call's critical path, with and without records, and the
# measured total. Prints how closely their sum matches the total; asserts no time.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/bench/bench.bash"
command=account
PARTS='wrapper communicator site choice plan slot publish transfer see fold leave record statistics clock arguments thread bytes requests causes mpi sum whole'

# account NAME N OPTION...: under the library with marks
account() {
    timeout --kill-after=5 "$PROGRAM_SECONDS" "$MPIEXEC" -genv LD_PRELOAD "$BUILD/libstagger-account.so" -n "$2" \
        "$BENCH" account "${@:3}" </dev/null >"$1.out" 2>"$1.err"
    status=$?
}

# Prints EXPRESSION for each operation, with its parts as the table p, by name.
of_each() {
    json "$1.out" '" ".join(str('"$2"') for p in ({r["part"]: r[op + "_ns"] for r in d["results"]}
        for op in ("barrier", "reduce", "allreduce")))'
}

succeeds() {
    STAGGER_TRACE=$1 STAGGER_TRACE_BYTES=512m STAGGER_DIR=$WORK/$1.trace account "$1" 2 --json --time 0.3
    is 0 "$status" || { cat "$1.err"; return 1; }
}

if [ "$(nproc)" -gt 1 ]; then
    check "an account has the whole time and the sum of its parts" all 'succeeds off' \
        'is "True True True" "$(of_each off "p[\"whole\"] > 0 and p[\"sum\"] > 0")"'
    check "... all parts are there and add up" all 'is "$PARTS" "$(json off.out "\" \".join(r[\"part\"] for r in d[\"results\"])")"' \
        'is "True True True" "$(of_each off "abs(sum(p.values()) - p[\"whole\"] - 2 * p[\"sum\"]) < 1e-3 * p[\"whole\"]")"'
    check "without records, records take no time" is "0.0 0.0 0.0" \
        "$(of_each off 'float(p["record"] + p["statistics"] + p["clock"])')"
    check "the cost of marks is subtracted, by the cost of one mark" is True \
        "$(json off.out 'd["account"]["mark_ns"] > 0 and d["account"]["line_ns"] > 0')"
    check "the cost of marks is subtracted with records, too" succeeds otf2
    check "... records take time" is "True True True" "$(of_each otf2 'p["clock"] + p["record"] + p["statistics"] > 0')"
    check "each call of a message has the time of MPI's own function, and that of its record" is "True True" \
        "$(json otf2.out '" ".join(str(all(p[op + "_ns"] != 0 for op in ("send", "recv", "isend", "irecv", "waitall")))
            for p in ({op: r[op] for op in r} for r in d["results"]) if p["part"] in ("mpi", "record"))')"
    STAGGER_RULES='*=srm(form=climb)' account climb 2 --time 0.01
    check "calls that run by another algorithm have no account" all 'is 1 "$status"' \
        'has_lines climb.err "^stagger: .* account measures only calls that srm runs in its form flat" 1'
else
    skip "an account has the whole time and the sum of its parts" "there is one processor"
fi
account three 3 --time 0.01
check "more than two ranks have no account" all 'is 2 "$status"' 'has_lines three.err "account needs two ranks on one node" 1'
plainly bare 2 account --time 0.01
check "an account needs the library that leaves marks" all 'is 2 "$status"' \
    'has_lines bare.err "account needs libstagger-account.so preloaded" 1'
refuses 'is not an option of account' --ops barrier
