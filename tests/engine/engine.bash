# Shared by the scripts of tests/engine, sourced after sh.sh.
# shellcheck shell=bash

# run_by NAME ALGORITHM N PROGRAM ARG...: observes it with every collective by that algorithm.
run_by() {
    local name=$1 algorithm=$2
    shift 2
    rm -rf "$name.trace"
    STAGGER_RULES="*=$algorithm" observe "$name" "$@"
}

# calls_of NAME: the calls of its archive, into NAME.calls (columns: calls.py)
calls_of() { "$PYTHON" "$ROOT/tests/engine/calls.py" "$1.trace/traces.otf2" >"$1.calls"; }

# ran_by NAME ALGORITHM FUNCTION: NAME.calls has calls from that function, all run by the algorithm.
ran_by() {
    awk -v algorithm="$2" -v function_name="$3" '
        $6 != function_name { next }
        { calls++ }
        $5 != algorithm && others++ < 10 { print }
        END { if (!calls) print "no call from " function_name; exit others > 0 || !calls }' "$1.calls"
}

# gave NAME: the program ran to its end and found every result right; 77: not the MPICH it knows.
gave() {
    is 0 "$status" && ran_well "$1" && return
    head -n 20 "$1.out"
    return 1
}

# release_after REGEX NAME COMMAND...: runs it in the background, makes the file "released" when a
# line of NAME.err matches, and waits for its end.
release_after() {
    local regex=$1 name=$2 runner
    shift 2
    rm -rf released "$name.trace"
    : >"$name.err" # not what an earlier run left
    STAGGER_DIR=$WORK/$name.trace "$@" >"$name.out" 2>>"$name.err" &
    runner=$!
    for _ in {1..600}; do
        grep -Eq "$regex" "$name.err" && break
        kill -0 "$runner" 2>/dev/null || break
        sleep 0.1
    done
    touch released
    wait "$runner"
    status=$?
}
