# Shared by the scripts of tests/intranode, sourced after sh.sh.
# shellcheck shell=bash

# run_by NAME ALGORITHM N PROGRAM ARG...: observes it with every collective run by that algorithm.
run_by() {
    local name=$1 algorithm=$2
    shift 2
    rm -rf "$name.trace"
    STAGGER_RULES="*=$algorithm" observe "$name" "$@"
}

# calls_of NAME: writes the calls of its archive to NAME.calls (columns: calls.py)
calls_of() { "$PYTHON" "$ROOT/tests/intranode/calls.py" "$1.trace/traces.otf2" >"$1.calls"; }

# ran_by NAME ALGORITHM FUNCTION: NAME.calls has calls from that function, all run by the algorithm.
ran_by() {
    awk -v algorithm="$2" -v function_name="$3" '
        $6 != function_name { next }
        { calls++ }
        $5 != algorithm && others++ < 10 { print }
        END { if (!calls) print "no call from " function_name; exit others > 0 || !calls }' "$1.calls"
}

# algorithms_of NAME FUNCTION: the algorithms that ran the calls from that function, from NAME.calls
algorithms_of() { awk -v name="$2" '$6 == name { print $5 }' "$1.calls" | sort -u | paste -sd ' '; }

# algorithms NAME FUNCTION [OPERATION]: the same from the report, which statistics have, too; with an
# empty FUNCTION of all functions
algorithms() {
    report_json "$1.trace" "$1.json" && json "$1.json" "' '.join(sorted({a for s in d['sites']
        if '$2' in ('', s['function']) and '${3:-}' in ('', s['op']) for a in s['algorithm'].split('+')}))"
}

# gave NAME: the program ran to its end and found every result right; 77: an MPICH that it does not
# know.
gave() {
    is 0 "$status" && ran_well "$1" && return
    head -n 20 "$1.out"
    return 1
}

# release_after REGEX NAME COMMAND...: runs it in the background, creates the file "released" when a
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

# ---- posts far ahead -------------------------------------------------------------------------------
# end_rules RANKS EACH: a rank posts more calls than there are words for choices, before the last
# rank posts any. All ranks find the choices by call site for the first 4096 and then stop choosing;
# one prints so.
end_rules() {
    run_across beyond thread "$2" 'allreduce@post_allreduce=tree;reduce@post_reduce=tree;*=adaptive;*=bypass' \
        "$1" "$PROGRAMS/posts" beyond
    is 0 "$status" && is "$1" "$(grep -o finished beyond.out | wc -l)" || return
    has_lines beyond.err 'rank [0-9] starts MPI_I(all)?reduce at post_(all)?reduce posts.c:[0-9]+, 3072 calls or more ahead of another rank: from this call on, rules by call site no longer apply to MPI_COMM_WORLD$' 1 || return
    calls_of beyond
    is $((6000 * $1)) "$(wc -l <beyond.calls)" &&
        is "" "$(awk '($2 in ran) && ran[$2] != $5 { print } { ran[$2] = $5 }' beyond.calls | head)" &&
        is "" "$(awk '($5 == "tree") != ($2 < 4096) { print }' beyond.calls | head)"
}

# ---- disagree: two call sites in one instance ------------------------------------------------------
# line_rules ONE OTHER: rules for the two functions, by the lines of their calls
line_of() { # FUNCTION: of its call
    awk -v name="$1" '$0 ~ "^static void " name "\\(" { inside = 1 }
        inside && /MPI_Allreduce/ { print NR; exit }' "$ROOT/tests/mpi/disagree.c"
}
line_rules() {
    echo "allreduce@disagree.c:$(line_of first_site)=$1;" \
        "allreduce@disagree.c:$(line_of second_site)=$2"
}

# check_sites NAME "ONE OTHER": a run of "disagree sites" with such rules
check_sites() {
    local name=$1 pair=$2
    check "two call sites with two rules ($pair) give the right results" all 'is 0 "$status"' \
        "has $name.out finished" "lacks $name.err 'assert|BAD TERM'"
    check "one warning for the pair names both rules ($pair)" all \
        "has_lines $name.err '^stagger: .*a rule selects' 1" \
        "has $name.err 'a rule selects ${pair% *}.* selects ${pair#* }|selects ${pair#* }.* selects ${pair% *}'"
    calls_of "$name"
    check "all ranks run one algorithm in each instance ($pair)" \
        is "" "$(awk '($2 in ran) && ran[$2] != $5 { print } { ran[$2] = $5 }' "$name.calls")"
}

# left_out NAME: prints the parts of tests/mpi/fallbacks.c that this MPICH lacks; had NAME
# FUNCTION...: those that it has
left_out() { grep '^skip - ' "$1.out"; return 0; }
had() {
    local name=$1 function
    shift
    for function in "$@"; do
        grep -q "^skip - ${function//_/ }:" "$name.out" || echo "$function"
    done
}
